// The keys of rows (docs/formats/keys.md). Each table, index and expiry list is a keyspace with a
// number that is never used again. All its row keys begin with this number.
//
//   item row    keyspace · hash of the partition key · partition key · sort key
//   index row   the same by the index's key, then the table's partition and sort key. A key with
//               several attributes has their values one after another
//   expiry row  keyspace · time to live · the item row's key
//
// The hash spreads partitions evenly, so that a parallel scan cuts it into equal ranges.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "expression/key_condition.h"
#include "item/key.h"
#include "tables/embedded/store.h"

namespace tidemark::embedded {

using Keyspace = uint32_t;

std::string ItemRowKey(Keyspace keyspace, const item::Key& key);
std::string IndexRowKey(Keyspace keyspace, const item::Key& index_key, const item::Key& item_key);
std::string ExpiryRowKey(Keyspace keyspace, EpochSeconds ttl, std::string_view item_row_key);

// The inverses. kCorrupt for bytes that the functions above never write.
Result<item::Key> DecodeItemRowKey(std::string_view row_key, const item::KeySchema& schema);
struct ExpiryRowKeyParts {
  EpochSeconds ttl;
  std::string_view item_row_key;
};
Result<ExpiryRowKeyParts> DecodeExpiryRowKey(std::string_view row_key);

// All rows of a keyspace.
Range KeyspaceRange(Keyspace keyspace);
// The rows of one segment of a parallel scan; segment < total.
Range SegmentRange(Keyspace keyspace, uint32_t segment, uint32_t total);
// The rows that a key condition selects.
Range ConditionRange(Keyspace keyspace, const expression::KeyCondition& condition);
// The expiry rows whose time has come at `now`, but not more than `oldest` seconds before.
Range ExpiredRange(Keyspace keyspace, EpochSeconds now, EpochSeconds oldest);

}  // namespace tidemark::embedded
