// The ChannelIndex maps the channels of a team to their names, in few rows (shards), so that a
// reader need not visit every channel. It can be rebuilt from the channel rows.
//
// Each shard is written by compare-and-set on its revision and measured in bytes before the
// write: a channel that would push the newest over the limit goes into a new one. A channel stays
// in the shard that holds it, under whatever name, unless no item could hold it any more. No
// channel is ever in two shards. May be called from any thread and several processes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/archive/channel.h"
#include "apps/archive/index_shard.h"
#include "base/log.h"
#include "base/result.h"
#include "slack/ids.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct ChannelIndexOptions {
  std::string table = "SlackArchive";
  size_t shard_bytes = 350 * 1024;
  size_t warn_bytes = 200 * 1024;
};

// What the index says of a channel: its name, "deleted_" before it when it is deleted, or "" when
// no event told of it.
std::string IndexName(const Channel& channel);

class ChannelIndex {
 public:
  using Names = ChannelNames;

  // All outlive this; logger may be null.
  ChannelIndex(ChannelIndexOptions options, tables::Tables* tables, const Logger* logger);

  // The channel's name is this from now on.
  Status Set(const Place& place, const std::string& name);
  // Only when the channel is not there yet: what a message tells of its channel.
  Status Mention(const Place& place);

  // nullopt when it is in no shard.
  Result<std::optional<std::string>> Find(const Place& place);
  // Of all shards.
  Result<Names> All(const slack::TeamId& team);
  // The number of the newest; nullopt: there is none.
  Result<std::optional<uint32_t>> NewestShard(const slack::TeamId& team);

  struct RebuildReport {
    uint64_t channels = 0;
    uint32_t shards = 0;
    uint64_t changed = 0;  // Entries that were missing, wrong, or too many.
  };
  // Makes it anew from channel rows and messages of the table; reads the whole table. What others
  // set meanwhile stays. `progress` may be null and is called with the number of rows read.
  Result<RebuildReport> Rebuild(const slack::TeamId& team,
                                const std::function<void(uint64_t rows)>& progress);

 private:
  using Shards = std::vector<IndexShard>;  // In the order of their numbers.
  // What is written all or none; nullopt: somebody else wrote since it was read.
  using Actions = std::vector<tables::TransactAction>;
  using Step = std::optional<Actions>;
  enum class IfHeld { kRename, kLeave };

  Status Enter(const Place& place, const std::string& name, IfHeld if_held);
  Result<Step> PlanEntry(const Place& place, const std::string& name, IfHeld if_held);
  Result<Step> PlanRename(const Place& place, const std::string& name, const Shards& shards,
                          const IndexShard& holder);
  // Into the newest shard, or one behind it. `leaving` is the shard that the channel is taken from.
  Result<Step> PlanAppend(const Place& place, const std::string& name, const Shards& shards,
                          const IndexShard* leaving);
  // False: somebody else wrote meanwhile.
  Result<bool> Write(Actions actions);

  // With all entries, and with none but that of the channel.
  Result<Shards> ReadShards(const slack::TeamId& team);
  Result<Shards> ReadEntries(const Place& place);
  Result<std::optional<IndexShard>> ReadShard(const Place& place, const IndexShard& shard);
  void WarnOfSize(const IndexShard& shard, size_t before_bytes, size_t after_bytes) const;

  Result<std::set<std::string>> ScanChannels(const slack::TeamId& team,
                                             const std::function<void(uint64_t rows)>& progress);
  // What the rows say now; nullopt: nothing.
  Result<std::optional<std::string>> NameNow(const Place& place);
  Result<Names> NamesNow(const slack::TeamId& team, const std::set<std::string>& channels);
  Result<bool> WriteRebuilt(const Shards& before, const Shards& after, RebuildReport* report);

  const ChannelIndexOptions options_;
  tables::Tables& tables_;
  const Logger* const logger_;
};

}  // namespace tidemark::archive
