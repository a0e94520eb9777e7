#include "apps/archive/import_row.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/event_view.h"
#include "apps/archive/json_fields.h"
#include "slack/event.h"

namespace tidemark::archive {

namespace {

// Messages of these subtypes are about another message: they are events, written down as rows.
constexpr std::array<std::string_view, 3> kMessageEvents = {"message_changed", "message_deleted",
                                                            "message_replied"};

// Whether the row is more than a message. It is then read as the event that Slack sent of it, so
// that the import and the listener share one set of rules.
bool IsEvent(std::string_view subtype) {
  return !IsKeptAsMessage(subtype) || ChannelChangeOf(subtype) ||
         std::find(kMessageEvents.begin(), kMessageEvents.end(), subtype) != kMessageEvents.end();
}

// Builds the event: the row, with the envelope, channel and time that a row of an export lacks.
std::string EventOf(const Json& row, const ImportContext& context, const slack::Timestamp& ts) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("type");
  writer.String("event_callback");
  writer.Key("team_id");
  writer.String(context.place.team.text());
  writer.Key("event_time");
  writer.Int(ts.seconds());
  writer.Key("event");
  writer.BeginObject();
  for (const auto& [name, value] : row.Members()) {
    if (name == "channel" || name == "channel_type" || name == "event_ts") continue;
    writer.Key(name);
    writer.Raw(ToText(value));
  }
  writer.Key("channel");
  writer.String(context.place.channel.text());
  writer.Key("channel_type");
  writer.String(context.is_public ? "channel" : "group");
  writer.Key("event_ts");
  writer.String(ts.text());
  writer.EndObject();
  writer.EndObject();
  return text;
}

ImportedRow FromNews(News news, const ImportContext& context) {
  if (auto* message = std::get_if<MessageNews>(&news)) {
    message->scope = Scope::kPublic;
    message->is_import = true;
    return ImportedMessage{.news = std::move(*message)};
  }
  if (auto* channel = std::get_if<ScopedChannelNews>(&news)) {
    channel->scope = Scope::kPublic;
    if (channel->notice) channel->notice->is_import = true;
    // `--with-private` imports a private channel without making it public: otherwise the listener
    // would keep its later events.
    channel->news.implies_public = channel->news.implies_public && context.is_public;
    channel->news.was_public = channel->news.was_public && context.is_public;
    return std::move(*channel);
  }
  const auto* none = std::get_if<NoNews>(&news);
  if (none != nullptr && none->why == NoNews::Why::kIncomplete) return BadRow{none->detail};
  return LeftOut{};
}

ImportedRow ReadAsEvent(const Json& row, const ImportContext& context, const slack::Timestamp& ts) {
  const std::string body = EventOf(row, context, ts);
  const Result<slack::Envelope> envelope = slack::ParseEnvelope(body);
  const auto* callback = envelope ? std::get_if<slack::EventCallback>(&*envelope) : nullptr;
  if (callback == nullptr) return BadRow{"the row does not have the fields that its subtype needs"};
  return FromNews(ReadEvent(*callback, context.read), context);
}

// The name becomes part of a key, where '#' separates the parts.
bool IsReactionName(std::string_view name) {
  return !name.empty() && name.size() <= 100 && name.find('#') == std::string_view::npos;
}

// A message lists its reactions without their times. They get the time of the message: so any event
// about them is newer, and wins.
void AddReactions(const Json& row, const slack::ChannelId& channel, const slack::Timestamp& ts,
                  std::vector<ReactionNews>* reactions) {
  const auto list = row.Find("reactions");
  if (!list) return;
  for (const Json reaction : list->Elements()) {
    const std::string_view name = FindTextIn(reaction, "name").value_or("");
    const auto users = reaction.Find("users");
    if (!IsReactionName(name) || !users) continue;
    // Slack names only some of the people when there are many.
    const int64_t count = IntegerIn(reaction, "count");
    if (count > static_cast<int64_t>(users->Size())) {
      reactions->push_back({.channel = channel,
                            .ts = ts,
                            .reaction = std::string(name),
                            .user = "",
                            .event_ts = ts,
                            .count = count});
    }
    for (const Json user : users->Elements()) {
      const auto id = slack::UserId::Parse(user.AsString().value_or(""));
      if (!id) continue;
      reactions->push_back({.channel = channel,
                            .ts = ts,
                            .reaction = std::string(name),
                            .user = id->text(),
                            .event_ts = ts});
    }
  }
}

// Exports that include the edit log show the body before the edit in `previous`.
void AddLoggedBody(const Json& row, const slack::Timestamp& event_ts, MessageNews* news) {
  const auto previous = row.Find("previous");
  if (!previous || FindTextIn(*previous, "subtype").value_or("") == kTombstoneSubtype) return;
  auto observation = ReadMessage(*previous, event_ts, {.raw_events = false});
  if (!observation || observation->ts != news->ts) return;
  observation->body.inferred = true;
  news->observations.push_back(*std::move(observation));
}

}  // namespace

ImportedRow ReadImportedRow(const Json& row, const ImportContext& context) {
  if (!row.IsObject()) return BadRow{"a row is not an object"};
  const auto ts = TimestampIn(row, "ts");
  if (!ts)
    return BadRow{fmt::format("a row's ts is not a Slack timestamp: '{}'",
                              FindTextIn(row, "ts").value_or("").substr(0, 40))};
  const std::string_view subtype = FindTextIn(row, "subtype").value_or("");
  if (IsEvent(subtype)) return ReadAsEvent(row, context, *ts);
  ImportedMessage message{
      .news = {
          .channel = context.place.channel, .scope = Scope::kPublic, .ts = *ts, .is_import = true}};
  if (subtype == kTombstoneSubtype) {
    if (const auto thread_ts = TimestampIn(row, "thread_ts")) {
      message.news.traits.thread_ts = thread_ts->text();
    }
    message.news.deleted_ts = context.now;
    return message;
  }
  auto observation = ReadMessage(row, std::nullopt, context.read);
  if (!observation) return BadRow{"a row is not a message"};
  observation->body.inferred = MayBeSilentlyEdited(row);
  const slack::Timestamp version = observation->body.version;
  message.news.observations.push_back(*std::move(observation));
  AddLoggedBody(row, version, &message.news);
  AddReactions(row, context.place.channel, *ts, &message.reactions);
  return message;
}

}  // namespace tidemark::archive
