// The Ledger records all acknowledgements, and checks a recovered folder against them. Every
// acknowledged operation must be present, and no operation that was not requested. The operation
// that each writer had not finished is present completely or not at all. The index agrees with the
// table, and the stream has all changes in order.
//
//   Ledger ledger(seed, /*writers=*/8);
//   ledger.Acknowledge(writer, outcome);         // as replies come in, then the crash, then
//   EXPECT_THAT(ledger.Check(*tables), IsEmpty());  // and the next round begins from there.
//
// The stream shows how many operations of each writer were applied. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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
  // The number of acknowledgements of all writers since the beginning.
  uint64_t acknowledged() const { return acknowledged_; }

  // The writer's next operation was answered with this outcome.
  void Acknowledge(uint32_t writer, Outcome outcome);
  // Copies the acknowledgements of a writer from another ledger, which began as a copy of this one.
  void Take(const Ledger& other, uint32_t writer);

  // Returns one sentence for each problem. Without a problem, the ledger takes the state that it
  // found as the beginning of the next round.
  std::vector<std::string> Check(embedded::EmbeddedTables& tables);

  // The same for a copy that was made while the writers were running. The copy must have at least
  // the operations of each writer that are in `earlier`, the ledger from before the copy, and at
  // most those in this ledger and one more.
  std::vector<std::string> CheckCopy(embedded::EmbeddedTables& copy, const Ledger& earlier) const;

 private:
  struct Writer {
    uint64_t base = 0;              // The number of operations that the last check found.
    std::vector<Outcome> outcomes;  // Acknowledged since.
  };
  // How many operations of one writer the recovered folder may have.
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
  std::vector<std::string> problems_;  // Found by the running check.
};

}  // namespace tidemark::crash
