// The operations of the crash tests, and a model of their results.
//
// A table of things, under an id, with a sparse index by group and a stream with both
// images. Each writer has its own things, so the order of its operations is the order of their
// changes. All writers share one counter. The seed alone decides operation i of writer w. So the
// number of operations is enough to know what a writer did, even if it was another process that was
// killed.
//
// Pure functions: any thread may call them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tables/tables.h"
#include "tests/support/long_run.h"

namespace tidemark::crash {

inline constexpr const char* kTable = "things";
inline constexpr const char* kIndex = "by_group";
inline constexpr const char* kCounter = "counter";  // The id of the shared counter.

enum class StepKind {
  kPut,
  kPutIfAbsent,
  kAdd,   // Adds one to n; creates the thing when it is absent.
  kMove,  // Changes the group, which moves the index row; removes the payload.
  kDelete,
  kCheckPresent,  // Only in a transaction: it fails when the thing is absent.
  kCount,         // Adds one to the shared counter.
};

struct Step {
  StepKind kind;
  std::string id;
  std::string group;  // Empty: the thing is not in the index.
  size_t payload_bytes = 0;
};

// One step is a plain write, several are a transaction.
struct Operation {
  uint64_t number = 0;  // Stored with each write, so that no two writes are equal.
  std::vector<Step> steps;
};

Operation OperationOf(uint64_t seed, uint32_t writer, uint64_t number);

struct Outcome {
  bool applied = true;  // False: a condition did not hold.
  uint64_t count = 0;   // For kCount: the new value of the counter.
};

tables::CreateTableRequest TheTable();
Result<Outcome> Perform(tables::Tables& tables, const Operation& operation);

// ---- The model ----

using Things = std::map<std::string, item::Item>;  // By id.

struct Change {
  std::string id;
  std::optional<item::Item> before;
  std::optional<item::Item> after;
  friend bool operator==(const Change&, const Change&) = default;
};

// What the operation changes, in the order of its steps; nullopt when a condition does not
// hold. Not for kCount, whose outcome other writers decide too.
std::optional<std::vector<Change>> ChangesOf(const Operation& operation, const Things& things);
void Apply(const std::vector<Change>& changes, Things* things);
bool Counts(const Operation& operation);
// "w3-07" belongs to writer 3. The counter has no owner.
std::optional<uint32_t> OwnerOf(const std::string& id);

// ---- Looking at what is there ----

Result<Things> ReadThings(tables::Tables& tables);
// Reads the things through the index.
Result<Things> ReadIndex(tables::Tables& tables);
// All records after `sequence`, or all records when it is empty, in order.
Result<std::vector<tables::StreamRecord>> ReadStream(tables::Tables& tables,
                                                     const std::string& after_sequence);

// The number of times a test repeats itself: `name` in the environment when it is set there, and
// otherwise what AmountOf says.
uint64_t Repetitions(const char* name, testing::Amounts amounts);

}  // namespace tidemark::crash
