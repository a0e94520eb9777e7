#include "slack/event.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/json_members.h"

namespace tidemark::slack {

namespace {

MaybeJson First(const MaybeJson& array) {
  if (!array) return std::nullopt;
  for (Json element : array->Elements()) return element;
  return std::nullopt;
}

// Some events give a user or channel as its id, others as an object with the member "id".
std::string Id(const MaybeJson& json, std::string_view name) {
  const auto value = FindIn(json, name);
  return value && value->IsObject() ? TextIn(value, "id") : TextIn(json, name);
}

std::string FirstOf(std::initializer_list<std::string> texts) {
  for (const std::string& text : texts) {
    if (!text.empty()) return text;
  }
  return "";
}

File ParseFile(Json json) {
  return {.id = TextIn(json, "id"),
          .name = TextIn(json, "name"),
          .mode = TextIn(json, "mode"),
          .mimetype = TextIn(json, "mimetype"),
          .size = IntegerIn(json, "size"),
          .is_external = IsTrueIn(json, "is_external")};
}

// Three shapes: files[] in messages; one object "file" in old messages and in file_shared; only a
// file_id in file_deleted.
std::vector<File> ParseFiles(const MaybeJson& event) {
  std::vector<File> files;
  if (const auto list = FindIn(event, "files")) {
    for (Json file : list->Elements()) files.push_back(ParseFile(file));
  }
  if (!files.empty()) return files;
  if (const auto file = FindIn(event, "file"); file && file->IsObject()) return {ParseFile(*file)};
  const std::string id = FirstOf({TextIn(event, "file_id"), TextIn(event, "file")});
  if (!id.empty()) files.push_back({.id = id});
  return files;
}

// Who edited the message. Empty when the change is no edit: a link preview, a reply, an update by a
// bot. Then `edited`, if any, is of an earlier change.
std::string ParseEditor(const MaybeJson& event, const MaybeJson& message) {
  const auto edited = FindIn(message, "edited");
  const auto previous = FindIn(FindIn(event, "previous_message"), "edited");
  return TextIn(edited, "ts") == TextIn(previous, "ts") ? "" : TextIn(edited, "user");
}

std::string ParseUser(const MaybeJson& event, const MaybeJson& message) {
  return FirstOf({Id(event, "user"), TextIn(event, "user_id"), TextIn(event, "actor_id"),
                  ParseEditor(event, message)});
}

std::string ParseChannel(const MaybeJson& event) {
  return FirstOf({Id(event, "channel"), TextIn(event, "channel_id"),
                  TextIn(event, "new_channel_id"), Id(FindIn(event, "item"), "channel")});
}

Event ParseEvent(Json json) {
  // message_changed and message_deleted have the message itself in an inner object.
  const auto message = FindIn(json, "message");
  const auto user = FindIn(json, "user");
  Event event{.type = TextIn(json, "type"),
              .subtype = TextIn(json, "subtype"),
              .user = ParseUser(json, message),
              .user_team = FirstOf({TextIn(json, "user_team"), TextIn(json, "source_team"),
                                    TextIn(json, "team"), TextIn(json, "team_id")}),
              .channel = ParseChannel(json),
              .ts = TextIn(json, "ts"),
              .event_ts = TextIn(json, "event_ts"),
              .thread_ts = FirstOf({TextIn(json, "thread_ts"), TextIn(message, "thread_ts")}),
              .bot_id = FirstOf({TextIn(json, "bot_id"), TextIn(message, "bot_id"),
                                 TextIn(FindIn(json, "previous_message"), "bot_id")}),
              .text = FirstOf({TextIn(json, "text"), TextIn(message, "text")}),
              .channel_type = TextIn(json, "channel_type"),
              .hidden = IsTrueIn(json, "hidden"),
              .user_deleted = user && IsTrueIn(*user, "deleted"),
              .old_channel = TextIn(json, "old_channel_id"),
              .files = ParseFiles(json)};
  if (event.files.empty()) event.files = ParseFiles(message);
  return event;
}

constexpr size_t kEscapeLength = 6;  // Backslash, u and four hexadecimal digits.

// The code of a \uXXXX escape at the start of the text; nullopt when the text starts otherwise.
std::optional<uint32_t> EscapedCode(std::string_view text) {
  if (text.size() < kEscapeLength || !text.starts_with("\\u")) return std::nullopt;
  uint32_t code = 0;
  const char* const end = text.data() + kEscapeLength;
  if (std::from_chars(text.data() + 2, end, code, 16).ptr != end) return std::nullopt;
  return code;
}

bool IsHighSurrogate(uint32_t code) { return code >= 0xd800 && code < 0xdc00; }
bool IsLowSurrogate(uint32_t code) { return code >= 0xdc00 && code < 0xe000; }

// The number of bytes at the start that belong together: an escaped surrogate pair, one escape,
// or one byte. A backslash and the byte after it stay together, so that in \\ud800 (an escaped
// backslash and five letters) the "\ud800" is not taken for an escape.
size_t UnitLength(std::string_view text) {
  if (!text.starts_with('\\')) return 1;
  const auto code = EscapedCode(text);
  if (!code) return std::min<size_t>(2, text.size());
  if (!IsHighSurrogate(*code)) return kEscapeLength;
  const auto next = EscapedCode(text.substr(kEscapeLength));
  return next && IsLowSurrogate(*next) ? 2 * kEscapeLength : kEscapeLength;
}

// The JSON parser refuses half of a surrogate pair. Slack sends such halves when some program cut
// a message in the middle of an emoji. Each half is replaced by U+FFFD, the replacement character.
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

Result<Envelope> ParseCallback(JsonDocument document) {
  const Json root = document.root();
  const auto event = root.Find("event");
  if (TextIn(event, "type").empty()) {
    return Invalid("an event_callback must have an object \"event\" with a string \"type\"");
  }
  const auto authorization = First(root.Find("authorizations"));
  return EventCallback{
      .team_id = FirstOf({TextIn(authorization, "team_id"), TextIn(root, "team_id")}),
      .event_team_id = TextIn(root, "team_id"),
      .is_ext_shared_channel = IsTrueIn(root, "is_ext_shared_channel"),
      .enterprise_id =
          FirstOf({TextIn(authorization, "enterprise_id"), TextIn(root, "enterprise_id")}),
      .api_app_id = TextIn(root, "api_app_id"),
      .event_id = TextIn(root, "event_id"),
      .event_time = IntegerIn(root, "event_time"),
      .event = ParseEvent(*event),
      .document = std::make_shared<const JsonDocument>(std::move(document))};
}

}  // namespace

// Valid bodies are the usual case, so the text is repaired only after it failed to parse.
Result<JsonDocument> ParseBody(std::string_view body) {
  auto document = JsonDocument::Parse(body);
  return document ? std::move(document) : JsonDocument::Parse(ReplaceHalfPairs(body));
}

Result<Envelope> ParseEnvelope(std::string_view body) {
  JsonDocument document = TRY(ParseBody(body));
  const Json root = document.root();
  std::string type = TextIn(root, "type");
  if (type.empty()) return Invalid("the body must be a JSON object with a string \"type\"");
  if (type == "event_callback") return ParseCallback(std::move(document));
  if (type == "url_verification") return UrlVerification{.challenge = TextIn(root, "challenge")};
  if (type == "app_rate_limited") {
    return AppRateLimited{.team_id = TextIn(root, "team_id"),
                          .api_app_id = TextIn(root, "api_app_id"),
                          .minute = IntegerIn(root, "minute_rate_limited")};
  }
  return UnknownEnvelope{.type = std::move(type)};
}

}  // namespace tidemark::slack
