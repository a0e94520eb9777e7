// News is what one event, or one row of an export, tells the archive: a struct for each kind of
// thing it can be about. read_event.h makes it from an event, import_row.h from a row of an export,
// and the planner (planner.h) works out what it changes in the table.
//
// Plain values: they know nothing of tables, clocks or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/archive/channel.h"
#include "apps/archive/message.h"
#include "slack/ids.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

// What the event alone says about whether its channel may be archived.
enum class Scope {
  kPublic,   // The channel is public: keep it.
  kPrivate,  // A direct conversation: never keep it.
  kAsk,      // The event does not say. What the table has about the channel decides.
};

struct MessageNews {
  slack::ChannelId channel;
  Scope scope = Scope::kAsk;
  slack::Timestamp ts;
  std::vector<Observation> observations = {};
  // Known without a body: what a tombstone still says of the message it replaced.
  Traits traits = {};
  std::optional<slack::Timestamp> deleted_ts = std::nullopt;
  bool is_import = false;  // From an export, not from an event.
};

struct ScopedChannelNews {
  ChannelNews news;
  Scope scope = Scope::kAsk;
  // The notice in the channel that tells of it: "set the topic". It is kept under the same scope.
  std::optional<MessageNews> notice = std::nullopt;
};

struct ReactionNews {
  slack::ChannelId channel;
  slack::Timestamp ts;  // Of the message.
  std::string reaction;
  std::string user;  // Empty in an export, where `count` says how many people gave it.
  bool removed = false;
  slack::Timestamp event_ts;
  Scope scope = Scope::kAsk;
  int64_t count = 0;
};

struct PinNews {
  slack::ChannelId channel;
  slack::Timestamp ts;  // Of the message.
  std::string user;
  bool removed = false;
  slack::Timestamp event_ts;
  Scope scope = Scope::kAsk;
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

// A mark for the coverage ledger (coverage.h).
struct CoverageNews {
  std::optional<slack::ChannelId> channel = std::nullopt;  // nullopt: all channels.
  CoverageKind kind = CoverageKind::kBegan;
  slack::Timestamp from;
  std::optional<slack::Timestamp> to = std::nullopt;
  std::string reason = {};
  Scope scope = Scope::kPublic;  // Of the channel.
};

// The archive keeps nothing of the event.
struct NoNews {
  enum class Why {
    kUnknownType,  // The archive does not know this type of event.
    kNotKept,      // Known, and left out: joins and leaves, mentions, file events.
    kIncomplete,   // It needs a team, channel or time, and the field is missing or malformed.
  };
  Why why = Why::kNotKept;
  std::string detail = {};
};

using News = std::variant<MessageNews, ScopedChannelNews, ReactionNews, PinNews, UserNews, TeamNews,
                          EmojiNews, CoverageNews, NoNews>;

}  // namespace tidemark::archive
