// What an app's routes need when no server runs them: the tables of a data folder, a clock, random
// numbers, and a log on standard error, like a server's.
//
//   ServiceFolder folder(LogOptionsOf(settings), std::move(tables));
//   api::ServiceContext context = folder.context();
//
// May be used from any thread.
#pragma once

#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/settings.h"
#include "servers/api/service_context.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::programs {

inline LogOptions LogOptionsOf(const Settings& settings) {
  return {.level = LogLevelFrom(settings.Text("log.level")),
          .format = LogFormatFrom(settings.Text("log.format"))};
}

class ServiceFolder {
 public:
  ServiceFolder(const LogOptions& log, std::unique_ptr<embedded::EmbeddedTables> tables)
      : logger_(log, clock_), tables_(std::move(tables)) {}
  ServiceFolder(const ServiceFolder&) = delete;
  ServiceFolder& operator=(const ServiceFolder&) = delete;

  // Tables, clock, random and logger; what else a service needs is added to it. Lives as long as
  // this.
  api::ServiceContext context() {
    return {.tables = tables_.get(), .clock = &clock_, .random = &random_, .logger = &logger_};
  }
  const Clock& clock() const { return clock_; }
  Random& random() { return random_; }

 private:
  SystemClock clock_;
  SystemRandom random_;
  Logger logger_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
};

}  // namespace tidemark::programs
