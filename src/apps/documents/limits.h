// The limits of documents, beside those that are options.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tidemark::documents {

// Of an id, so that its object's key and its pointers' keys fit everywhere.
inline constexpr size_t kMaxIdBytes = 512;
inline constexpr size_t kMaxCustomerBytes = 128;
// One row each beside the document's, all in one transaction.
inline constexpr size_t kMaxCustomers = 99;
// Of an object that is read as a document.
inline constexpr size_t kMaxDocumentBytes = size_t{16} << 20;
// Of a row with its document: the rest of an item is for a write under way beside it. A larger
// document stays out of its row.
inline constexpr size_t kMaxRowBytes = 405'000;

// 9999-12-31T23:59:59Z: times behind it are mistakes, and sums with them might not fit.
inline constexpr int64_t kLastSecond = 253'402'300'799;

inline constexpr size_t kMaxPage = 1000;
inline constexpr size_t kDefaultPage = 100;
// What is read from the object store for one answer.
inline constexpr size_t kMaxListedObjects = 200'000;

// How long a deleted document's row says so.
inline constexpr std::chrono::seconds kTombstoneLife = std::chrono::hours(24);
// How long "neither the cache nor the object store has it" is believed.
inline constexpr std::chrono::seconds kLongestNegativeLife = std::chrono::seconds(30);
inline constexpr size_t kMaxNegativeEntries = 10'000;

inline constexpr int64_t kMaxSample = 10'000;
inline constexpr std::chrono::milliseconds kShortestSampling = std::chrono::seconds(1);

inline constexpr int64_t kMaxTtlDays = 3650;
inline constexpr int64_t kMaxRatePerSecond = 1'000'000;

}  // namespace tidemark::documents
