// The options of documents. The defaults are those of the seed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/settings.h"

namespace tidemark::documents {

// What a write does when the table is unavailable. Strict: it fails before the object is written.
// Lenient: it writes the object, and leaves a note that the row must be repaired.
enum class WriteMode { kStrict, kLenient };

struct DocumentsOptions {
  std::string table = "ccoe-customer-contact-manager-cache";  // DYNAMODB_CACHE_TABLE_NAME
  std::chrono::seconds ttl = std::chrono::hours(24 * 90);     // DYNAMODB_CACHE_TTL_DAYS, in days
  bool enabled = true;                                        // DYNAMODB_CACHE_ENABLED
  int64_t rate_per_second = 100;                              // DYNAMODB_RATE_LIMIT_RPS
  // Whether the rate applies. It protects the budget of a remote table; a table in the process has
  // none, so the program limits its calls only when somebody sets documents.rate.
  bool limits_calls = true;
  std::string bucket = "ccoe-change-metadata";  // In s3_bucket; events name it.
  // Documents are the objects {prefix}{id}.json. Other prefixes hold working copies and triggers.
  std::string prefix = "archive/";
  // The notes about rows that must be repaired.
  std::string repair_prefix = "cache-repairs/";
  WriteMode write_mode = WriteMode::kStrict;
  // Writes are logged and not done. Reads work as usual.
  bool dry_run = false;
  // The indexes of the table may be behind the table, as DynamoDB's are. Then each hit of an index
  // is read again from the table.
  bool indexes_lag = false;
  // How many rows are compared with their objects at a time, and how often. 0: none.
  int64_t sample = 20;
  std::chrono::milliseconds sample_every = std::chrono::minutes(1);
  // When it is set, only one process at a time can have these stores open, and this is the name
  // that this one gives itself. A write that another process began was then left when that process
  // ended, and is settled at once. Empty: several processes may write.
  std::string sole_process = {};
  // After this time, and twice the difference of clocks, others settle a write.
  std::chrono::seconds intent_lease = std::chrono::seconds(30);
  std::chrono::seconds skew = std::chrono::seconds(2);
  std::chrono::seconds negative_life = std::chrono::seconds(30);
  // The time for one operation with all its retries. It is below the 30 s of the sync handler.
  std::chrono::milliseconds deadline = std::chrono::seconds(25);
};

// kInvalid, naming the setting, when a number is out of its range or a name is empty.
Status ValidateOptions(const DocumentsOptions& options);

// From the program's settings documents.*.
Result<DocumentsOptions> OptionsFrom(const Settings& settings);

}  // namespace tidemark::documents
