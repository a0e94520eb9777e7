#include <algorithm>

#include <fmt/format.h>

#include "apps/archive/attributes.h"
#include "apps/archive/message.h"

namespace tidemark::archive {

namespace {

using slack::Timestamp;

Error NotA(std::string_view what, const item::Item& row) {
  return {ErrorCode::kCorrupt, fmt::format("the row {} / {} of the archive is no {}",
                                           TextIn(row, "itemId"), TextIn(row, "timestamp"), what)};
}

item::Value EncodeFile(const FileMeta& file) {
  RowBuilder fields;
  fields.SetText("id", file.id);
  fields.SetText("name", file.name);
  fields.SetText("title", file.title);
  fields.SetText("mimetype", file.mimetype);
  fields.SetText("filetype", file.filetype);
  fields.SetInt("size", file.size);
  fields.SetText("url_private", file.url_private);
  fields.SetText("mode", file.mode);
  fields.SetTrue("is_external", file.is_external);
  fields.SetInt("created", file.created);
  fields.SetText("user", file.user);
  return fields.Build();
}

FileMeta DecodeFile(const item::Map& fields) {
  return {.id = TextIn(fields, "id"),
          .name = TextIn(fields, "name"),
          .title = TextIn(fields, "title"),
          .mimetype = TextIn(fields, "mimetype"),
          .filetype = TextIn(fields, "filetype"),
          .size = IntIn(fields, "size").value_or(0),
          .url_private = TextIn(fields, "url_private"),
          .mode = TextIn(fields, "mode"),
          .is_external = IsTrueIn(fields, "is_external"),
          .created = IntIn(fields, "created").value_or(0),
          .user = TextIn(fields, "user")};
}

void EncodeTraits(const Message& message, RowBuilder* row) {
  const Traits& traits = message.traits;
  row->SetText("user", traits.user);
  row->SetText("bot_id", traits.bot_id);
  row->SetText("username", traits.username);
  row->SetText("subtype", traits.subtype);
  row->SetText("thread_ts", traits.thread_ts);
  if (const auto thread_ts = ParseTimestamp(traits.thread_ts)) {
    row->Set("parent", ThreadOf(message.place.team, *thread_ts));
  }
  if (!traits.files.empty()) row->Set("files", EncodeFiles(traits.files));
}

Traits DecodeTraits(const item::Item& row) {
  const item::Value* files = row.Find("files");
  return {.user = TextIn(row, "user"),
          .bot_id = TextIn(row, "bot_id"),
          .username = TextIn(row, "username"),
          .subtype = TextIn(row, "subtype"),
          .thread_ts = TextIn(row, "thread_ts"),
          .files = files ? DecodeFiles(*files) : std::vector<FileMeta>()};
}

// All but its version, which a message and a version keep in different places.
void EncodeBody(const Body& body, RowBuilder* row) {
  if (body.text) row->Set("text", *body.text);
  row->SetText("edited_by", body.edited_by);
  if (body.event_ts != body.version) row->Set("event_ts", body.event_ts.text());
  row->SetTrue("inferred", body.inferred);
}

Body DecodeBody(const item::Item& row, const Timestamp& version) {
  return {.version = version,
          .event_ts = TimestampIn(row, "event_ts").value_or(version),
          .inferred = IsTrueIn(row, "inferred"),
          .text = MaybeTextIn(row, "text"),
          .edited_by = TextIn(row, "edited_by"),
          .raw_event = TextIn(row, "raw_event")};
}

void EncodeNewestBody(const Message& message, RowBuilder* row) {
  row->SetTrue("stub", !message.body);
  if (!message.body) return;
  if (message.body->version != message.ts) row->Set("updated_ts", message.body->version.text());
  EncodeBody(*message.body, row);
  row->SetText("raw_event", message.body->raw_event);
}

void EncodeFileProcessing(const Message& message, RowBuilder* row) {
  if (!message.files_s3.empty()) row->Set("files_s3", item::StringSet(message.files_s3));
  row->SetTrue("files_fetch_failed", message.files_fetch_failed);
  row->SetText("files_fetch_error", message.files_fetch_error);
}

std::vector<std::string> DecodeFilesS3(const item::Item& row) {
  const item::Value* value = row.Find("files_s3");
  const auto* uris = value ? value->As<item::StringSet>() : nullptr;
  return uris ? uris->members() : std::vector<std::string>();
}

// What every row of a message has.
void EncodePlace(const Place& place, const Timestamp& ts, RowBuilder* row) {
  row->Set("team_id", place.team.text());
  row->Set("channel_id", place.channel.text());
  row->Set("ts", ts.text());
}

}  // namespace

item::Value EncodeFiles(const std::vector<FileMeta>& files) {
  item::List list;
  list.reserve(files.size());
  for (const FileMeta& file : files) list.push_back(EncodeFile(file));
  return list;
}

std::vector<FileMeta> DecodeFiles(const item::Value& value) {
  std::vector<FileMeta> files;
  const auto* list = value.As<item::List>();
  if (!list) return files;
  for (const item::Value& element : *list) {
    if (const auto* fields = element.As<item::Map>()) files.push_back(DecodeFile(*fields));
  }
  std::sort(files.begin(), files.end());
  return files;
}

item::Item Encode(const Message& message) {
  RowBuilder row;
  row.Set("itemId", MessagesOf(message.place));
  row.Set("timestamp", message.ts.text());
  row.Set("type", "message");
  EncodePlace(message.place, message.ts, &row);
  EncodeTraits(message, &row);
  EncodeNewestBody(message, &row);
  row.SetTrue("deleted", message.deleted_ts.has_value());
  if (message.deleted_ts) row.Set("deleted_ts", message.deleted_ts->text());
  row.SetTrue("raw_event_dropped", message.raw_event_dropped);
  row.SetTrue("purged", message.purged);
  if (message.revision > 1) row.SetInt("revision", message.revision);
  EncodeFileProcessing(message, &row);
  return row.Build();
}

item::Item Encode(const Version& version) {
  RowBuilder row;
  row.Set("itemId", VersionsOf(version.place, version.ts));
  row.Set("timestamp", version.body.version.text());
  row.Set("type", "version");
  EncodePlace(version.place, version.ts, &row);
  EncodeBody(version.body, &row);
  return row.Build();
}

// The key says what the row is; the rest is taken as far as it is well formed, since a row may
// have been written by another program.
Result<Message> DecodeMessage(const item::Item& row) {
  auto place = PlaceOfMessages(TextIn(row, "itemId"));
  const auto ts = TimestampIn(row, "timestamp");
  if (!place || !ts) return NotA("message", row);
  Message message{.place = *std::move(place), .ts = *ts, .traits = DecodeTraits(row)};
  if (!IsTrueIn(row, "stub")) {
    message.body = DecodeBody(row, TimestampIn(row, "updated_ts").value_or(*ts));
  }
  // One that does not say when counts from its own time on: it stays deleted.
  if (IsTrueIn(row, "deleted")) message.deleted_ts = TimestampIn(row, "deleted_ts").value_or(*ts);
  message.raw_event_dropped = IsTrueIn(row, "raw_event_dropped");
  message.purged = IsTrueIn(row, "purged");
  message.revision = IntIn(row, "revision").value_or(1);
  message.files_s3 = DecodeFilesS3(row);
  message.files_fetch_failed = IsTrueIn(row, "files_fetch_failed");
  message.files_fetch_error = TextIn(row, "files_fetch_error");
  return message;
}

Result<Version> DecodeVersion(const item::Item& row) {
  auto team = slack::TeamId::Parse(TextIn(row, "team_id"));
  auto channel = slack::ChannelId::Parse(TextIn(row, "channel_id"));
  const auto ts = TimestampIn(row, "ts");
  const auto version = TimestampIn(row, "timestamp");
  if (TextIn(row, "type") != "version" || !team || !channel || !ts || !version) {
    return NotA("version of a message", row);
  }
  return Version{.place = {.team = *std::move(team), .channel = *std::move(channel)},
                 .ts = *ts,
                 .body = DecodeBody(row, *version)};
}

}  // namespace tidemark::archive
