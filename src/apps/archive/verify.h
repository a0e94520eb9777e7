// Verifies that an archive is what it says: every row decodes and agrees with those it belongs to,
// every file that a message has is in the object store, and the channel index is that of the
// channels' rows. Reads everything and writes nothing.
//
// For a table that nobody writes to meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/archive/channel_index.h"
#include "base/result.h"
#include "objects/objects.h"
#include "tables/tables.h"

namespace tidemark::archive {

inline constexpr size_t kMaxVerifyExamples = 20;

struct VerifyReport {
  uint64_t rows = 0;
  uint64_t messages = 0;
  uint64_t versions = 0;
  uint64_t channels = 0;
  uint64_t files = 0;
  uint64_t problems = 0;
  std::vector<std::string> examples = {};  // The first of them, with the row's key.
};

// All outlive the call.
struct VerifyParts {
  std::string table = "SlackArchive";
  tables::Tables* tables = nullptr;
  objects::Objects* objects = nullptr;  // nullptr: there are none.
  ChannelIndex* index = nullptr;
};

// Fails only when it cannot read. `rows` counts up meanwhile.
Result<VerifyReport> VerifyArchive(const VerifyParts& parts, std::atomic<uint64_t>* rows);

}  // namespace tidemark::archive
