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
  }
  return "error";
}

std::string TimeText(std::chrono::milliseconds since_epoch) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds.count()),
                     (since_epoch - seconds).count());
}

// The length of the UTF-8 sequence that a lead byte opens; 0 when it opens none.
size_t SequenceLength(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

bool IsContinuation(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; }

// Whether the second byte keeps the sequence shortest, in range and no surrogate.
bool IsSecondByte(uint8_t lead, uint8_t second) {
  if (lead == 0xe0) return second >= 0xa0;
  if (lead == 0xed) return second < 0xa0;
  if (lead == 0xf0) return second >= 0x90;
  return lead != 0xf4 || second < 0x90;
}

// How many bytes at the front are one character that may be shown: 0 when they are not
// UTF-8, or one of the controls that JSON does not escape (DEL and U+0080 to U+009F, which a
// terminal obeys).
size_t ShownLength(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = SequenceLength(lead);
  if (length == 1) return lead == 0x7f ? 0 : 1;
  if (length == 0 || length > text.size()) return 0;
  if (!std::ranges::all_of(text.substr(1, length - 1), IsContinuation)) return 0;
  const auto second = static_cast<uint8_t>(text[1]);
  if (lead == 0xc2 && second < 0xa0) return 0;
  return IsSecondByte(lead, second) ? length : 0;
}

// The text with every byte that may not be shown replaced by U+FFFD.
std::string Shown(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const size_t length = ShownLength(text);
    shown.append(length == 0 ? "\xef\xbf\xbd" : text.substr(0, length));
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return shown;
}

bool IsControl(char byte) { return static_cast<uint8_t>(byte) < 0x20; }

// A word stands bare in a text line when nobody could read it as more than one.
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
    // To the thousandth: nobody reads a log for the rest.
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
  // The line is ours from end to end, and the level is decided before it is made.
  logger->set_pattern("%v");
  logger->set_level(spdlog::level::trace);
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
  if (level < options_.level) return;
  const Line line{
      .time = TimeText(clock_.Now()), .level = level, .message = message, .fields = fields};
  const std::string text = options_.format == LogFormat::kJson ? JsonLine(line) : TextLine(line);
  out_->log(spdlog::level::info, spdlog::string_view_t(text.data(), text.size()));
}

}  // namespace tidemark
