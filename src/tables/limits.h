// The limits of tables, as DynamoDB has them. Those of items are in item/limits.h,
// those of expressions in expression/limits.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tidemark::tables {

inline constexpr size_t kMinTableNameLength = 3;
inline constexpr size_t kMaxTableNameLength = 255;
inline constexpr size_t kMaxGlobalIndexes = 20;
inline constexpr size_t kMaxLocalIndexes = 5;
// Of the partition key of a global index, and of its sort key.
inline constexpr size_t kMaxKeyAttributes = 4;
inline constexpr size_t kMaxIncludedAttributes = 100;  // Over all indexes of a table.
inline constexpr size_t kMaxTags = 50;

// Counted before the filter.
inline constexpr size_t kMaxPageBytes = 1'048'576;
// Ours: a reply is sent as JSON, which may be many times as large as its items (item/size.h). A
// page of a query, a scan or a stream ends at the first of these limits, and a batch or a
// transaction at the second. One item is always returned, whatever its size.
inline constexpr size_t kMaxPageJsonBytes = size_t{4} << 20;
inline constexpr size_t kMaxBatchJsonBytes = size_t{16} << 20;
// Ours: how many items QueryAll reads into memory unless its caller says otherwise.
inline constexpr size_t kMaxItemsInMemory = 100'000;
inline constexpr uint32_t kMaxScanSegments = 1'000'000;
inline constexpr size_t kMaxListedTables = 100;

inline constexpr size_t kMaxBatchGetKeys = 100;
inline constexpr size_t kMaxBatchGetBytes = 16'777'216;
inline constexpr size_t kMaxBatchWrites = 25;
inline constexpr size_t kMaxTransactActions = 100;
inline constexpr size_t kMaxTransactBytes = 4'194'304;
inline constexpr size_t kMaxTokenLength = 36;
inline constexpr std::chrono::seconds kTokenLife = std::chrono::minutes(10);

inline constexpr std::chrono::seconds kStreamRetention = std::chrono::hours(24);
inline constexpr std::chrono::seconds kIteratorLife = std::chrono::minutes(15);
inline constexpr size_t kMaxRecordsPage = 1'000;
inline constexpr size_t kMaxRecordsBytes = 1'048'576;
inline constexpr size_t kMaxListedStreams = 100;

// A time to live that is older than this is taken for a mistake: the item never expires.
inline constexpr std::chrono::seconds kOldestTimeToLive = std::chrono::hours(24) * 365 * 5;

}  // namespace tidemark::tables
