// A shard is one row of the channel index. Here are its encoding and the actions that write it.
// Each action applies only if the stored shard still has the revision that was read; CreateShard
// applies only if there is no such shard.
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
  std::string timestamp;                           // The number as the sort key has it.
  std::optional<int64_t> revision = std::nullopt;  // As it was read; nullopt: the row has none.
  ChannelNames names = {};
};

// An empty shard with this number.
IndexShard NewShard(const slack::TeamId& team, uint32_t number);

item::Item Encode(const IndexShard& shard);
// kCorrupt when the row is not a shard. A row read with a projection gives a shard with fewer
// entries.
Result<IndexShard> DecodeShard(const item::Item& row);

size_t SizeBytes(const IndexShard& shard);

tables::TransactAction CreateShard(const std::string& table, const IndexShard& shard);
tables::TransactAction ReplaceShard(const std::string& table, const IndexShard& shard);
tables::TransactAction DeleteShard(const std::string& table, const IndexShard& shard);
tables::TransactAction SetEntry(const std::string& table, const IndexShard& shard,
                                const std::string& channel, const std::string& name);
tables::TransactAction RemoveEntry(const std::string& table, const IndexShard& shard,
                                   const std::string& channel);
// These only check: that the shard is as it was read, and that no shard follows it.
tables::TransactAction CheckUnchanged(const std::string& table, const IndexShard& shard);
tables::TransactAction CheckNewest(const std::string& table, const IndexShard& shard);

}  // namespace tidemark::archive
