// The work that the crash tests do and the model that says what it must leave behind.
//
// A table of things, under an id, with a sparse index by group and a stream with both
// images. Each writer has things of its own, so that the order of its operations is the
// order of their changes; one counter is shared by all writers. Operation i of writer w is a
// function of the seed alone: whoever knows how far a writer came knows what it did, even
// when the writer was another process and is dead.
//
// Functions of their arguments: any thread may call them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::crash {

inline constexpr const char* kTable = "things";
inline constexpr const char* kIndex = "by_group";
inline constexpr const char* kCounter = "counter";  // The id of the shared counter.

enum class StepKind {
  kPut,
  kPutIfAbsent,
  kAdd,   // One more to n; makes the thing when it is absent.
  kMove,  // Into another group, which moves its index row; drops the payload.
  kDelete,
  kCheckPresent,  // Only in a transaction: it fails when the thing is absent.
  kCount,         // One more to the shared counter.
};

struct Step {
  StepKind kind;
  std::string id;
  std::string group;  // Empty: the thing is not in the index.
  size_t payload_bytes = 0;
};

// One step is a plain write, several are a transaction.
struct Operation {
  uint64_t number = 0;  // Stored with what it writes, so that no two writes are alike.
  std::vector<Step> steps;
};

Operation OperationOf(uint64_t seed, uint32_t writer, uint64_t number);

struct Outcome {
  bool applied = true;  // False: a condition did not hold.
  uint64_t count = 0;   // For kCount: what the counter was raised to.
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
// "w3-07" belongs to writer 3; the counter to nobody.
std::optional<uint32_t> OwnerOf(const std::string& id);

// ---- Looking at what is there ----

Result<Things> ReadThings(tables::Tables& tables);
// Through the index; only what is in it.
Result<Things> ReadIndex(tables::Tables& tables);
// All that follows `sequence`, or all there is when it is empty, in order.
Result<std::vector<tables::StreamRecord>> ReadStream(tables::Tables& tables,
                                                     const std::string& after_sequence);

// The number of times a test repeats itself: `name` in the environment when it is set there,
// `release` times with TIDEMARK_LONG=1, and `usual` times otherwise.
uint64_t Repetitions(const char* name, uint64_t usual, uint64_t release);

}  // namespace tidemark::crash
