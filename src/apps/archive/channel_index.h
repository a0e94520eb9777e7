// The ChannelIndex maps the channels of a team to their names, in a few rows (shards). With it a
// reader lists the channels without visiting each of them. It can be rebuilt from the channel rows.
//
// A shard is written only if its revision is still the one that was read, and its size is computed
// before the write: a channel that would push the newest shard over the limit opens a new one. A
// channel stays in its shard when it is renamed, unless the row would become too large for an item.
// No channel is ever in two shards.
//
// May be called from any thread, and from several processes at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/archive/archive_table.h"
#include "apps/archive/channel.h"
#include "apps/archive/channel_index_shard.h"
#include "base/result.h"
#include "base/runtime.h"
#include "slack/ids.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct ChannelIndexOptions {
  std::string table = "SlackArchive";
  size_t shard_bytes = 350 * 1024;
  size_t warn_bytes = 200 * 1024;
};

// The name of a channel in the index: "deleted_" in front of it when the channel is deleted, and ""
// when no event has told the name.
std::string IndexName(const Channel& channel);

class ChannelIndex {
 public:
  using Names = ChannelNames;

  // The tables outlive this.
  ChannelIndex(ChannelIndexOptions options, tables::Tables* tables, const Runtime& runtime);

  // Enters the channel, or changes its name.
  Status Set(const Place& place, const std::string& name);
  // Enters the channel without a name, unless it is there: for a channel known by a message only.
  Status Mention(const Place& place);

  // The name; nullopt when the channel is not in the index.
  Result<std::optional<std::string>> Find(const Place& place);
  // All channels of the team.
  Result<Names> All(const slack::TeamId& team);
  // The number of the newest shard; nullopt when there is none.
  Result<std::optional<uint32_t>> NewestShard(const slack::TeamId& team);

  struct RebuildReport {
    uint64_t channels = 0;
    uint32_t shards = 0;
    uint64_t changed = 0;  // Entries that were missing, wrong, or too many.
  };
  // Rebuilds the index from the channel rows and messages; reads the whole table. Names that others
  // set at the same time are kept. `progress` may be null; it gets the number of rows read so far.
  Result<RebuildReport> Rebuild(const slack::TeamId& team,
                                const std::function<void(uint64_t rows)>& progress);

 private:
  using Shards = std::vector<IndexShard>;  // Sorted by number.
  // The actions of one transaction; nullopt: another writer changed the shards, so read them again.
  using Actions = std::vector<tables::TransactAction>;
  using Step = std::optional<Actions>;
  enum class IfHeld { kRename, kLeave };

  Status Enter(const Place& place, const std::string& name, IfHeld if_held);
  Result<Step> PlanEntry(const Place& place, const std::string& name, IfHeld if_held);
  Result<Step> PlanRename(const Place& place, const std::string& name, const Shards& shards,
                          const IndexShard& holder);
  // Enters the channel into the newest shard, or into a new one after it. `leaving` is the shard
  // that it is removed from, or null.
  Result<Step> PlanAppend(const Place& place, const std::string& name, const Shards& shards,
                          const IndexShard* leaving);
  // All shards with all entries, and all shards with only the entry of this channel.
  Result<Shards> ReadShards(const slack::TeamId& team);
  Result<Shards> ReadEntries(const Place& place);
  Result<std::optional<IndexShard>> ReadShard(const Place& place, const IndexShard& shard);
  void WarnOfSize(const IndexShard& shard, size_t before_bytes, size_t after_bytes) const;

  Result<std::set<std::string>> ScanChannels(const slack::TeamId& team,
                                             const std::function<void(uint64_t rows)>& progress);
  // The name by the channel's rows as they are now; nullopt when it has neither rows nor messages.
  Result<std::optional<std::string>> NameNow(const Place& place);
  Result<Names> NamesNow(const slack::TeamId& team, const std::set<std::string>& channels);
  Result<bool> WriteRebuilt(const Shards& before, const Shards& after, RebuildReport* report);

  const ChannelIndexOptions options_;
  const ArchiveTable table_;
  const Runtime runtime_;
};

}  // namespace tidemark::archive
