// The Reader answers what was said: channels, messages by time, threads, one message with all that
// is known of it. It applies the policy about deleted text: a reader never sees what the policy
// hides, whether or not the sweeper has come.
//
// Reads are consistent. May be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/archive/channel.h"
#include "apps/archive/channel_index.h"
#include "apps/archive/keys.h"
#include "apps/archive/message.h"
#include "base/clock.h"
#include "base/result.h"
#include "slack/timestamp.h"
#include "tables/tables.h"

namespace tidemark::archive {

// What readers see of the text, files and older bodies of a deleted message.
enum class DeletedText {
  kShow,
  kRedact,  // That it was there, and nothing of it.
  kPurge,   // As shown until purge_after has passed since the deletion; then it is removed.
};

struct DeletedPolicy {
  DeletedText text = DeletedText::kShow;
  std::chrono::seconds purge_after = std::chrono::hours(30 * 24);
};

// Whether the policy hides the body now.
bool IsHidden(const Message& message, const DeletedPolicy& policy, EpochSeconds now);

struct MessageQuery {
  std::optional<slack::Timestamp> from = std::nullopt;  // Included.
  std::optional<slack::Timestamp> to = std::nullopt;    // Included.
  bool newest_first = false;
  std::optional<slack::Timestamp> after = std::nullopt;  // The last one of the page before.
  uint32_t limit = 100;
};

struct MessagePage {
  std::vector<Message> messages;
  std::optional<slack::Timestamp> next = std::nullopt;  // Set when there may be more.
};

struct Reaction {
  std::string reaction;
  std::vector<std::string> users;  // Who has it now, in the order in which they gave it.
};

struct Person {
  std::string user;
  std::string name = {};
  std::string real_name = {};
  std::string display_name = {};
  std::string avatar = {};
};

// All that is known of one message.
struct MessageDetail {
  Message message;
  std::vector<Body> versions;  // The oldest first; the shown one is the last.
  std::vector<Reaction> reactions;
  bool pinned = false;
  std::optional<Person> author = std::nullopt;  // As of the message's time.
};

struct ReaderOptions {
  std::string table = "SlackArchive";
  DeletedPolicy deleted = {};
};

class Reader {
 public:
  // All outlive this.
  Reader(ReaderOptions options, tables::Tables* tables, ChannelIndex* index, const Clock* clock);

  // Channels of the index, by id, from behind `after` on.
  struct ChannelPage {
    std::vector<Channel> channels;
    std::optional<std::string> next = std::nullopt;
  };
  Result<ChannelPage> Channels(const slack::TeamId& team, const std::optional<std::string>& after,
                               uint32_t limit);
  // nullopt when nothing is known of it: no row, and no message. Without a row, what its messages
  // tell: that it is there.
  Result<std::optional<Channel>> FindChannel(const Place& place);

  Result<MessagePage> Messages(const Place& place, const MessageQuery& query);
  // The root, when it is known, and the replies, in order; of this channel alone.
  Result<MessagePage> Thread(const Place& place, const slack::Timestamp& thread_ts,
                             const std::optional<slack::Timestamp>& after, uint32_t limit);
  // nullopt when there is none.
  Result<std::optional<Message>> FindMessage(const Place& place, const slack::Timestamp& ts);
  Result<std::optional<MessageDetail>> Detail(const Place& place, const slack::Timestamp& ts);
  // As the person was then, or as they were first seen when nothing that old is known.
  Result<std::optional<Person>> FindPerson(const slack::TeamId& team, const std::string& user,
                                           const slack::Timestamp& as_of);

  // Whether the policy hides the text, files and older bodies of the message.
  bool Hides(const Message& message) const;

  // Where the message lies that a permalink names: under its channel, or an id that the channel had
  // before or got later. nullopt when it is nowhere.
  Result<std::optional<Place>> Resolve(const Place& place, const slack::Timestamp& ts);

 private:
  Result<Message> Decode(const item::Item& row) const;
  Result<bool> HasMessage(const Place& place, const slack::Timestamp& ts);
  // The ids that the channel got later, and the one it had before.
  Result<std::vector<Place>> Neighbours(const Place& place);
  Result<std::vector<Body>> Versions(const Message& message);
  Result<std::vector<Reaction>> Reactions(const Place& place, const slack::Timestamp& ts);
  Result<bool> IsPinned(const Place& place, const slack::Timestamp& ts);
  // The root when the thread index does not have it: nobody had replied when it was last told of.
  Result<std::optional<Message>> RootOutsideIndex(const Place& place,
                                                  const slack::Timestamp& thread_ts);

  const ReaderOptions options_;
  tables::Tables& tables_;
  ChannelIndex& index_;
  const Clock& clock_;
};

}  // namespace tidemark::archive
