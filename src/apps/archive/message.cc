#include "apps/archive/message.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "apps/archive/attributes.h"

namespace tidemark::archive {

namespace {

// A file from Slack Connect of which the event has only the id.
constexpr std::string_view kStubMode = "file_access";

// When two events disagree, the greater text wins. The rule is arbitrary on purpose: it must only
// not depend on the order of arrival, and Slack does not send two different authors or threads.
void JoinText(const std::string& told, std::string* known) {
  if (*known < told) *known = told;
}

// Anything is better than a stub. Otherwise the one that a later event showed wins. Of two from the
// same time the greater one wins, which is arbitrary but does not depend on the order of arrival.
bool IsBetter(const FileMeta& told, const FileMeta& known) {
  const auto order = [](const FileMeta& file) {
    return std::tuple(file.mode != kStubMode, std::string_view(file.seen_ts));
  };
  return order(known) == order(told) ? known < told : order(known) < order(told);
}

void JoinFile(const FileMeta& told, std::vector<FileMeta>* files) {
  const auto at = std::lower_bound(
      files->begin(), files->end(), told,
      [](const FileMeta& left, const FileMeta& right) { return left.id < right.id; });
  if (at == files->end() || at->id != told.id) {
    files->insert(at, told);
  } else if (IsBetter(told, *at)) {
    *at = told;
  }
}

// Which of two bodies of the same version to keep:
//   1. A body that an event was about is better than an inferred one.
//   2. Of two direct ones the later event is better: it may have added link previews.
//   3. Of two inferred ones the earlier event is better: it is nearer to the time of the body.
// Two bodies with the same event_ts come from the same event, so nothing is lost by keeping either.
bool IsBetter(const Body& told, const Body& known) {
  if (told.inferred != known.inferred) return known.inferred;
  return told.inferred ? told.event_ts < known.event_ts : told.event_ts > known.event_ts;
}

// Whether both are edits that people or programs made, of the same time by Slack's clock. Two
// events about edits are two edits, whatever they show. The original has one event only; if another
// one shows it, that one may have added link previews (see IsBetter).
bool AreDifferentEdits(const Body& left, const Body& right, const slack::Timestamp& ts) {
  const bool are_direct = !left.inferred && !right.inferred;
  return are_direct && left.version != ts && left.event_ts != right.event_ts;
}

// Of two different edits of the same time the earlier one keeps that time as its version. The later
// one gets the time of its event, like an edit without a time of its own. Which one arrived first
// does not matter.
void KeepBetter(Body told, const slack::Timestamp& ts, std::map<slack::Timestamp, Body>* bodies) {
  const auto [at, is_new] = bodies->try_emplace(told.version, told);
  if (is_new) return;
  Body& known = at->second;
  if (AreDifferentEdits(told, known, ts)) {
    Body later = std::max(told, known, [](const Body& left, const Body& right) {
      return left.event_ts < right.event_ts;
    });
    // Otherwise it has its place already.
    if (later.version != later.event_ts) {
      if (told.event_ts < known.event_ts) known = std::move(told);
      later.version = later.event_ts;
      return KeepBetter(std::move(later), ts, bodies);
    }
  }
  if (IsBetter(told, known)) known = std::move(told);
}

// All known bodies are compared, because a body that an event was about may take the place of an
// inferred one and, within a second, be older than it.
void JoinBody(const Body& told, MessageState* state) {
  std::optional<Body>& newest = state->message.body;
  std::map<slack::Timestamp, Body>& bodies = state->older;
  const slack::Timestamp& ts = state->message.ts;
  if (newest) KeepBetter(*std::move(newest), ts, &bodies);
  KeepBetter(told, ts, &bodies);
  const auto last = std::max_element(
      bodies.begin(), bodies.end(),
      [&](const auto& left, const auto& right) { return IsOlder(left.second, right.second, ts); });
  newest = std::move(last->second);
  bodies.erase(last);
}

// Both lists are sorted.
template <typename T>
void AddMissing(const std::vector<T>& told, std::vector<T>* known) {
  std::vector<T> all;
  std::ranges::set_union(*known, told, std::back_inserter(all));
  *known = std::move(all);
}

}  // namespace

std::vector<FileMeta> ShownFiles(const Message& message) {
  std::vector<FileMeta> files = message.traits.files;
  for (FileMeta& file : files) {
    const auto info = std::ranges::find(message.files_info, file.id, &FileMeta::id);
    if (file.mode != kStubMode || info == message.files_info.end()) continue;
    if (file.name.empty()) file.name = info->name;
    if (file.mimetype.empty()) file.mimetype = info->mimetype;
    if (file.size == 0) file.size = info->size;
  }
  return files;
}

bool AreSameFiles(std::vector<FileMeta> left, std::vector<FileMeta> right) {
  for (std::vector<FileMeta>* const files : {&left, &right}) {
    for (FileMeta& file : *files) file.seen_ts.clear();
    std::ranges::sort(*files);
  }
  return left == right;
}

bool IsOlder(const Body& left, const Body& right, const slack::Timestamp& ts) {
  const auto order = [&](const Body& body) {
    const bool is_edit = body.version != ts;
    const bool is_direct = !body.inferred;
    return std::tuple(body.version.seconds(), is_edit, body.event_ts, is_direct, body.version);
  };
  return order(left) < order(right);
}

void Join(const Traits& told, Traits* known) {
  JoinText(told.user, &known->user);
  JoinText(told.bot_id, &known->bot_id);
  JoinText(told.username, &known->username);
  JoinText(told.author_name, &known->author_name);
  JoinText(told.subtype, &known->subtype);
  JoinText(told.thread_ts, &known->thread_ts);
  for (const FileMeta& file : told.files) JoinFile(file, &known->files);
}

void Join(const Observation& observation, MessageState* state) {
  if (state->message.purged) return;
  Join(observation.traits, &state->message.traits);
  JoinBody(observation.body, state);
}

void JoinDeletion(const slack::Timestamp& deleted_ts, MessageState* state) {
  std::optional<slack::Timestamp>& known = state->message.deleted_ts;
  if (!known || deleted_ts < *known) known = deleted_ts;
}

// It may take the place of the newest body, which another id of the channel only inferred. Then the
// newest one is found again among all.
void JoinVersion(const Body& told, MessageState* state) { JoinBody(told, state); }

void JoinRow(const Message& told, MessageState* state) {
  Message& known = state->message;
  Join(told.traits, &known.traits);
  if (told.body) JoinBody(*told.body, state);
  if (told.deleted_ts) JoinDeletion(*told.deleted_ts, state);
  known.purged = known.purged || told.purged;
  AddMissing(told.files_s3, &known.files_s3);
  AddMissing(told.files_info, &known.files_info);
  known.files_fetch_failed = known.files_fetch_failed || told.files_fetch_failed;
  JoinText(told.files_fetch_error, &known.files_fetch_error);
}

// ---- The rows ----

namespace {

using slack::Timestamp;

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

// Most files are only seen when the message is posted. Only later times are stored.
item::Item EncodeSeen(const Message& message) {
  item::Item seen;
  for (const FileMeta& file : message.traits.files) {
    if (!file.seen_ts.empty() && file.seen_ts != message.ts.text()) seen.Set(file.id, file.seen_ts);
  }
  return seen;
}

void DecodeSeen(const item::Item& row, const Timestamp& ts, std::vector<FileMeta>* files) {
  const item::Value* const value = row.Find("files_seen");
  const auto* const seen = value ? value->As<item::Map>() : nullptr;
  for (FileMeta& file : *files) {
    file.seen_ts = seen ? TextIn(*seen, file.id) : "";
    if (file.seen_ts.empty()) file.seen_ts = ts.text();
  }
}

void EncodeTraits(const Message& message, RowBuilder* row) {
  const Traits& traits = message.traits;
  row->SetText("user", traits.user);
  row->SetText("bot_id", traits.bot_id);
  row->SetText("username", traits.username);
  row->SetText("author_name", traits.author_name);
  row->SetText("subtype", traits.subtype);
  row->SetText("thread_ts", traits.thread_ts);
  if (const auto thread_ts = ParseTimestamp(traits.thread_ts)) {
    row->Set("parent", ThreadOf(message.place.team, *thread_ts));
  }
  if (!traits.files.empty()) row->Set("files", EncodeFiles(traits.files));
  item::Item seen = EncodeSeen(message);
  if (!seen.empty()) row->Set("files_seen", std::move(seen));
}

Traits DecodeTraits(const item::Item& row) {
  const item::Value* files = row.Find("files");
  return {.user = TextIn(row, "user"),
          .bot_id = TextIn(row, "bot_id"),
          .username = TextIn(row, "username"),
          .author_name = TextIn(row, "author_name"),
          .subtype = TextIn(row, "subtype"),
          .thread_ts = TextIn(row, "thread_ts"),
          .files = files ? DecodeFiles(*files) : std::vector<FileMeta>()};
}

// Everything except the version, which a message has in updated_ts and an older body in its key.
void EncodeBody(const Body& body, RowBuilder* row) {
  if (body.text) row->Set("text", *body.text);
  if (body.raw_event.empty() && body.raw_event_object.empty()) {
    row->SetText("blocks", body.blocks);
    row->SetText("attachments", body.attachments);
  }
  row->SetText("edited_by", body.edited_by);
  if (body.event_ts != body.version) row->Set("event_ts", body.event_ts.text());
  row->SetTrue("inferred", body.inferred);
  row->SetText("raw_event", body.raw_event);
  row->SetTrue("raw_event_dropped", body.raw_event_dropped);
  row->SetText("raw_event_object", body.raw_event_object);
}

Body DecodeBody(const item::Item& row, const Timestamp& version) {
  return {.version = version,
          .event_ts = TimestampIn(row, "event_ts").value_or(version),
          .inferred = IsTrueIn(row, "inferred"),
          .text = MaybeTextIn(row, "text"),
          .blocks = TextIn(row, "blocks"),
          .attachments = TextIn(row, "attachments"),
          .edited_by = TextIn(row, "edited_by"),
          .raw_event = TextIn(row, "raw_event"),
          .raw_event_dropped = IsTrueIn(row, "raw_event_dropped"),
          .raw_event_object = TextIn(row, "raw_event_object")};
}

void EncodeNewestBody(const Message& message, RowBuilder* row) {
  row->SetTrue("stub", !message.body);
  if (!message.body) return;
  if (message.body->version != message.ts) row->Set("updated_ts", message.body->version.text());
  EncodeBody(*message.body, row);
}

void EncodeFileProcessing(const Message& message, RowBuilder* row) {
  if (!message.files_s3.empty()) row->Set("files_s3", item::StringSet(message.files_s3));
  row->SetTrue("files_fetch_failed", message.files_fetch_failed);
  row->SetText("files_fetch_error", message.files_fetch_error);
  if (!message.files_info.empty()) row->Set("files_info", EncodeFiles(message.files_info));
}

std::vector<std::string> DecodeFilesS3(const item::Item& row) {
  const item::Value* value = row.Find("files_s3");
  const auto* uris = value ? value->As<item::StringSet>() : nullptr;
  return uris ? uris->members() : std::vector<std::string>();
}

// The attributes that messages and versions share.
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
  row.SetTrue("purged", message.purged);
  row.SetTrue("imported", message.imported);
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

// Only the key must be right. Another program may have written the row, so every other attribute
// that is missing or malformed counts as not known.
Result<Message> DecodeMessage(const item::Item& row) {
  auto place = PlaceOfMessages(TextIn(row, "itemId"));
  const auto ts = TimestampIn(row, "timestamp");
  if (!place || !ts) return NotA("a message", row);
  Message message{.place = *std::move(place), .ts = *ts, .traits = DecodeTraits(row)};
  DecodeSeen(row, *ts, &message.traits.files);
  if (!IsTrueIn(row, "stub")) {
    message.body = DecodeBody(row, TimestampIn(row, "updated_ts").value_or(*ts));
  }
  // A deleted row without a time stays deleted, as if it had been deleted when it was posted.
  if (IsTrueIn(row, "deleted")) message.deleted_ts = TimestampIn(row, "deleted_ts").value_or(*ts);
  message.purged = IsTrueIn(row, "purged");
  message.imported = IsTrueIn(row, "imported");
  message.revision = IntIn(row, "revision").value_or(1);
  message.files_s3 = DecodeFilesS3(row);
  message.files_fetch_failed = IsTrueIn(row, "files_fetch_failed");
  message.files_fetch_error = TextIn(row, "files_fetch_error");
  if (const item::Value* const info = row.Find("files_info")) {
    message.files_info = DecodeFiles(*info);
  }
  return message;
}

Result<Version> DecodeVersion(const item::Item& row) {
  auto team = slack::TeamId::Parse(TextIn(row, "team_id"));
  auto channel = slack::ChannelId::Parse(TextIn(row, "channel_id"));
  const auto ts = TimestampIn(row, "ts");
  const auto version = TimestampIn(row, "timestamp");
  if (TextIn(row, "type") != "version" || !team || !channel || !ts || !version) {
    return NotA("a version of a message", row);
  }
  return Version{.place = {.team = *std::move(team), .channel = *std::move(channel)},
                 .ts = *ts,
                 .body = DecodeBody(row, *version)};
}

}  // namespace tidemark::archive
