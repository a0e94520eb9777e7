// A channel as the archive knows it. Each field is a register that the newest event wins, so that
// events may come in any order and more than once. Encode and Decode are its row;
// docs/formats/archive.md has the attributes.
#pragma once

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
inline constexpr size_t kMaxNameChanges = 2 * kMaxNames;  // A rename may be told of twice.

template <typename T>
struct Register {
  std::optional<T> value = std::nullopt;
  std::optional<slack::Timestamp> at = std::nullopt;  // nullopt: implied, by no event of its own.
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
  std::string raw_event = {};
  bool raw_event_dropped = false;
  std::optional<slack::Timestamp> last_event_ts = std::nullopt;

  // Of the row it was read from and will be written to; nullopt: there is none yet.
  std::optional<std::string> row_timestamp = std::nullopt;
  int64_t revision = 1;

  std::optional<std::string> name() const;
  std::vector<std::string> names_history() const;
  // Recorded as public, now or ever: what decides whether its messages are kept.
  bool EverPublic() const;
};

// What an event says of a channel: what it does not say is absent.
struct ChannelNews {
  slack::ChannelId channel;
  slack::Timestamp event_ts;
  std::optional<std::string> name = std::nullopt;
  std::optional<Visibility> visibility = std::nullopt;
  bool implies_public = false;  // By its kind: only public channels have such events.
  bool was_public = false;
  std::optional<bool> archived = std::nullopt;
  bool deleted = false;
  std::optional<std::string> topic = std::nullopt;
  std::optional<std::string> purpose = std::nullopt;
  std::optional<slack::ChannelId> moved_from = std::nullopt;
  std::string raw_event = {};
};

item::Item Encode(const Channel& channel);
Result<Channel> DecodeChannel(const item::Item& row);

void Join(const ChannelNews& news, Channel* channel);
// What was told of another row, or under another id: all but the deletion, which is the id's own.
void JoinState(const Channel& told, Channel* channel);
// All rows of one channel as one; the newest of them is the one to write to. `rows` is not empty.
Result<Channel> JoinRows(std::span<const item::Item> rows);

}  // namespace tidemark::archive
