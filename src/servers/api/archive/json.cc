#include "servers/api/archive/json.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "apps/archive/shown_body.h"

namespace tidemark::api {

namespace {

using archive::Certainty;

// Empty, zero and false values are left out.
void WriteText(std::string_view name, std::string_view text, JsonWriter* writer) {
  if (text.empty()) return;
  writer->Key(name);
  writer->String(text);
}

void WriteInt(std::string_view name, int64_t number, JsonWriter* writer) {
  if (number == 0) return;
  writer->Key(name);
  writer->Int(number);
}

void WriteFlag(std::string_view name, bool flag, JsonWriter* writer) {
  if (!flag) return;
  writer->Key(name);
  writer->Bool(true);
}

// Here an empty text is a value: an event has set it.
void WriteMaybe(std::string_view name, const std::optional<std::string>& text, JsonWriter* writer) {
  if (!text) return;
  writer->Key(name);
  writer->String(*text);
}

void WriteMaybe(std::string_view name, const std::optional<slack::Timestamp>& ts,
                JsonWriter* writer) {
  if (ts) WriteText(name, ts->text(), writer);
}

void WriteTexts(std::string_view name, const std::vector<std::string>& texts, JsonWriter* writer) {
  writer->Key(name);
  writer->BeginArray();
  for (const std::string& text : texts) writer->String(text);
  writer->EndArray();
}

void WritePlace(const archive::Place& place, JsonWriter* writer) {
  WriteText("team_id", place.team.text(), writer);
  WriteText("channel_id", place.channel.text(), writer);
}

bool IsStored(const archive::Message& message, const archive::FileMeta& file) {
  const std::string end = "/" + file.id;
  return std::ranges::any_of(message.files_s3,
                             [&](const std::string& uri) { return uri.ends_with(end); });
}

// The error of a message names the files that could not be fetched: "F01: …; F02: …".
bool HasFailed(const archive::Message& message, const archive::FileMeta& file) {
  return message.files_fetch_failed && !IsStored(message, file) &&
         message.files_fetch_error.find(file.id + ":") != std::string::npos;
}

void WriteFile(const archive::FileMeta& file, const archive::Message& message, JsonWriter* writer) {
  writer->BeginObject();
  WriteText("id", file.id, writer);
  WriteText("name", file.name, writer);
  WriteText("title", file.title, writer);
  WriteText("mimetype", file.mimetype, writer);
  WriteText("filetype", file.filetype, writer);
  WriteInt("size", file.size, writer);
  WriteText("mode", file.mode, writer);
  WriteFlag("is_external", file.is_external, writer);
  WriteInt("created", file.created, writer);
  WriteText("user", file.user, writer);
  WriteText("url_private", file.url_private, writer);
  if (IsStored(message, file)) {
    WriteText(
        "path",
        fmt::format("/api/v1/teams/{}/channels/{}/messages/{}/files/{}", message.place.team.text(),
                    message.place.channel.text(), message.ts.text(), file.id),
        writer);
  }
  WriteFlag("failed", HasFailed(message, file), writer);
  writer->EndObject();
}

void WriteFiles(const archive::Message& message, JsonWriter* writer) {
  if (message.traits.files.empty()) return;
  writer->Key("files");
  writer->BeginArray();
  for (const archive::FileMeta& file : archive::ShownFiles(message)) {
    WriteFile(file, message, writer);
  }
  writer->EndArray();
}

void WriteTraits(const archive::Traits& traits, JsonWriter* writer) {
  WriteText("user", traits.user, writer);
  WriteText("bot_id", traits.bot_id, writer);
  WriteText("username", traits.username, writer);
  WriteText("subtype", traits.subtype, writer);
  WriteText("thread_ts", traits.thread_ts, writer);
}

// It should be JSON. If another program wrote the row and it is not, it is left out, because it
// would make the whole answer invalid.
void WriteRawEvent(const archive::Body& body, JsonWriter* writer) {
  if (body.raw_event.empty()) return;
  const auto event = JsonDocument::Parse(body.raw_event);
  if (!event) return;
  writer->Key("raw_event");
  writer->Raw(ToText(event->root()));
}

// Blocks or attachments, which should be JSON: see WriteRawEvent.
void WritePart(std::string_view name, const std::string& part, JsonWriter* writer) {
  if (part.empty()) return;
  const auto parsed = JsonDocument::Parse(part);
  if (!parsed) return;
  writer->Key(name);
  writer->Raw(ToText(parsed->root()));
}

void WriteShownBody(const archive::Message& message, JsonWriter* writer) {
  WriteFlag("stub", !message.body, writer);
  WriteText("summary", archive::SummaryOf(message), writer);
  if (!message.body) return;
  WriteMaybe("text", message.body->text, writer);
  WritePart("attachments", archive::AttachmentsOf(*message.body), writer);
  if (message.body->version != message.ts) {
    WriteText("updated_ts", message.body->version.text(), writer);
  }
  WriteText("edited_by", message.body->edited_by, writer);
}

void WriteBody(const archive::Body& body, JsonWriter* writer) {
  writer->BeginObject();
  WriteText("version", body.version.text(), writer);
  WriteMaybe("text", body.text, writer);
  WritePart("blocks", archive::BlocksOf(body), writer);
  WritePart("attachments", archive::AttachmentsOf(body), writer);
  WriteText("edited_by", body.edited_by, writer);
  WriteFlag("inferred", body.inferred, writer);
  WriteRawEvent(body, writer);
  writer->EndObject();
}

void WriteReaction(const archive::Reaction& reaction, JsonWriter* writer) {
  writer->BeginObject();
  WriteText("reaction", reaction.reaction, writer);
  WriteTexts("users", reaction.users, writer);
  WriteInt("count", reaction.count, writer);
  writer->EndObject();
}

std::string_view ToString(Certainty certainty) {
  switch (certainty) {
    case Certainty::kComplete:
      return "complete";
    case Certainty::kLost:
      return "lost";
    case Certainty::kImported:
      return "imported";
  }
  return "";
}

}  // namespace

std::string PermalinkOf(const archive::Place& place, const slack::Timestamp& ts) {
  std::string digits = ts.text();
  std::erase(digits, '.');
  return fmt::format("/archives/{}/p{}", place.channel.text(), digits);
}

void Write(const archive::Channel& channel, JsonWriter* writer) {
  writer->BeginObject();
  WritePlace(channel.place, writer);
  WriteMaybe("name", channel.name(), writer);
  const std::vector<std::string> names = channel.names_history();
  if (!names.empty()) WriteTexts("names_history", names, writer);
  const bool is_public = channel.visibility.value == archive::Visibility::kPublic;
  if (channel.visibility.value) WriteText("visibility", is_public ? "public" : "private", writer);
  WriteFlag("was_public", channel.was_public && !is_public, writer);
  WriteFlag("archived", channel.archived.value.value_or(false), writer);
  WriteFlag("deleted", channel.deleted, writer);
  WriteMaybe("topic", channel.topic.value, writer);
  WriteMaybe("purpose", channel.purpose.value, writer);
  WriteText("prev_channel_id", channel.prev_channel_id, writer);
  WriteText("next_channel_id", channel.next_channel_id, writer);
  writer->EndObject();
}

void Write(const archive::Message& message, const archive::Replies& replies, bool hidden,
           JsonWriter* writer) {
  writer->BeginObject();
  WritePlace(message.place, writer);
  WriteText("ts", message.ts.text(), writer);
  WriteTraits(message.traits, writer);
  WriteText("user_name", message.user_name, writer);
  WriteShownBody(message, writer);
  WriteFlag("deleted", message.deleted_ts.has_value(), writer);
  WriteMaybe("deleted_ts", message.deleted_ts, writer);
  WriteFlag("hidden", hidden, writer);
  WriteFlag("purged", message.purged, writer);
  WriteInt("reply_count", replies.count, writer);
  WriteMaybe("latest_reply", replies.latest, writer);
  WriteFiles(message, writer);
  WriteFlag("files_fetch_failed", message.files_fetch_failed, writer);
  WriteText("files_fetch_error", message.files_fetch_error, writer);
  WriteText("permalink", PermalinkOf(message.place, message.ts), writer);
  writer->EndObject();
}

void WriteNames(const archive::People::Names& names, JsonWriter* writer) {
  if (names.empty()) return;
  writer->Key("people");
  writer->BeginObject();
  for (const auto& [id, name] : names) {
    writer->Key(id);
    writer->String(name);
  }
  writer->EndObject();
}

void Write(const archive::MessageDetail& detail, const archive::People::Names& names, bool hidden,
           JsonWriter* writer) {
  writer->BeginObject();
  writer->Key("message");
  Write(detail.message, detail.replies, hidden, writer);
  writer->Key("versions");
  writer->BeginArray();
  for (const archive::Body& body : detail.versions) WriteBody(body, writer);
  writer->EndArray();
  writer->Key("reactions");
  writer->BeginArray();
  for (const archive::Reaction& reaction : detail.reactions) WriteReaction(reaction, writer);
  writer->EndArray();
  WriteFlag("pinned", detail.pinned, writer);
  if (detail.author) {
    writer->Key("author");
    Write(*detail.author, writer);
  }
  WriteNames(names, writer);
  if (detail.message.body) WriteRawEvent(*detail.message.body, writer);
  writer->EndObject();
}

void Write(const archive::Person& person, JsonWriter* writer) {
  writer->BeginObject();
  WriteText("user", person.user, writer);
  WriteText("name", person.name, writer);
  WriteText("real_name", person.real_name, writer);
  WriteText("display_name", person.display_name, writer);
  WriteText("shown_name", person.shown_name(), writer);
  WriteText("avatar", person.avatar, writer);
  WriteFlag("is_bot", person.is_bot, writer);
  WriteFlag("deactivated", person.deactivated, writer);
  writer->EndObject();
}

void Write(const archive::Interval& interval, JsonWriter* writer) {
  writer->BeginObject();
  WriteText("from", interval.from.text(), writer);
  WriteMaybe("to", interval.to, writer);
  WriteText("certainty", ToString(interval.certainty), writer);
  WriteText("reason", interval.reason, writer);
  writer->EndObject();
}

void Write(const archive::CoverageNews& mark, JsonWriter* writer) {
  writer->BeginObject();
  if (mark.channel) WriteText("channel_id", mark.channel->text(), writer);
  WriteText("kind", archive::ToString(mark.kind), writer);
  WriteText("from", mark.from.text(), writer);
  WriteMaybe("to", mark.to, writer);
  WriteText("reason", mark.reason, writer);
  writer->EndObject();
}

void Write(std::string_view name, const archive::ProcessorStatus& status, JsonWriter* writer) {
  writer->BeginObject();
  WriteText("name", name, writer);
  WriteFlag("held", status.held, writer);
  writer->Key("lag_seconds");
  writer->Int(status.lag_seconds);
  WriteInt("last_change_at", status.last_change_at.value_or(0), writer);
  WriteInt("gaps", status.gaps, writer);
  writer->EndObject();
}

}  // namespace tidemark::api
