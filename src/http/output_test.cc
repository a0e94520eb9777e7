#include "http/output.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark::http {
namespace {

// Sends at most so many bytes at a time, from at most two pieces, as a socket may.
std::string SendAll(Output* output, size_t at_once) {
  std::string sent;
  while (!output->empty()) {
    std::array<std::string_view, 2> pieces;
    const size_t count = output->Gather(pieces);
    std::string all;
    for (size_t i = 0; i < count; ++i) {
      EXPECT_FALSE(pieces.at(i).empty());
      all += pieces.at(i);
    }
    all.resize(std::min(all.size(), at_once));
    sent += all;
    output->Sent(all.size());
  }
  return sent;
}

TEST(OutputTest, GivesEveryByteOnceAndInOrder) {
  for (size_t at_once = 1; at_once < 20; ++at_once) {
    Output output;
    output.bytes() = "head ";
    output.Add({ShareText("one "), ShareText(""), ShareText("two"), ShareText(" three")});
    EXPECT_EQ(SendAll(&output, at_once), "head one two three") << at_once;
    output.clear();
    output.Add({ShareText("again")});
    EXPECT_EQ(SendAll(&output, at_once), "again") << at_once;
  }
}

// The memory of a page is released while it is sent, not at its end.
TEST(OutputTest, ReleasesAPartOnceItIsSent) {
  const SharedText first = ShareText("first");
  const SharedText second = ShareText("second");
  Output output;
  output.Add({first, second});
  output.Sent(4);
  EXPECT_EQ(first.use_count(), 2);
  output.Sent(1);
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(second.use_count(), 2);
  output.Sent(6);
  EXPECT_EQ(second.use_count(), 1);
  EXPECT_TRUE(output.empty());
}

}  // namespace
}  // namespace tidemark::http
