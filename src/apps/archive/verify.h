// Checks an archive: every row can be decoded and agrees with the rows it belongs to, every file of
// a message is in the object store, and the channel index agrees with the channel rows. Reads
// everything and writes nothing.
//
// No other program may write to the table at the same time: a change during the check looks like a
// fault.
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
  std::vector<std::string> examples = {};  // The first problems, with the key of the row.
};

// All outlive the call.
struct VerifyParts {
  std::string table = "SlackArchive";
  tables::Tables* tables = nullptr;
  objects::Objects* objects = nullptr;  // nullptr: there are none.
  ChannelIndex* index = nullptr;
};

// Fails only when a store cannot be read. `rows` counts the rows while it runs.
Result<VerifyReport> VerifyArchive(const VerifyParts& parts, std::atomic<uint64_t>* rows);

}  // namespace tidemark::archive
