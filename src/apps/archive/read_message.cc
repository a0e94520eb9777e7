#include <algorithm>
#include <array>
#include <utility>

#include "apps/archive/event_reading.h"

namespace tidemark::archive {

namespace {

using slack::Timestamp;

constexpr std::array<std::string_view, 4> kJoinsAndLeaves = {"channel_join", "channel_leave",
                                                             "group_join", "group_leave"};
// What Slack shows in the place of a message: a text of its own, by a user of its own.
constexpr std::string_view kTombstone = "tombstone";
constexpr std::string_view kAccessDenied = "ekm_access_denied";
constexpr std::string_view kChanged = "message_changed";
constexpr std::string_view kReplied = "message_replied";

FileMeta ReadFile(const Json& file) {
  return {.id = TextIn(file, "id"),
          .name = TextIn(file, "name"),
          .title = TextIn(file, "title"),
          .mimetype = TextIn(file, "mimetype"),
          .filetype = TextIn(file, "filetype"),
          .size = IntIn(file, "size"),
          .url_private = TextIn(file, "url_private"),
          .mode = TextIn(file, "mode"),
          .is_external = IsTrueIn(file, "is_external"),
          .created = IntIn(file, "created"),
          .user = TextIn(file, "user")};
}

// files[], or the single file of old exports; sorted by id, each once.
std::vector<FileMeta> ReadFiles(const Json& message) {
  Traits traits;
  const auto add = [&](const Json& file) {
    FileMeta meta = ReadFile(file);
    if (!meta.id.empty()) Join(Traits{.files = {std::move(meta)}}, &traits);
  };
  if (const MaybeJson files = message.Find("files")) {
    for (const Json file : files->Elements()) add(file);
  }
  const MaybeJson file = message.Find("file");
  if (traits.files.empty() && file && file->IsObject()) add(*file);
  return std::move(traits.files);
}

std::string ReadThreadTs(const Json& message) {
  const auto thread_ts = TimestampIn(message, "thread_ts");
  return thread_ts ? thread_ts->text() : std::string();
}

Traits ReadTraits(const Json& message) {
  return {.user = TextIn(message, "user"),
          .bot_id = TextIn(message, "bot_id"),
          .username = TextIn(message, "username"),
          .subtype = TextIn(message, "subtype"),
          .thread_ts = ReadThreadTs(message),
          .files = ReadFiles(message)};
}

Body ReadBody(const Json& message, const Timestamp& ts) {
  const MaybeJson edited = message.Find("edited");
  const auto edited_ts = TimestampIn(edited, "ts");
  const auto text = FindTextIn(message, "text");
  return {.version = edited_ts.value_or(ts),
          .event_ts = edited_ts.value_or(ts),
          .text = text ? std::optional<std::string>(*text) : std::nullopt,
          .edited_by = edited_ts ? TextIn(edited, "user") : std::string()};
}

bool IsTold(const MaybeJson& message) {
  const std::string subtype = TextIn(message, "subtype");
  return message && subtype != kTombstone && subtype != kAccessDenied;
}

bool IsByBot(const Json& message) {
  return message.Find("bot_id") || FindTextIn(message, "subtype") == "bot_message";
}

// An edit by a person has a new `edited`; a program's may have none, and then its text differs.
// All else that changes a message (link previews, replies) is no edit.
struct Change {
  Json message;
  MaybeJson previous;
  Timestamp event_ts;
  bool is_reply = false;  // Tells of a reply to the message, and never of an edit.

  bool HasNewEditTime() const {
    const auto edited_ts = TimestampIn(FindIn(message, "edited"), "ts");
    return edited_ts && edited_ts != TimestampIn(FindIn(previous, "edited"), "ts");
  }
  bool IsSilentEdit() const {
    if (is_reply || HasNewEditTime()) return false;
    if (!previous) return true;
    // A message that comes back from behind a tombstone is no edit.
    return IsTold(previous) && FindTextIn(message, "text") != FindTextIn(previous, "text");
  }
  bool IsEdit() const { return !is_reply && (HasNewEditTime() || IsSilentEdit()); }
};

std::optional<Observation> ReadInPassing(const Json& message, const Timestamp& event_ts) {
  auto observation = ReadMessage(message, event_ts, {.raw_events = false});
  if (observation) observation->body.inferred = true;
  return observation;
}

// What a change shows of the message as it is now.
std::optional<Observation> ReadChanged(const Change& change) {
  auto observation = ReadMessage(change.message, change.event_ts, {.raw_events = false});
  if (!observation) return std::nullopt;
  if (change.IsSilentEdit()) {
    observation->body.version = change.event_ts;
    observation->body.edited_by.clear();
  } else if (!change.IsEdit() && IsByBot(change.message)) {
    // The text of a program's message may be that of a silent edit, of which only the edit itself
    // tells the time: it must not replace what is known of the version.
    observation->body.inferred = true;
  }
  return observation;
}

MaybeJson PreviousOf(const EventView& view) {
  const MaybeJson previous = view.event.Find("previous_message");
  return previous && previous->IsObject() ? previous : std::nullopt;
}

// Adds what the event says in passing of the message as it was before.
void AddPrevious(const MaybeJson& previous, const EventView& view, bool keep_raw_event,
                 MessageNews* news) {
  if (!IsTold(previous)) return;
  auto observation = ReadInPassing(*previous, view.event_ts);
  if (!observation || observation->ts != news->ts) return;
  if (keep_raw_event) observation->body.raw_event = RawEvent(view);
  news->observations.push_back(*std::move(observation));
}

MessageNews NewsOf(const EventView& view, const slack::ChannelId& channel, const Timestamp& ts) {
  return {
      .channel = channel, .scope = ScopeOf(channel, view.callback.event.channel_type), .ts = ts};
}

News ReadPlain(const EventView& view, const slack::ChannelId& channel) {
  if (view.callback.event.subtype == kTombstone) return NotKept();
  auto observation = ReadMessage(view.event, view.event_ts, view.options);
  if (!observation) return Incomplete("a message without a proper ts");
  MessageNews news = NewsOf(view, channel, observation->ts);
  news.observations.push_back(*std::move(observation));
  return news;
}

News ReadChange(const EventView& view, const slack::ChannelId& channel, const Json& message) {
  const auto ts = TimestampIn(message, "ts");
  if (!ts) return Incomplete("a changed message without a proper ts");
  const std::string subtype = TextIn(message, "subtype");
  if (!IsKeptAsMessage(subtype)) return NotKept();
  const MaybeJson previous = PreviousOf(view);
  MessageNews news = NewsOf(view, channel, *ts);
  if (!IsTold(message)) {
    news.traits.thread_ts = ReadThreadTs(message);
    if (subtype != kTombstone) return news;
    news.deleted_ts = view.event_ts;
    AddPrevious(previous, view, true, &news);
    return news;
  }
  const Change change{.message = message,
                      .previous = previous,
                      .event_ts = view.event_ts,
                      .is_reply = view.callback.event.subtype != kChanged};
  auto observation = ReadChanged(change);
  if (!observation) return Incomplete("a changed message without a proper ts");
  observation->body.raw_event = RawEvent(view);
  news.observations.push_back(*std::move(observation));
  // Behind an edit the older body is never the one that is shown, so it needs no raw event.
  if (change.IsEdit()) AddPrevious(previous, view, false, &news);
  return news;
}

News ReadDeletion(const EventView& view, const slack::ChannelId& channel) {
  const MaybeJson previous = PreviousOf(view);
  auto ts = TimestampIn(view.event, "deleted_ts");
  if (!ts) ts = TimestampIn(previous, "ts");
  if (!ts) return Incomplete("a deletion that does not say of which message");
  if (!IsKeptAsMessage(TextIn(previous, "subtype"))) return NotKept();
  MessageNews news = NewsOf(view, channel, *ts);
  news.deleted_ts = view.event_ts;
  AddPrevious(previous, view, true, &news);
  return news;
}

}  // namespace

bool IsKeptAsMessage(std::string_view subtype) {
  const bool joins_or_leaves =
      std::find(kJoinsAndLeaves.begin(), kJoinsAndLeaves.end(), subtype) != kJoinsAndLeaves.end();
  return !joins_or_leaves && !ChannelChangeOf(subtype);
}

std::optional<Observation> ReadMessage(const Json& message,
                                       const std::optional<Timestamp>& event_ts,
                                       const ReadOptions& options) {
  const auto ts = TimestampIn(message, "ts");
  if (!ts || FindTextIn(message, "subtype") == kTombstone) return std::nullopt;
  Observation observation{.ts = *ts, .traits = ReadTraits(message), .body = ReadBody(message, *ts)};
  if (event_ts) observation.body.event_ts = *event_ts;
  if (options.raw_events) observation.body.raw_event = ToText(message);
  return observation;
}

News ReadMessageEvent(const EventView& view) {
  const std::string& subtype = view.callback.event.subtype;
  if (const auto change = ChannelChangeOf(subtype)) return ReadChannelChange(view, *change);
  if (!IsKeptAsMessage(subtype)) return NotKept();
  const auto channel = ParseChannelId(view.callback.event.channel);
  if (!channel) return Incomplete("a message without a proper channel");
  if (subtype == "message_deleted") return ReadDeletion(view, *channel);
  const MaybeJson message = view.event.Find("message");
  const bool has_inner = message && message->IsObject();
  if (subtype == kChanged && !has_inner) return Incomplete("a change without its message");
  // Slack leaves the subtype message_replied away: a message in a message is what is left of it.
  if (has_inner && (subtype == kChanged || subtype == kReplied || subtype.empty())) {
    return ReadChange(view, *channel, *message);
  }
  return ReadPlain(view, *channel);
}

}  // namespace tidemark::archive
