// A row of the channel index, and the actions that write it. Each action but those of a new shard
// holds only while the shard is as it was read: it compares the revision.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "item/value.h"
#include "slack/ids.h"
#include "tables/tables.h"

namespace tidemark::archive {

using ChannelNames = std::map<std::string, std::string>;  // By channel id.

struct IndexShard {
  std::string item_id;
  uint32_t number = 0;
  std::string timestamp;                           // The number as it stands in the key.
  std::optional<int64_t> revision = std::nullopt;  // As it was read; nullopt: it has none.
  ChannelNames names = {};
};

// An empty one of this number, which must not be there yet.
IndexShard NewShard(const slack::TeamId& team, uint32_t number);

item::Item Encode(const IndexShard& shard);
// kCorrupt when the row is no shard. A row that was read in part is a shard with fewer entries.
Result<IndexShard> DecodeShard(const item::Item& row);

size_t SizeBytes(const IndexShard& shard);

tables::TransactAction CreateShard(const std::string& table, const IndexShard& shard);
tables::TransactAction ReplaceShard(const std::string& table, const IndexShard& shard);
tables::TransactAction DeleteShard(const std::string& table, const IndexShard& shard);
tables::TransactAction SetEntry(const std::string& table, const IndexShard& shard,
                                const std::string& channel, const std::string& name);
tables::TransactAction RemoveEntry(const std::string& table, const IndexShard& shard,
                                   const std::string& channel);
// Only checks: that the shard is as it was read, and that the one behind it is not there.
tables::TransactAction CheckUnchanged(const std::string& table, const IndexShard& shard);
tables::TransactAction CheckNewest(const std::string& table, const IndexShard& shard);

}  // namespace tidemark::archive
