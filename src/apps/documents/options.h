// What documents can be told, with the seed's values as defaults.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/settings.h"

namespace tidemark::documents {

// What a write does when the table is away: fail before the object is touched, or write the object
// and leave a note that the row is to be repaired.
enum class WriteMode { kStrict, kLenient };

struct DocumentsOptions {
  std::string table = "ccoe-customer-contact-manager-cache";  // DYNAMODB_CACHE_TABLE_NAME
  std::chrono::seconds ttl = std::chrono::hours(24 * 90);     // DYNAMODB_CACHE_TTL_DAYS, in days
  bool enabled = true;                                        // DYNAMODB_CACHE_ENABLED
  int64_t rate_per_second = 100;                              // DYNAMODB_RATE_LIMIT_RPS
  std::string bucket = "ccoe-change-metadata";                // In s3_bucket; events name it.
  // Where the truth is: {prefix}{id}.json. Other prefixes hold working copies and triggers.
  std::string prefix = "archive/";
  // Where notes of rows to be repaired are.
  std::string repair_prefix = "cache-repairs/";
  WriteMode write_mode = WriteMode::kStrict;
  // Writes are logged and not made. Reads are as usual.
  bool dry_run = false;
  // The indexes of the table may be behind it, as DynamoDB's are: each hit is read again.
  bool indexes_lag = false;
  // How many rows are compared with their objects at a time, and how often; 0: none.
  int64_t sample = 20;
  std::chrono::milliseconds sample_every = std::chrono::minutes(1);
  // How long a write may be under way before others settle it, and how far clocks may differ.
  std::chrono::seconds intent_lease = std::chrono::seconds(30);
  std::chrono::seconds skew = std::chrono::seconds(2);
  std::chrono::seconds negative_life = std::chrono::seconds(30);
  // What one operation may take with all its retries; below the 30 s of the sync handler.
  std::chrono::milliseconds deadline = std::chrono::seconds(25);
};

// kInvalid, naming the setting, when a number is out of its range or a name is empty.
Status ValidateOptions(const DocumentsOptions& options);

// From the program's settings documents.*.
Result<DocumentsOptions> OptionsFrom(const Settings& settings);

}  // namespace tidemark::documents
