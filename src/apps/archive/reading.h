// What an event means to the archive. A pure function of the bytes Slack sent: it reads no table
// and no clock, and never fails on a field that is missing, of another kind, or new.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/archive/channel.h"
#include "apps/archive/message.h"
#include "base/result.h"
#include "slack/event.h"
#include "slack/ids.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

// What is known, from the event alone, about whether its channel may be archived.
enum class Scope {
  kPublic,   // It is public.
  kPrivate,  // A direct conversation: never.
  kAsk,      // What is recorded of the channel decides.
};

struct MessageNews {
  slack::ChannelId channel;
  Scope scope = Scope::kAsk;
  slack::Timestamp ts;
  std::vector<Observation> observations = {};
  Traits traits = {};  // Told without a body: of a message that Slack shows no longer.
  std::optional<slack::Timestamp> deleted_ts = std::nullopt;
};

// The scope of ChannelNews is public, or asked for, or believed (an id change).
struct ScopedChannelNews {
  ChannelNews news;
  Scope scope = Scope::kAsk;
};

struct ReactionNews {
  slack::ChannelId channel;
  slack::Timestamp ts;  // Of the message.
  std::string reaction;
  std::string user;
  bool removed = false;
  slack::Timestamp event_ts;
};

struct PinNews {
  slack::ChannelId channel;
  slack::Timestamp ts;
  std::string user;
  bool removed = false;
  slack::Timestamp event_ts;
};

struct UserNews {
  std::string user;
  std::string name = {};
  std::string real_name = {};
  std::string display_name = {};
  std::string avatar = {};  // Its URL.
  bool is_bot = false;
  bool deactivated = false;
  slack::Timestamp event_ts;
};

struct TeamNews {
  std::string name = {};
  std::string domain = {};
  slack::Timestamp event_ts;
};

struct EmojiNews {
  struct Change {
    std::string name;
    std::string value = {};  // A URL, or "alias:other".
    bool removed = false;
  };
  std::vector<Change> changes;
  slack::Timestamp event_ts;
};

enum class CoverageKind { kBegan, kEnded, kLost, kImported };
std::string_view ToString(CoverageKind kind);

struct CoverageNews {
  std::optional<slack::ChannelId> channel = std::nullopt;  // nullopt: all.
  CoverageKind kind = CoverageKind::kBegan;
  slack::Timestamp from;
  std::optional<slack::Timestamp> to = std::nullopt;
  std::string reason = {};
  Scope scope = Scope::kPublic;  // Of the channel.
};

// Nothing of it is kept.
struct NoNews {
  enum class Why {
    kUnknownType,  // Not an event that the archive knows of.
    kNotKept,      // Known, and left out: joins and leaves, mentions, files on their own.
    kIncomplete,   // Without a team, channel or time that it needs, or with one that is none.
  };
  Why why = Why::kNotKept;
  std::string detail = {};
};

using News = std::variant<MessageNews, ScopedChannelNews, ReactionNews, PinNews, UserNews, TeamNews,
                          EmojiNews, CoverageNews, NoNews>;

struct ReadOptions {
  bool raw_events = true;
};

// `body` is the text that the callback was parsed from.
News ReadEvent(const slack::EventCallback& callback, std::string_view body,
               const ReadOptions& options);

// Whether a message of the subtype is a message to the archive. Joins and leaves are left out, and
// changes of the channel, such as its topic, are kept with the channel.
bool IsKeptAsMessage(std::string_view subtype);

// A message as it stands in an export or in another event: nullopt when it has no proper ts, or is
// a tombstone, which has nothing of the message.
// `event_ts` is the time of the event that shows it; nullopt takes the body's own.
std::optional<Observation> ReadMessage(const Json& message,
                                       const std::optional<slack::Timestamp>& event_ts,
                                       const ReadOptions& options);
// A user object, as in users.json and in user_change.
std::optional<UserNews> ReadUser(const Json& user, const slack::Timestamp& event_ts);

}  // namespace tidemark::archive
