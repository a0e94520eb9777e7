#include "base/log.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/json.h"
#include "base/utf8.h"

namespace tidemark {

namespace {

std::string_view NameOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
    case LogLevel::kAudit:
      return "audit";
  }
  return "error";
}

std::string TimeText(std::chrono::milliseconds since_epoch) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds.count()),
                     (since_epoch - seconds).count());
}

// A line end in a value would begin a line that looks like one of ours.
bool IsControl(char byte) { return static_cast<uint8_t>(byte) < 0x20; }

// True when the text needs no quotes in a text line, because it cannot be read as several words.
bool IsBareWord(std::string_view text) {
  return !text.empty() && std::ranges::none_of(text, [](char byte) {
    return IsControl(byte) || byte == ' ' || byte == '"' || byte == '=' || byte == '\\';
  });
}

void WriteValue(const LogField::Value& value, JsonWriter* writer) {
  struct Visitor {
    JsonWriter* writer;
    void operator()(std::string_view text) const { writer->String(Shown(text)); }
    void operator()(int64_t number) const { writer->Int(number); }
    // Three digits after the point are enough for a log.
    void operator()(double number) const { writer->Double(std::round(number * 1000) / 1000); }
    void operator()(bool flag) const { writer->Bool(flag); }
  };
  std::visit(Visitor{writer}, value);
}

struct Line {
  std::string time;
  LogLevel level;
  std::string_view message;
  std::initializer_list<LogField> fields;
};

std::string JsonLine(const Line& line) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("time");
  writer.String(line.time);
  writer.Key("level");
  writer.String(NameOf(line.level));
  writer.Key("message");
  writer.String(Shown(line.message));
  for (const LogField& field : line.fields) {
    writer.Key(field.name());
    WriteValue(field.value(), &writer);
  }
  writer.EndObject();
  return text;
}

void AppendTextValue(const LogField::Value& value, std::string* out) {
  const auto* text = std::get_if<std::string_view>(&value);
  if (text != nullptr && IsBareWord(*text)) {
    *out += Shown(*text);
  } else {
    JsonWriter writer(out);
    WriteValue(value, &writer);
  }
}

std::string TextLine(const Line& line) {
  std::string text = fmt::format("{} {} ", line.time, NameOf(line.level));
  if (std::ranges::none_of(line.message, IsControl)) {
    text += Shown(line.message);
  } else {
    JsonWriter(&text).String(Shown(line.message));
  }
  for (const LogField& field : line.fields) {
    text += fmt::format(" {}=", field.name());
    AppendTextValue(field.value(), &text);
  }
  return text;
}

std::unique_ptr<spdlog::logger> MakeLogger(spdlog::sink_ptr sink) {
  auto logger = std::make_unique<spdlog::logger>("tidemark", std::move(sink));
  // We format the whole line and check the level ourselves, so spdlog must add nothing.
  logger->set_pattern("%v");
  logger->set_level(spdlog::level::trace);
  // Each line is flushed: the last lines before a crash are the important ones.
  logger->flush_on(spdlog::level::trace);
  return logger;
}

}  // namespace

LogLevel LogLevelFrom(std::string_view setting) {
  if (setting == "debug") return LogLevel::kDebug;
  if (setting == "warning") return LogLevel::kWarning;
  return setting == "error" ? LogLevel::kError : LogLevel::kInfo;
}

LogFormat LogFormatFrom(std::string_view setting) {
  return setting == "json" ? LogFormat::kJson : LogFormat::kText;
}

Logger::Logger(LogOptions options, const Clock& clock)
    : options_(options),
      clock_(clock),
      out_(MakeLogger(std::make_shared<spdlog::sinks::stderr_sink_mt>())) {}

Logger::Logger(LogOptions options, const Clock& clock, std::ostream* out)
    : options_(options),
      clock_(clock),
      out_(MakeLogger(std::make_shared<spdlog::sinks::ostream_sink_mt>(*out))) {}

Logger::~Logger() = default;

void Logger::Log(LogLevel level, std::string_view message,
                 std::initializer_list<LogField> fields) const {
  if (!Writes(level)) return;
  const Line line{
      .time = TimeText(clock_.Now()), .level = level, .message = message, .fields = fields};
  const std::string text = options_.format == LogFormat::kJson ? JsonLine(line) : TextLine(line);
  out_->log(spdlog::level::info, spdlog::string_view_t(text.data(), text.size()));
}

}  // namespace tidemark
