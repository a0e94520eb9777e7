// A channel as the archive knows it. Each field is a register with a time: of two values the one
// from the newer event wins. So events may arrive in any order and more than once, and the result
// is the same. Encode and DecodeChannel convert it to and from its row; docs/formats/archive.md has
// the attributes.
//
// A channel usually has one row. Another program may have written several: JoinRows reads them as
// one.
//
// Plain values and pure functions: no table, no clock, no threads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/archive/keys.h"
#include "base/result.h"
#include "item/value.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

enum class Visibility { kPublic, kPrivate };
inline constexpr size_t kMaxNames = 20;
inline constexpr size_t kMaxNameChanges = 2 * kMaxNames;  // Slack may tell of a rename twice.

template <typename T>
struct Register {
  std::optional<T> value = std::nullopt;
  std::optional<slack::Timestamp> at =
      std::nullopt;  // nullopt: implied by an event about something else.
  friend bool operator==(const Register&, const Register&) = default;
};

struct NameChange {
  slack::Timestamp at;
  std::string name;
  friend bool operator==(const NameChange&, const NameChange&) = default;
};

struct Channel {
  Place place;
  std::vector<NameChange> name_changes = {};  // Newest first, at most kMaxNameChanges.
  Register<Visibility> visibility = {};
  bool was_public = false;
  Register<bool> archived = {};
  bool deleted = false;
  Register<std::string> topic = {};
  Register<std::string> purpose = {};
  std::string prev_channel_id = {};
  // The id that took the place of this one. Not in the row: the Reader finds it among the moves.
  std::string next_channel_id = {};
  std::string raw_event = {};
  bool raw_event_dropped = false;
  std::optional<slack::Timestamp> last_event_ts = std::nullopt;

  // The sort key of the row it was read from and will be written to; nullopt: it has no row yet.
  std::optional<std::string> row_timestamp = std::nullopt;
  int64_t revision = 1;

  std::optional<std::string> name() const;
  std::vector<std::string> names_history() const;
  // Whether it is or was ever recorded as public. Its messages are kept only then.
  bool EverPublic() const;
};

// What an event says about a channel. What it does not mention is absent.
struct ChannelNews {
  slack::ChannelId channel;
  slack::Timestamp event_ts;
  std::optional<std::string> name = std::nullopt;
  std::optional<Visibility> visibility = std::nullopt;
  bool implies_public = false;  // By the event, or by Slack when it was asked.
  bool was_public = false;
  std::optional<bool> archived = std::nullopt;
  bool deleted = false;
  std::optional<std::string> topic = std::nullopt;
  std::optional<std::string> purpose = std::nullopt;
  std::optional<slack::ChannelId> moved_from = std::nullopt;
  std::string raw_event = {};
  // It is not from an event: Slack was asked. It repeats what is known, so only what differs from
  // the channel's present state is joined.
  bool is_listing = false;
};

// The channel has a row_timestamp.
item::Item Encode(const Channel& channel);
// kCorrupt when the row is not a channel.
Result<Channel> DecodeChannel(const item::Item& row);

void Join(const ChannelNews& news, Channel* channel);
// Whether a listing says something that the channel's present state does not.
bool SaysMore(const ChannelNews& listing, const Channel& channel);
// Adds what is known from another row or under a former id. Not the deletion: the former id may be
// deleted while the channel lives on under the new one.
void JoinState(const Channel& told, Channel* channel);
// All rows of a channel as one. The newest row is the one to write to. `rows` must not be empty.
Result<Channel> JoinRows(std::span<const item::Item> rows);

}  // namespace tidemark::archive
