// The Reader answers questions about the archive: the channels of a team, the messages of a channel
// by time, a thread, one message with everything known about it. It applies the policy about
// deleted text, so callers never see what the policy hides, even before the Purger has removed it.
//
// Reads are consistent, except those of the thread index. May be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/archive/archive_table.h"
#include "apps/archive/channel.h"
#include "apps/archive/channel_index.h"
#include "apps/archive/deleted_policy.h"
#include "apps/archive/keys.h"
#include "apps/archive/message.h"
#include "apps/archive/people.h"
#include "base/clock.h"
#include "base/result.h"
#include "slack/timestamp.h"
#include "tables/tables.h"

namespace tidemark::archive {

// Whether the policy hides the text, files and older versions of the message at this time.
bool IsHidden(const Message& message, const DeletedPolicy& policy, EpochSeconds now);

struct MessageQuery {
  std::optional<slack::Timestamp> from = std::nullopt;  // Included.
  std::optional<slack::Timestamp> to = std::nullopt;    // Included.
  bool newest_first = false;
  std::optional<slack::Timestamp> after = std::nullopt;  // The last message of the page before.
  uint32_t limit = 100;
};

// The replies to a message that are known and not deleted.
struct Replies {
  int64_t count = 0;
  std::optional<slack::Timestamp> latest = std::nullopt;
};

struct MessagePage {
  std::vector<Message> messages;
  std::map<slack::Timestamp, Replies> replies = {};     // By message; only those that have some.
  std::optional<slack::Timestamp> next = std::nullopt;  // Set when there may be more.
};

struct Reaction {
  std::string reaction;
  std::vector<std::string> users;  // In the order in which they reacted.
  // How many people gave it. Slack names only some of them when there are many.
  int64_t count = 0;
};

// A message with everything that is known about it.
struct MessageDetail {
  Message message;
  std::vector<Body> versions;  // Oldest first; the last one is the current body.
  std::vector<Reaction> reactions;
  Replies replies = {};
  bool pinned = false;
  std::optional<Person> author = std::nullopt;  // As they were at the message's time.
};

struct ReaderOptions {
  std::string table = "SlackArchive";
  DeletedPolicy deleted = {};
};

class Reader {
 public:
  // All outlive this.
  Reader(ReaderOptions options, tables::Tables* tables, ChannelIndex* index, const Clock* clock);

  // The channels of the index, ordered by id, starting after `after`.
  struct ChannelPage {
    std::vector<Channel> channels;
    std::optional<std::string> next = std::nullopt;
  };
  Result<ChannelPage> Channels(const slack::TeamId& team, const std::optional<std::string>& after,
                               uint32_t limit);
  // nullopt when no row tells of the channel. When it has no row of its own, only the id of the
  // returned channel is known.
  Result<std::optional<Channel>> FindChannel(const Place& place);
  Result<bool> Knows(const Place& place) const { return table_.Knows(place); }
  // Every id that the channel has or had, this one included.
  Result<std::vector<Place>> IdsOf(const Place& place) const { return table_.IdsOf(place); }

  // All reads of messages find what is kept under any id of the channel, whichever is asked for.
  Result<MessagePage> Messages(const Place& place, const MessageQuery& query);
  // The root, when it is known, and the replies in this channel, in the order of time. `ts` is the
  // root's, or that of a reply.
  Result<MessagePage> Thread(const Place& place, const slack::Timestamp& ts,
                             const std::optional<slack::Timestamp>& after, uint32_t limit);
  // nullopt when there is no such message.
  Result<std::optional<Message>> FindMessage(const Place& place, const slack::Timestamp& ts);
  Result<std::optional<MessageDetail>> Detail(const Place& place, const slack::Timestamp& ts);
  // The person as they were at that time, or as first known when nothing that old is known.
  Result<std::optional<Person>> FindPerson(const slack::TeamId& team, const std::string& user,
                                           const slack::Timestamp& as_of);

  // IsHidden with this reader's policy, now.
  bool Hides(const Message& message) const;

 private:
  using Ids = std::vector<Place>;

  tables::QueryRequest RequestOf(const Place& id, const MessageQuery& query) const;
  // The messages of the thread that the index has, of these ids.
  tables::QueryRequest ThreadRequestOf(const Ids& ids, const slack::Timestamp& thread_ts) const;
  // The message as its rows under all ids say together; nullopt when there is none.
  Result<std::optional<MessageState>> ReadState(const Ids& ids, const slack::Timestamp& ts) const;
  // The same, given one of the rows: other ids need not be read when there are none.
  Result<Message> WholeMessage(const Ids& ids, const item::Item& row) const;
  Result<slack::Timestamp> ThreadWith(const Ids& ids, const slack::Timestamp& ts) const;
  Result<Replies> RepliesTo(const Ids& ids, const Message& message) const;
  // Makes the page what readers may see of it.
  Status Finish(const Ids& ids, MessagePage* page) const;
  // What readers may see of the message.
  Message Shown(Message message) const;
  bool IsEmptied(const Message& message) const { return message.purged || Hides(message); }
  // Also fills in the older bodies of the state.
  Result<std::vector<Body>> Versions(const Ids& ids, MessageState* state) const;
  Result<std::vector<Reaction>> Reactions(const Ids& ids, const slack::Timestamp& ts) const;
  Result<bool> IsPinned(const Ids& ids, const slack::Timestamp& ts) const;

  const ReaderOptions options_;
  const ArchiveTable table_;
  ChannelIndex& index_;
  const Clock& clock_;
};

}  // namespace tidemark::archive
