// Structured log lines: a fixed message, and fields with the variable values.
//
//   logger.Log(LogLevel::kInfo, "table created", {{"table", name}, {"indexes", count}});
//
//   2026-11-15T07:00:00.000Z info table created table=orders indexes=2
//   {"time":"2026-11-15T07:00:00.000Z","level":"info","message":"table created",...}
//
// One call writes one line: control characters in the message and the fields are escaped, and
// invalid UTF-8 is replaced. Any thread may log, and lines are never mixed. Logging never fails and
// never throws. A Secret cannot be a field.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string_view>
#include <variant>

#include "base/clock.h"

namespace spdlog {
class logger;
}

namespace tidemark {

// kAudit is for lines that must exist whatever log.level says: who changed what. No setting is
// above it.
enum class LogLevel { kDebug, kInfo, kWarning, kError, kAudit };
enum class LogFormat { kText, kJson };

// From the values of the settings log.level and log.format.
LogLevel LogLevelFrom(std::string_view setting);
LogFormat LogFormatFrom(std::string_view setting);

// A name and a value. It refers to its text, so it must not be kept after the call.
class LogField {
 public:
  using Value = std::variant<std::string_view, int64_t, double, bool>;

  LogField(std::string_view name, std::string_view text) : name_(name), value_(text) {}
  LogField(std::string_view name, const char* text) : name_(name), value_(std::string_view(text)) {}
  LogField(std::string_view name, bool flag) : name_(name), value_(flag) {}
  LogField(std::string_view name, double number) : name_(name), value_(number) {}
  LogField(std::string_view name, std::integral auto number)
      : name_(name), value_(static_cast<int64_t>(number)) {}

  std::string_view name() const { return name_; }
  const Value& value() const { return value_; }

 private:
  std::string_view name_;
  Value value_;
};

struct LogOptions {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
};

class Logger {
 public:
  // Writes to standard error. The clock outlives the logger.
  Logger(LogOptions options, const Clock& clock);
  // Writes to a stream, which outlives the logger. Tests use it to read the lines.
  Logger(LogOptions options, const Clock& clock, std::ostream* out);
  ~Logger();

  // Whether lines of this level are written.
  bool Writes(LogLevel level) const { return level >= options_.level; }
  // Writes one line, or nothing when the level is below the logger's.
  void Log(LogLevel level, std::string_view message,
           std::initializer_list<LogField> fields = {}) const;

 private:
  const LogOptions options_;
  const Clock& clock_;
  const std::unique_ptr<spdlog::logger> out_;
};

}  // namespace tidemark
