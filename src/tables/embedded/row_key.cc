#include "tables/embedded/row_key.h"

#define XXH_INLINE_ALL
#include <algorithm>

#include <xxhash.h>

#include "base/bytes.h"
#include "item/order.h"

namespace tidemark::embedded {

namespace {

using expression::SortOperator;

uint32_t HashOf(std::string_view encoded_partition) {
  return static_cast<uint32_t>(XXH3_64bits(encoded_partition.data(), encoded_partition.size()) >>
                               32);
}

void AppendValues(const std::vector<item::Value>& values, std::string* out) {
  for (const item::Value& value : values) item::EncodeOrdered(value, out);
}

std::string PartitionPrefix(Keyspace keyspace, const item::Value& partition,
                            const std::vector<item::Value>& more_partition) {
  std::string encoded;
  item::EncodeOrdered(partition, &encoded);
  AppendValues(more_partition, &encoded);
  std::string key;
  key.reserve(8 + encoded.size() + 32);
  AppendFixed32(keyspace, &key);
  AppendFixed32(HashOf(encoded), &key);
  key += encoded;
  return key;
}

void AppendKey(const item::Key& key, std::string* out) {
  item::EncodeOrdered(key.partition, out);
  if (key.sort) item::EncodeOrdered(*key.sort, out);
}

// Reads past keyspace and hash, and fails the reader when the hash is not the partition's.
item::Key ReadHashedKey(Reader* reader, const item::KeySchema& schema) {
  reader->Fixed32();
  const uint32_t hash = reader->Fixed32();
  const std::string_view rest = reader->rest();
  item::Key key{.partition = item::DecodeOrdered(schema.partition.type, reader)};
  for (const item::KeyAttribute& more : schema.more_partition) {
    key.more_partition.push_back(item::DecodeOrdered(more.type, reader));
  }
  const std::string_view encoded = rest.substr(0, rest.size() - reader->rest().size());
  if (reader->ok() && HashOf(encoded) != hash) reader->Fail();
  if (schema.sort) key.sort = item::DecodeOrdered(schema.sort->type, reader);
  for (const item::KeyAttribute& more : schema.more_sort) {
    key.more_sort.push_back(item::DecodeOrdered(more.type, reader));
  }
  return key;
}

Error DamagedKey() {
  return {ErrorCode::kCorrupt, "a row's key does not decode; restore a backup"};
}

// The smallest key that is greater than every key that begins with `prefix`.
std::string After(std::string prefix) { return PrefixRange(std::move(prefix)).high; }

std::string WithSort(const std::string& partition_prefix, const item::Value& sort) {
  std::string key = partition_prefix;
  item::EncodeOrdered(sort, &key);
  return key;
}

std::string WithHash(Keyspace keyspace, uint64_t hash) {
  // One past the last hash is the end of the keyspace.
  if (hash > UINT32_MAX) return KeyspaceRange(keyspace).high;
  std::string key;
  AppendFixed32(keyspace, &key);
  AppendFixed32(static_cast<uint32_t>(hash), &key);
  return key;
}

}  // namespace

std::string ItemRowKey(Keyspace keyspace, const item::Key& key) {
  std::string row = PartitionPrefix(keyspace, key.partition, key.more_partition);
  if (key.sort) item::EncodeOrdered(*key.sort, &row);
  AppendValues(key.more_sort, &row);
  return row;
}

std::string IndexRowKey(Keyspace keyspace, const item::Key& index_key, const item::Key& item_key) {
  std::string row = ItemRowKey(keyspace, index_key);
  AppendKey(item_key, &row);
  return row;
}

std::string ExpiryRowKey(Keyspace keyspace, EpochSeconds ttl, std::string_view item_row_key) {
  CHECK(ttl >= 0);
  std::string row;
  AppendFixed32(keyspace, &row);
  AppendFixed64(static_cast<uint64_t>(ttl), &row);
  row += item_row_key;
  return row;
}

Result<item::Key> DecodeItemRowKey(std::string_view row_key, const item::KeySchema& schema) {
  Reader reader(row_key);
  item::Key key = ReadHashedKey(&reader, schema);
  if (!reader.AtEnd()) return DamagedKey();
  return key;
}

Result<ExpiryRowKeyParts> DecodeExpiryRowKey(std::string_view row_key) {
  Reader reader(row_key);
  reader.Fixed32();
  const uint64_t ttl = reader.Fixed64();
  if (!reader.ok() || ttl > INT64_MAX) return DamagedKey();
  return ExpiryRowKeyParts{.ttl = static_cast<EpochSeconds>(ttl), .item_row_key = reader.rest()};
}

Range KeyspaceRange(Keyspace keyspace) {
  std::string prefix;
  AppendFixed32(keyspace, &prefix);
  return PrefixRange(std::move(prefix));
}

Range SegmentRange(Keyspace keyspace, uint32_t segment, uint32_t total) {
  CHECK(segment < total);
  constexpr uint64_t kHashes = uint64_t{1} << 32;
  return {WithHash(keyspace, kHashes * segment / total),
          WithHash(keyspace, kHashes * (segment + 1) / total)};
}

Range ConditionRange(Keyspace keyspace, const expression::KeyCondition& condition) {
  std::string partition = PartitionPrefix(keyspace, condition.partition, condition.more_partition);
  if (!condition.sort) return PrefixRange(partition);
  AppendValues(condition.leading_sort, &partition);
  const expression::SortCondition& sort = *condition.sort;
  const std::string low = WithSort(partition, sort.low);
  switch (sort.op) {
    case SortOperator::kEqual:
      return PrefixRange(low);
    case SortOperator::kLess:
      return {partition, low};
    case SortOperator::kLessOrEqual:
      return {partition, After(low)};
    case SortOperator::kGreater:
      return {After(low), After(partition)};
    case SortOperator::kGreaterOrEqual:
      return {low, After(partition)};
    case SortOperator::kBetween:
      return {low, After(WithSort(partition, sort.high))};
    case SortOperator::kBeginsWith: {
      std::string prefix = partition;
      item::EncodeOrderedPrefix(sort.low, &prefix);
      return PrefixRange(std::move(prefix));
    }
  }
  return PrefixRange(partition);
}

Range ExpiredRange(Keyspace keyspace, EpochSeconds now, EpochSeconds oldest) {
  // An item is expired from the second of its deadline on, so the range ends before the next
  // second.
  const EpochSeconds first = std::max<EpochSeconds>(now - oldest + 1, 0);
  return {ExpiryRowKey(keyspace, first, ""), ExpiryRowKey(keyspace, std::max(now + 1, first), "")};
}

}  // namespace tidemark::embedded
