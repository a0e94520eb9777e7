#include "servers/demo/shapes.h"

#include <algorithm>

#include <fmt/format.h>

#include "http/url.h"

namespace tidemark::demo {
namespace {

// Slack sends profile.fields as an object, an empty array or null, without a known rule.
void WriteProfileFields(JsonWriter* writer, const User& user) {
  writer->Key("fields");
  switch (user.id.back() % 3) {
    case 0:
      return writer->Raw("[]");
    case 1:
      return writer->Null();
    default:
      return writer->Raw(R"({"Xf0SHIFT":{"value":"B","alt":""}})");
  }
}

void WriteProfile(JsonWriter* writer, const User& user, const Surroundings& surroundings) {
  writer->BeginObject();
  PutText(writer, "title", user.title);
  PutText(writer, "real_name", user.real_name);
  PutText(writer, "real_name_normalized", user.real_name);
  PutText(writer, "display_name", user.name);
  PutText(writer, "display_name_normalized", user.name);
  WriteProfileFields(writer, user);
  PutText(writer, "status_text", user.status_text);
  PutText(writer, "status_emoji", user.status_emoji);
  PutInt(writer, "status_expiration", 0);
  PutText(writer, "team", surroundings.team_id);
  if (user.bot_id.empty()) {
    PutText(writer, "email", fmt::format("{}@harbour.example", user.name));
  } else {
    PutText(writer, "bot_id", user.bot_id);
  }
  writer->EndObject();
}

std::string_view ModeOf(const File& file) {
  return file.external_url.empty() ? "hosted" : "external";
}

// A file of a shared channel comes as a stub without a name and a size. To get them,
// a client has to call files.info.
void WriteFileStub(JsonWriter* writer, const File& file) {
  writer->BeginObject();
  PutText(writer, "id", file.id);
  PutInt(writer, "created", 0);
  PutInt(writer, "timestamp", 0);
  PutText(writer, "mode", "file_access");
  PutText(writer, "file_access", "check_file_info");
  PutText(writer, "user", "");
  writer->EndObject();
}

// Both forms occur in events of the same workspace, so a reader must handle each file by itself.
void WriteFiles(JsonWriter* writer, const Message& message, const Surroundings& surroundings) {
  writer->Key("files");
  writer->BeginArray();
  if (message.file_is_stub) {
    WriteFileStub(writer, *message.file);
  } else {
    WriteFile(writer, *message.file, surroundings);
  }
  writer->EndArray();
  PutBool(writer, "upload", false);
  PutBool(writer, "display_as_bot", false);
}

void WriteSpan(JsonWriter* writer, const Span& span) {
  writer->BeginObject();
  switch (span.kind) {
    case SpanKind::kText:
      PutText(writer, "type", "text");
      PutText(writer, "text", span.text);
      break;
    case SpanKind::kUser:
      PutText(writer, "type", "user");
      PutText(writer, "user_id", span.text);
      break;
    case SpanKind::kLink:
      PutText(writer, "type", "link");
      PutText(writer, "url", span.text);
      break;
    case SpanKind::kEmoji:
      PutText(writer, "type", "emoji");
      PutText(writer, "name", span.text);
      break;
  }
  writer->EndObject();
}

// The blocks that Slack's editor makes of what a person writes.
void WriteRichText(JsonWriter* writer, const Message& message) {
  writer->Key("blocks");
  writer->BeginArray();
  writer->BeginObject();
  PutText(writer, "type", "rich_text");
  PutText(writer, "block_id", message.ts.substr(message.ts.size() - 5));
  writer->Key("elements");
  writer->BeginArray();
  writer->BeginObject();
  PutText(writer, "type", "rich_text_section");
  writer->Key("elements");
  writer->BeginArray();
  for (const Span& span : message.spans) WriteSpan(writer, span);
  writer->EndArray();
  writer->EndObject();
  writer->EndArray();
  writer->EndObject();
  writer->EndArray();
}

// The report of a bot: sections with the same words and different numbers.
void WriteSections(JsonWriter* writer, const Message& message) {
  const std::string text = TextOf(message.spans);
  writer->Key("blocks");
  writer->BeginArray();
  for (size_t i = 0; i < message.report_blocks; ++i) {
    writer->BeginObject();
    PutText(writer, "type", "section");
    PutText(writer, "block_id", fmt::format("section-{}", i));
    writer->Key("text");
    writer->BeginObject();
    PutText(writer, "type", "mrkdwn");
    PutText(writer, "text", fmt::format("*Reading {}*\n{}", i + 1, text));
    PutBool(writer, "verbatim", false);
    writer->EndObject();
    writer->EndObject();
  }
  writer->EndArray();
}

void WriteBotFields(JsonWriter* writer, const Message& message) {
  PutText(writer, "bot_id", message.bot_id);
  PutText(writer, "username", "Tide gauge");
  writer->Key("icons");
  writer->Raw(R"({"emoji":":ocean:"})");
  if (message.report_blocks > 0) return WriteSections(writer, message);
  writer->Key("attachments");
  writer->BeginArray();
  writer->BeginObject();
  PutInt(writer, "id", 1);
  PutText(writer, "color", "2eb886");
  PutText(writer, "fallback", "[no preview available]");
  PutText(writer, "text", TextOf(message.spans));
  writer->EndObject();
  writer->EndArray();
}

void WritePreview(JsonWriter* writer, const Message& message) {
  const auto link = std::ranges::find(message.spans, SpanKind::kLink, &Span::kind);
  if (link == message.spans.end()) return;
  writer->Key("attachments");
  writer->BeginArray();
  writer->BeginObject();
  PutInt(writer, "id", 1);
  PutText(writer, "from_url", link->text);
  PutText(writer, "original_url", link->text);
  PutText(writer, "service_name", "Harbour office");
  PutText(writer, "title", "Cairn Harbour: notices to shipping");
  PutText(writer, "fallback", "Cairn Harbour: notices to shipping");
  PutText(writer, "text", "Tides, berths and closures, updated every hour.");
  writer->EndObject();
  writer->EndArray();
}

void WriteThreadFields(JsonWriter* writer, const Message& message) {
  if (message.thread_ts.empty()) return;
  PutText(writer, "thread_ts", message.thread_ts);
  if (!message.IsRoot()) return;
  std::vector<std::string> people = message.repliers;
  std::ranges::sort(people);
  people.erase(std::unique(people.begin(), people.end()), people.end());
  PutInt(writer, "reply_count", static_cast<int64_t>(message.repliers.size()));
  PutInt(writer, "reply_users_count", static_cast<int64_t>(people.size()));
  PutText(writer, "latest_reply", message.latest_reply);
  writer->Key("reply_users");
  writer->BeginArray();
  // Slack lists the first five and gives only the number of all.
  for (size_t i = 0; i < std::min<size_t>(people.size(), 5); ++i) writer->String(people[i]);
  writer->EndArray();
  PutBool(writer, "is_locked", false);
}

void WriteEdited(JsonWriter* writer, const Edited& edited) {
  writer->Key("edited");
  writer->BeginObject();
  PutText(writer, "user", edited.user);
  PutText(writer, "ts", edited.ts);
  writer->EndObject();
}

void WriteBody(JsonWriter* writer, const Message& message, const Surroundings& surroundings) {
  const bool by_integration = message.user.empty();
  PutText(writer, "text", message.report_blocks > 0 ? "" : TextOf(message.spans));
  if (by_integration) return WriteBotFields(writer, message);
  PutText(writer, "user", message.user);
  if (message.subtype == "tombstone") return PutBool(writer, "hidden", true);
  if (!message.client_msg_id.empty()) PutText(writer, "client_msg_id", message.client_msg_id);
  PutText(writer, "team", surroundings.team_id);
  if (message.subtype != "me_message") WriteRichText(writer, message);
  if (message.has_preview) WritePreview(writer, message);
}

}  // namespace

void PutText(JsonWriter* writer, std::string_view name, std::string_view text) {
  writer->Key(name);
  writer->String(text);
}

void PutInt(JsonWriter* writer, std::string_view name, int64_t value) {
  writer->Key(name);
  writer->Int(value);
}

void PutBool(JsonWriter* writer, std::string_view name, bool value) {
  writer->Key(name);
  writer->Bool(value);
}

void WriteUser(JsonWriter* writer, const User& user, const Surroundings& surroundings) {
  writer->BeginObject();
  PutText(writer, "id", user.id);
  PutText(writer, "team_id", surroundings.team_id);
  PutText(writer, "name", user.name);
  PutBool(writer, "deleted", user.deactivated);
  PutText(writer, "real_name", user.real_name);
  PutText(writer, "tz", user.time_zone);
  writer->Key("profile");
  WriteProfile(writer, user, surroundings);
  PutBool(writer, "is_admin", false);
  PutBool(writer, "is_owner", false);
  PutBool(writer, "is_restricted", false);
  PutBool(writer, "is_bot", !user.bot_id.empty());
  PutBool(writer, "is_app_user", false);
  PutInt(writer, "updated", user.updated);
  writer->EndObject();
}

void WriteChannel(JsonWriter* writer, const Channel& channel, const Surroundings& surroundings) {
  writer->BeginObject();
  PutText(writer, "id", channel.id);
  PutInt(writer, "created", channel.created);
  PutBool(writer, "is_im", channel.kind == ChannelKind::kDirect);
  PutBool(writer, "is_org_shared", false);
  PutText(writer, "context_team_id", surroundings.team_id);
  PutInt(writer, "updated", channel.created * 1000);
  if (channel.kind == ChannelKind::kDirect) {
    PutText(writer, "user", channel.members.front());
    PutBool(writer, "is_user_deleted", false);
    writer->EndObject();
    return;
  }
  PutText(writer, "name", channel.name);
  PutText(writer, "name_normalized", channel.name);
  PutText(writer, "creator", channel.creator);
  PutBool(writer, "is_channel", channel.id.front() == 'C');
  PutBool(writer, "is_group", channel.id.front() == 'G');
  PutBool(writer, "is_mpim", channel.kind == ChannelKind::kGroupDirect);
  PutBool(writer, "is_private", channel.kind != ChannelKind::kPublic);
  PutBool(writer, "is_archived", channel.archived);
  PutBool(writer, "is_general", channel.name == "general");
  PutBool(writer, "is_shared", false);
  PutBool(writer, "is_ext_shared", false);
  PutBool(writer, "is_member", !channel.archived);
  for (const auto& [name, text] :
       {std::pair("topic", channel.topic), std::pair("purpose", channel.purpose)}) {
    writer->Key(name);
    writer->BeginObject();
    PutText(writer, "value", text);
    PutText(writer, "creator", text.empty() ? "" : channel.creator);
    PutInt(writer, "last_set", text.empty() ? 0 : channel.created);
    writer->EndObject();
  }
  writer->EndObject();
}

void WriteFile(JsonWriter* writer, const File& file, const Surroundings& surroundings) {
  const bool is_external = !file.external_url.empty();
  const std::string url = is_external ? file.external_url
                                      : fmt::format("{}/{}/{}", surroundings.files_url, file.id,
                                                    http::PercentEncode(file.name));
  writer->BeginObject();
  PutText(writer, "id", file.id);
  PutInt(writer, "created", file.created);
  PutInt(writer, "timestamp", file.created);
  PutText(writer, "name", file.name);
  PutText(writer, "title", file.name);
  PutText(writer, "mimetype", file.mimetype);
  PutText(writer, "filetype", file.filetype);
  PutText(writer, "pretty_type", file.filetype);
  PutText(writer, "user", file.user);
  PutText(writer, "user_team", surroundings.team_id);
  PutBool(writer, "editable", false);
  PutInt(writer, "size", is_external ? 0 : static_cast<int64_t>(file.size_bytes));
  PutText(writer, "mode", ModeOf(file));
  PutBool(writer, "is_external", is_external);
  PutText(writer, "external_type", is_external ? "gdrive" : "");
  PutBool(writer, "is_public", true);
  PutText(writer, "url_private", url);
  if (!is_external) PutText(writer, "url_private_download", url);
  PutText(writer, "file_access", "visible");
  writer->EndObject();
}

void WriteMessageFields(JsonWriter* writer, const Message& message,
                        const Surroundings& surroundings) {
  PutText(writer, "type", "message");
  if (!message.subtype.empty()) PutText(writer, "subtype", message.subtype);
  PutText(writer, "ts", message.ts);
  WriteBody(writer, message, surroundings);
  WriteThreadFields(writer, message);
  if (message.file) WriteFiles(writer, message, surroundings);
  if (message.edited) WriteEdited(writer, *message.edited);
}

}  // namespace tidemark::demo
