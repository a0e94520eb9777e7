// The ChannelIndex maps the channels of a team to their names, in few rows (shards), so that a
// reader need not visit every channel. It can be rebuilt from the channel rows.
//
// Each shard is written by compare-and-set on its revision and measured in bytes before the
// write: what would push it over the limit goes into a new one. A channel stays in the shard that
// holds it. May be called from any thread and several processes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "apps/archive/channel.h"
#include "base/log.h"
#include "base/metrics.h"
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
  using Names = std::map<std::string, std::string>;  // By channel id.

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
  // Makes it anew from channel rows and messages of the table; reads the whole table. `progress`
  // may be null and is called with the number of rows read.
  Result<RebuildReport> Rebuild(const slack::TeamId& team,
                                const std::function<void(uint64_t rows)>& progress);

 private:
  const ChannelIndexOptions options_;
  tables::Tables& tables_;
  const Logger* const logger_;
};

}  // namespace tidemark::archive
