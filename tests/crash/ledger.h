// The Ledger knows what every writer was told, and checks a recovered folder against it:
// nothing that was acknowledged is missing, nothing that was not asked for is there, the
// operation that each writer had under way is there whole or not at all, the index shows
// what the table holds, and the stream is the list of the changes in their order.
//
//   Ledger ledger(seed, /*writers=*/8);
//   ledger.Acknowledge(writer, outcome);         // as replies come in, then the crash, then
//   EXPECT_THAT(ledger.Check(*tables), IsEmpty());  // and the next round begins from there.
//
// The stream decides how far each writer came. Not for use by two threads at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tables/embedded/embedded_tables.h"
#include "tests/crash/workload.h"

namespace tidemark::crash {

class Ledger {
 public:
  Ledger(uint64_t seed, uint32_t writers);

  uint64_t seed() const { return seed_; }
  uint32_t writers() const { return static_cast<uint32_t>(writers_.size()); }
  // The number of the writer's first operation without an acknowledgement.
  uint64_t next(uint32_t writer) const;
  // All writers' acknowledgements since the beginning.
  uint64_t acknowledged() const { return acknowledged_; }

  // The writer's next operation was answered with this outcome.
  void Acknowledge(uint32_t writer, Outcome outcome);
  // Takes over what another ledger, begun as a copy of this one, was told about a writer.
  void Take(const Ledger& other, uint32_t writer);

  // One sentence for each thing that is wrong. When there is none the ledger takes over what
  // it found as the state in which the next round begins.
  std::vector<std::string> Check(embedded::EmbeddedTables& tables);

  // The same for a copy made while the writers went on: it may hold any number of each
  // writer's operations, at least those that `earlier`, the ledger as of before the copy
  // began, knows, and at most those in this one and one more.
  std::vector<std::string> CheckCopy(embedded::EmbeddedTables& copy, const Ledger& earlier) const;

 private:
  struct Writer {
    uint64_t base = 0;              // Operations that the last check found.
    std::vector<Outcome> outcomes;  // Acknowledged since.
  };
  // What the recovered folder may hold of one writer's operations.
  struct Bounds {
    uint64_t at_least = 0;
    uint64_t at_most = 0;
  };
  using Changes = std::vector<Change>;

  void CheckAll(embedded::EmbeddedTables& tables, const std::vector<Bounds>& bounds);
  void CheckStream(const std::vector<tables::StreamRecord>& records,
                   const std::vector<Bounds>& bounds);
  std::optional<Change> ChangeIn(const tables::StreamRecord& record);
  void CheckWriter(uint32_t writer, const Bounds& bounds, const Changes& changes);
  bool CheckOperation(uint32_t writer, const Operation& operation, const Changes& changes,
                      size_t* explained);
  void CheckCounter(const std::vector<Bounds>& bounds, const Changes& changes);
  void CheckContents(embedded::EmbeddedTables& tables);
  void CheckRows(embedded::EmbeddedTables& tables);
  void Problem(std::string text) { problems_.push_back(std::move(text)); }

  uint64_t seed_;
  std::vector<Writer> writers_;
  uint64_t acknowledged_ = 0;
  Things things_;  // As of the last check, like the next two.
  uint64_t counter_ = 0;
  std::string last_sequence_;
  std::vector<std::string> problems_;  // Of the check under way.
};

}  // namespace tidemark::crash
