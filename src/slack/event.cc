#include "slack/event.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <utility>

namespace tidemark::slack {

namespace {

using MaybeJson = std::optional<Json>;

MaybeJson Find(const MaybeJson& json, std::string_view name) {
  return json ? json->Find(name) : std::nullopt;
}

MaybeJson First(const MaybeJson& array) {
  if (!array) return std::nullopt;
  for (Json element : array->Elements()) return element;
  return std::nullopt;
}

// Empty when it is missing, null or of another kind.
std::string Text(const MaybeJson& json, std::string_view name) {
  const auto value = Find(json, name);
  return std::string(value ? value->AsString().value_or("") : "");
}

int64_t Int(const MaybeJson& json, std::string_view name) {
  const auto value = Find(json, name);
  return value ? value->AsInt().value_or(0) : 0;
}

bool Bool(const MaybeJson& json, std::string_view name) {
  const auto value = Find(json, name);
  return value && value->AsBool().value_or(false);
}

// Slack gives an entity as its id or, in other events, as an object that has the id.
std::string Id(const MaybeJson& json, std::string_view name) {
  const auto value = Find(json, name);
  return value && value->IsObject() ? Text(value, "id") : Text(json, name);
}

std::string FirstOf(std::initializer_list<std::string> texts) {
  for (const std::string& text : texts) {
    if (!text.empty()) return text;
  }
  return "";
}

File ParseFile(Json json) {
  return {.id = Text(json, "id"),
          .name = Text(json, "name"),
          .mode = Text(json, "mode"),
          .mimetype = Text(json, "mimetype"),
          .size = Int(json, "size"),
          .is_external = Bool(json, "is_external")};
}

// files[], or the single file of old messages and of file_shared, or the bare file_id of
// file_deleted.
std::vector<File> ParseFiles(const MaybeJson& event) {
  std::vector<File> files;
  if (const auto list = Find(event, "files")) {
    for (Json file : list->Elements()) files.push_back(ParseFile(file));
  }
  if (!files.empty()) return files;
  if (const auto file = Find(event, "file"); file && file->IsObject()) return {ParseFile(*file)};
  const std::string id = FirstOf({Text(event, "file_id"), Text(event, "file")});
  if (!id.empty()) files.push_back({.id = id});
  return files;
}

std::string ParseUser(const MaybeJson& event, const MaybeJson& message) {
  return FirstOf({Id(event, "user"), Text(event, "user_id"), Text(event, "actor_id"),
                  Id(message, "user"), Id(Find(event, "previous_message"), "user")});
}

std::string ParseChannel(const MaybeJson& event) {
  return FirstOf({Id(event, "channel"), Text(event, "channel_id"), Text(event, "new_channel_id"),
                  Id(Find(event, "item"), "channel")});
}

Event ParseEvent(const MaybeJson& json) {
  // A message that was changed or deleted lies inside the event about it.
  const auto message = Find(json, "message");
  Event event{.type = Text(json, "type"),
              .subtype = Text(json, "subtype"),
              .user = ParseUser(json, message),
              .channel = ParseChannel(json),
              .ts = Text(json, "ts"),
              .event_ts = Text(json, "event_ts"),
              .thread_ts = FirstOf({Text(json, "thread_ts"), Text(message, "thread_ts")}),
              .bot_id = FirstOf({Text(json, "bot_id"), Text(message, "bot_id"),
                                 Text(Find(json, "previous_message"), "bot_id")}),
              .text = FirstOf({Text(json, "text"), Text(message, "text")}),
              .channel_type = Text(json, "channel_type"),
              .hidden = Bool(json, "hidden"),
              .user_deleted = Bool(Find(json, "user"), "deleted"),
              .old_channel = Text(json, "old_channel_id"),
              .files = ParseFiles(json)};
  if (event.files.empty()) event.files = ParseFiles(message);
  return event;
}

constexpr size_t kEscapeLength = 6;  // A backslash, a u, four digits.

// The code of the escape at the start, or nullopt when there is none.
std::optional<uint32_t> EscapedCode(std::string_view text) {
  if (text.size() < kEscapeLength || !text.starts_with("\\u")) return std::nullopt;
  uint32_t code = 0;
  const char* const end = text.data() + kEscapeLength;
  if (std::from_chars(text.data() + 2, end, code, 16).ptr != end) return std::nullopt;
  return code;
}

bool IsHighSurrogate(uint32_t code) { return code >= 0xd800 && code < 0xdc00; }
bool IsLowSurrogate(uint32_t code) { return code >= 0xdc00 && code < 0xe000; }

// How many bytes at the start go together: a pair, an escape, or one byte.
size_t UnitLength(std::string_view text) {
  if (!text.starts_with('\\')) return 1;
  const auto code = EscapedCode(text);
  if (!code) return std::min<size_t>(2, text.size());
  if (!IsHighSurrogate(*code)) return kEscapeLength;
  const auto next = EscapedCode(text.substr(kEscapeLength));
  return next && IsLowSurrogate(*next) ? 2 * kEscapeLength : kEscapeLength;
}

// Half a surrogate pair is no text, and the parser refuses it; but it is what remains when
// somebody cuts a text in the middle of an emoji. U+FFFD takes its place.
std::string ReplaceHalfPairs(std::string_view body) {
  std::string repaired;
  repaired.reserve(body.size());
  for (size_t at = 0; at < body.size();) {
    const std::string_view unit = body.substr(at, UnitLength(body.substr(at)));
    const auto code = unit.size() == kEscapeLength ? EscapedCode(unit) : std::nullopt;
    const bool half = code && (IsHighSurrogate(*code) || IsLowSurrogate(*code));
    repaired += half ? "\\ufffd" : unit;
    at += unit.size();
  }
  return repaired;
}

Result<Envelope> ParseCallback(Json root) {
  const auto event = root.Find("event");
  if (Text(event, "type").empty()) {
    return Invalid("an event_callback must have an \"event\" object with a text \"type\"");
  }
  const auto authorization = First(root.Find("authorizations"));
  return EventCallback{
      .team_id = FirstOf({Text(authorization, "team_id"), Text(root, "team_id")}),
      .event_team_id = Text(root, "team_id"),
      .enterprise_id = FirstOf({Text(authorization, "enterprise_id"), Text(root, "enterprise_id")}),
      .api_app_id = Text(root, "api_app_id"),
      .event_id = Text(root, "event_id"),
      .event_time = Int(root, "event_time"),
      .event = ParseEvent(event)};
}

}  // namespace

// Only a body that does not parse is looked at again: the rest pays nothing.
Result<JsonDocument> ParseBody(std::string_view body) {
  auto document = JsonDocument::Parse(body);
  return document ? std::move(document) : JsonDocument::Parse(ReplaceHalfPairs(body));
}

Result<Envelope> ParseEnvelope(std::string_view body) {
  const JsonDocument document = TRY(ParseBody(body));
  const Json root = document.root();
  std::string type = Text(root, "type");
  if (type.empty()) return Invalid("the body must be a JSON object with a text \"type\"");
  if (type == "event_callback") return ParseCallback(root);
  if (type == "url_verification") return UrlVerification{.challenge = Text(root, "challenge")};
  if (type == "app_rate_limited") {
    return AppRateLimited{.team_id = Text(root, "team_id"),
                          .api_app_id = Text(root, "api_app_id"),
                          .minute = Int(root, "minute_rate_limited")};
  }
  return UnknownEnvelope{.type = std::move(type)};
}

}  // namespace tidemark::slack
