// Reads Slack's events and messages: JSON in, News out.
//
// Everything here is a pure function of what Slack sent. It reads no table and no clock, and no
// missing, malformed or new field makes it fail: the answer is then NoNews, or the field is empty.
// One file for each group of events: read_message.cc, read_channel.cc, read_other.cc.
#pragma once

#include <optional>
#include <string_view>

#include "apps/archive/message.h"
#include "apps/archive/news.h"
#include "base/json.h"
#include "slack/entities.h"
#include "slack/event.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

struct ReadOptions {
  bool raw_events = true;  // Whether the JSON itself is kept beside what was read from it.
};

// What a message shows once it is deleted and still has replies. Its text is Slack's own.
inline constexpr std::string_view kTombstoneSubtype = "tombstone";

// Reads the JSON document that the callback keeps.
News ReadEvent(const slack::EventCallback& callback, const ReadOptions& options);

// Whether a message of the subtype is kept as a message. Joins and leaves are not kept. Changes of
// the channel, such as a new topic, are kept in the channel's row too.
bool IsKeptAsMessage(std::string_view subtype);

// Whether the text of the message may be that of an edit that left no time in it: a bot edits
// without a mark, and a second edit within a second has the time of the first. Such a text does not
// count as the one of the time that it has.
bool MayBeSilentlyEdited(const Json& message);

// A message object, as in an export or inside another event. `event_ts` is the time of the event
// that shows it; with nullopt the time of the message's own body counts. nullopt when its ts is
// missing or malformed, and for a tombstone, which shows nothing of the message.
std::optional<Observation> ReadMessage(const Json& message,
                                       const std::optional<slack::Timestamp>& event_ts,
                                       const ReadOptions& options);

// A user object, as in users.json and in user_change. nullopt when its id is missing or malformed.
std::optional<UserNews> ReadUser(const Json& user, const slack::Timestamp& event_ts);

// What Slack's lists and look-ups say, without an event, at the time at which Slack was asked.
UserNews NewsOf(slack::Person person, const slack::Timestamp& at);
// nullopt when its id is malformed.
std::optional<ScopedChannelNews> NewsOf(const slack::Conversation& conversation,
                                        const slack::Timestamp& at);

}  // namespace tidemark::archive
