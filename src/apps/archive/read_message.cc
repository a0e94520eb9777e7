#include <algorithm>
#include <array>
#include <utility>

#include "apps/archive/event_view.h"

namespace tidemark::archive {

namespace {

using slack::Timestamp;

constexpr std::array<std::string_view, 4> kJoinsAndLeaves = {"channel_join", "channel_leave",
                                                             "group_join", "group_leave"};
// With Enterprise Key Management, what Slack shows in place of a message that it cannot decrypt.
constexpr std::string_view kAccessDenied = "ekm_access_denied";
constexpr std::string_view kChanged = "message_changed";
constexpr std::string_view kReplied = "message_replied";

FileMeta ReadFile(const Json& file) {
  return {.id = TextIn(file, "id"),
          .name = TextIn(file, "name"),
          .title = TextIn(file, "title"),
          .mimetype = TextIn(file, "mimetype"),
          .filetype = TextIn(file, "filetype"),
          .size = IntegerIn(file, "size"),
          .url_private = TextIn(file, "url_private"),
          .mode = TextIn(file, "mode"),
          .is_external = IsTrueIn(file, "is_external"),
          .created = IntegerIn(file, "created"),
          .user = TextIn(file, "user")};
}

// Reads files[], or the single `file` of old exports. Sorted by id, each file once.
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

void SetSeen(const Timestamp& at, std::vector<FileMeta>* files) {
  for (FileMeta& file : *files) file.seen_ts = at.text();
}

std::string ReadThreadTs(const Json& message) {
  const auto thread_ts = TimestampIn(message, "thread_ts");
  return thread_ts ? thread_ts->text() : std::string();
}

// Slack adds the profile of the author to messages of people whom the receiver cannot look up. A
// bot's name is in a profile of its own.
std::string ReadAuthorName(const Json& message) {
  const MaybeJson profile = message.Find("user_profile");
  for (const std::string_view name : {"display_name", "real_name", "name"}) {
    std::string text = TextIn(profile, name);
    if (!text.empty()) return text;
  }
  return TextIn(message.Find("bot_profile"), "name");
}

Traits ReadTraits(const Json& message) {
  return {.user = TextIn(message, "user"),
          .bot_id = TextIn(message, "bot_id"),
          .username = TextIn(message, "username"),
          .author_name = ReadAuthorName(message),
          .subtype = TextIn(message, "subtype"),
          .thread_ts = ReadThreadTs(message),
          .files = ReadFiles(message)};
}

std::string ReadBlocks(const Json& message) {
  const MaybeJson blocks = message.Find("blocks");
  return blocks && blocks->Size() > 0 ? ToText(*blocks) : std::string();
}

Body ReadBody(const Json& message, const Timestamp& ts) {
  const MaybeJson edited = message.Find("edited");
  const auto edited_ts = TimestampIn(edited, "ts");
  const auto text = FindTextIn(message, "text");
  return {.version = edited_ts.value_or(ts),
          .event_ts = edited_ts.value_or(ts),
          .text = text ? std::optional<std::string>(*text) : std::nullopt,
          .blocks = ReadBlocks(message),
          .attachments = AttachmentsWithoutCopies(message),
          .edited_by = edited_ts ? TextIn(edited, "user") : std::string()};
}

// Whether the object shows the message itself, and not what Slack puts in its place.
bool ShowsMessage(const MaybeJson& message) {
  const std::string subtype = TextIn(message, "subtype");
  return message && subtype != kTombstoneSubtype && subtype != kAccessDenied;
}

// Slack adds a preview of each link in a message, some time after the post.
bool IsLinkPreview(const Json& attachment) {
  return attachment.Find("from_url") || attachment.Find("original_url") ||
         attachment.Find("app_unfurl_url");
}

enum class Previews { kLeftOut, kIncluded };

std::string ContentOf(const Json& message, Previews previews) {
  std::string content = TextIn(message, "text");
  if (const MaybeJson blocks = message.Find("blocks")) content += ToText(*blocks);
  if (const MaybeJson attachments = message.Find("attachments")) {
    for (const Json attachment : attachments->Elements()) {
      if (previews == Previews::kIncluded || !IsLinkPreview(attachment)) {
        content += ToText(attachment);
      }
    }
  }
  return content;
}

// What an edit changes: text, blocks, and attachments other than link previews.
std::string WrittenIn(const Json& message) { return ContentOf(message, Previews::kLeftOut); }
// What readers see.
std::string ShownBy(const Json& message) { return ContentOf(message, Previews::kIncluded); }

// A message_changed event. Slack sends it for edits, but also for link previews, new replies and
// more, and does not say which it is:
//   - When a person edits, `edited.ts` is new.
//   - When a bot updates its message, or somebody edits twice within a second, `edited` is missing
//     or as before. Only the content differs from previous_message. This is called a silent edit
//     here.
//   - Everything else is not an edit and makes no new version.
struct MessageChange {
  Json message;
  MaybeJson previous;
  Timestamp event_ts;
  bool is_reply = false;  // message_replied: never an edit.

  bool HasNewEditTime() const {
    const auto edited_ts = TimestampIn(FindIn(message, "edited"), "ts");
    return edited_ts && edited_ts != TimestampIn(FindIn(previous, "edited"), "ts");
  }
  bool IsSilentEdit() const {
    if (is_reply || HasNewEditTime()) return false;
    if (!previous) return true;
    // When a message reappears in place of its tombstone, the text differs too. That is no edit.
    return ShowsMessage(previous) && WrittenIn(message) != WrittenIn(*previous);
  }
  bool IsEdit() const { return !is_reply && (HasNewEditTime() || IsSilentEdit()); }
  // The event is about something around the message, such as its number of replies.
  bool ChangesNoContent() const {
    return is_reply || (previous && !IsEdit() && ShownBy(message) == ShownBy(*previous));
  }
};

// Reads a body that the event shows only as "how it was before". Such a body is marked as inferred:
// the event that was about it, when it arrives, has precedence (see IsBetter in message.cc).
std::optional<Observation> ReadInferred(const Json& message, const Timestamp& event_ts) {
  auto observation = ReadMessage(message, event_ts, {.raw_events = false});
  if (observation) observation->body.inferred = true;
  return observation;
}

// The message as it is after the change.
std::optional<Observation> ReadChanged(const MessageChange& change) {
  auto observation = ReadMessage(change.message, change.event_ts, {.raw_events = false});
  if (!observation) return std::nullopt;
  if (change.IsSilentEdit()) {
    // Without an edit time of its own, the version is the time of the event.
    observation->body.version = change.event_ts;
    observation->body.edited_by.clear();
  } else if (change.ChangesNoContent()) {
    // What the event is about is not the body, and the body in it may be without its blocks. It
    // only counts until the event that was about the body arrives.
    observation->body.inferred = true;
  } else if (!change.IsEdit() && MayBeSilentlyEdited(change.message)) {
    // The text may be that of an earlier silent edit. This event does not carry the time of that
    // edit, so it would file the text under the wrong version. As inferred it cannot replace what
    // is known of that version.
    observation->body.inferred = true;
  }
  return observation;
}

MaybeJson PreviousOf(const EventView& view) {
  const MaybeJson previous = view.event.Find("previous_message");
  return previous && previous->IsObject() ? previous : std::nullopt;
}

// Adds the body that previous_message shows, if it is about the same message.
void AddPreviousBody(const MaybeJson& previous, const EventView& view, bool keep_raw_event,
                     MessageNews* news) {
  if (!ShowsMessage(previous)) return;
  auto observation = ReadInferred(*previous, view.event_ts);
  if (!observation || observation->ts != news->ts) return;
  if (keep_raw_event) observation->body.raw_event = RawEvent(view);
  // After an edit its files are shown as they were before the edit.
  if (!keep_raw_event) SetSeen(observation->body.version, &observation->traits.files);
  news->observations.push_back(*std::move(observation));
}

MessageNews MessageNewsOf(const EventView& view, const slack::ChannelId& channel,
                          const Timestamp& ts) {
  return {
      .channel = channel, .scope = ScopeOf(channel, view.callback.event.channel_type), .ts = ts};
}

News ReadPlain(const EventView& view, const slack::ChannelId& channel) {
  if (view.callback.event.subtype == kTombstoneSubtype) return NotKept();
  auto observation = ReadMessage(view.event, view.event_ts, view.options);
  if (!observation) return Incomplete("a message without a valid ts");
  MessageNews news = MessageNewsOf(view, channel, observation->ts);
  news.observations.push_back(*std::move(observation));
  return news;
}

News ReadChange(const EventView& view, const slack::ChannelId& channel, const Json& message) {
  const auto ts = TimestampIn(message, "ts");
  if (!ts) return Incomplete("a changed message without a valid ts");
  const std::string subtype = TextIn(message, "subtype");
  if (!IsKeptAsMessage(subtype)) return NotKept();
  const MaybeJson previous = PreviousOf(view);
  MessageNews news = MessageNewsOf(view, channel, *ts);
  if (!ShowsMessage(message)) {
    // A tombstone means that the message was deleted. Of what it replaces only the thread is known.
    news.traits.thread_ts = ReadThreadTs(message);
    if (subtype != kTombstoneSubtype) return news;
    news.deleted_ts = view.event_ts;
    AddPreviousBody(previous, view, true, &news);
    return news;
  }
  const MessageChange change{.message = message,
                             .previous = previous,
                             .event_ts = view.event_ts,
                             .is_reply = view.callback.event.subtype != kChanged};
  auto observation = ReadChanged(change);
  if (!observation) return Incomplete("a changed message without a valid ts");
  observation->body.raw_event = RawEvent(view);
  news.observations.push_back(*std::move(observation));
  // After an edit the older body is never the newest one. Only the newest keeps its raw event.
  if (change.IsEdit()) AddPreviousBody(previous, view, false, &news);
  return news;
}

News ReadDeletion(const EventView& view, const slack::ChannelId& channel) {
  const MaybeJson previous = PreviousOf(view);
  auto ts = TimestampIn(view.event, "deleted_ts");
  if (!ts) ts = TimestampIn(previous, "ts");
  if (!ts) return Incomplete("a deletion that does not say of which message");
  if (!IsKeptAsMessage(TextIn(previous, "subtype"))) return NotKept();
  MessageNews news = MessageNewsOf(view, channel, *ts);
  news.deleted_ts = view.event_ts;
  AddPreviousBody(previous, view, true, &news);
  return news;
}

// A message that tells of a new topic, name and the like changes the channel, and is a message of
// it.
News ReadNotice(const EventView& view, std::string_view change) {
  News news = ReadChannelChange(view, change);
  auto* const channel = std::get_if<ScopedChannelNews>(&news);
  if (channel == nullptr) return news;
  News message = ReadPlain(view, channel->news.channel);
  if (auto* const notice = std::get_if<MessageNews>(&message)) {
    channel->notice = std::move(*notice);
    channel->news.raw_event.clear();  // The message has it, and may be deleted.
  }
  return news;
}

}  // namespace

bool MayBeSilentlyEdited(const Json& message) {
  return message.Find("bot_id") || message.Find("edited") ||
         FindTextIn(message, "subtype") == "bot_message";
}

bool IsKeptAsMessage(std::string_view subtype) {
  const bool joins_or_leaves =
      std::find(kJoinsAndLeaves.begin(), kJoinsAndLeaves.end(), subtype) != kJoinsAndLeaves.end();
  return !joins_or_leaves;
}

std::optional<Observation> ReadMessage(const Json& message,
                                       const std::optional<Timestamp>& event_ts,
                                       const ReadOptions& options) {
  const auto ts = TimestampIn(message, "ts");
  if (!ts || FindTextIn(message, "subtype") == kTombstoneSubtype) return std::nullopt;
  Observation observation{.ts = *ts, .traits = ReadTraits(message), .body = ReadBody(message, *ts)};
  if (event_ts) observation.body.event_ts = *event_ts;
  SetSeen(observation.body.event_ts, &observation.traits.files);
  if (options.raw_events) observation.body.raw_event = WithoutCopies(message);
  return observation;
}

News ReadMessageEvent(const EventView& view) {
  const std::string& subtype = view.callback.event.subtype;
  if (const auto change = ChannelChangeOf(subtype)) return ReadNotice(view, *change);
  if (!IsKeptAsMessage(subtype)) return NotKept();
  const auto channel = ParseChannelId(view.callback.event.channel);
  if (!channel) return Incomplete("a message without a valid channel");
  if (subtype == "message_deleted") return ReadDeletion(view, *channel);
  const MaybeJson message = view.event.Find("message");
  const bool has_inner = message && message->IsObject();
  if (subtype == kChanged && !has_inner) return Incomplete("a change without its message");
  // Slack's own bug: message_replied events arrive without their subtype. A message inside a
  // message is how to recognise them.
  if (has_inner && (subtype == kChanged || subtype == kReplied || subtype.empty())) {
    return ReadChange(view, *channel, *message);
  }
  return ReadPlain(view, *channel);
}

}  // namespace tidemark::archive
