#include "servers/api/background.h"

#include <future>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"

namespace tidemark::api {
namespace {

// The process must survive, and the work must go on.
// Review: F14
TEST(BackgroundTest, LogsAnExceptionAndCallsAgain) {
  const ManualClock clock;
  std::ostringstream log;
  const Logger logger({}, clock, &log);
  std::promise<void> called_again;
  {
    int calls = 0;
    const Background background(std::chrono::milliseconds(0), logger, [&] {
      if (++calls == 1) throw std::runtime_error("no memory for it");
      if (calls == 2) called_again.set_value();
    });
    called_again.get_future().wait();
  }
  EXPECT_NE(log.str().find("no memory for it"), std::string::npos) << log.str();
}

}  // namespace
}  // namespace tidemark::api
