// The limits of documents that are not options.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/rate_limiter.h"

namespace tidemark::documents {

// Of an id. So the keys of its object and of its pointers are short enough for every store.
inline constexpr size_t kMaxIdBytes = 512;
inline constexpr size_t kMaxCustomerBytes = 128;
// Each but the first has a pointer. A row and its pointers are written in one transaction.
inline constexpr size_t kMaxCustomers = 99;
// Of an object that is read as a document.
inline constexpr size_t kMaxDocumentBytes = size_t{16} << 20;
// Of a row with its document. The rest of an item is kept free for an intent. A larger document is
// not stored in its row.
inline constexpr size_t kMaxRowBytes = 405'000;

// 9999-12-31T23:59:59Z. Later times are mistakes, and sums with them might overflow.
inline constexpr int64_t kLastSecond = 253'402'300'799;

inline constexpr size_t kMaxPage = 1000;
inline constexpr size_t kDefaultPage = 100;
// A page of a range ends when its documents have this many bytes together. It has one at least.
inline constexpr size_t kMaxPageBytes = kMaxDocumentBytes;
// How many objects are read for one answer.
inline constexpr size_t kMaxListedObjects = 200'000;

// How long the tombstone of a deleted document stays.
inline constexpr std::chrono::seconds kTombstoneLife = std::chrono::hours(24);
// How long a reader remembers that neither store has an id.
inline constexpr std::chrono::seconds kLongestNegativeLife = std::chrono::seconds(30);
inline constexpr size_t kMaxNegativeEntries = 10'000;

inline constexpr int64_t kMaxSample = 10'000;
inline constexpr std::chrono::milliseconds kShortestSampling = std::chrono::seconds(1);

inline constexpr int64_t kMaxTtlDays = 3650;
inline constexpr int64_t kMaxRatePerSecond = RateLimiter::kMaxRatePerSecond;

}  // namespace tidemark::documents
