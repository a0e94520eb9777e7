// Embedded tables in a temporary folder. In the middle of a test they are left alone, closed and
// opened again, or hit by a power cut at a moment that the seed chooses.
//
//   InterruptedTables stage({.seed = 7, .interruption = Interruption::kPowerCut});
//   ... work on stage.tables() in many threads; stop at the first error ...
//   stage.Interrupt();
//   ... work on ...
//
// tables() and powered() may be called from any thread; Interrupt only while no thread writes.
// With a power cut the tables always sync: without sync they may lose acknowledged writes.
#pragma once

#include <cstdint>
#include <memory>

#include "base/random.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/temp_folder.h"

namespace tidemark::testing {

enum class Interruption { kNone, kRestart, kPowerCut };

struct InterruptedOptions {
  uint64_t seed = 0;
  embedded::Durability durability = embedded::Durability::kEverySecond;
  Interruption interruption = Interruption::kNone;
  tables::CreateTableRequest table;
};

class InterruptedTables {
 public:
  // Opens new tables and creates the table. The power cut cannot happen before that.
  explicit InterruptedTables(const InterruptedOptions& options);

  tables::Tables& tables() { return *tables_; }

  // False from the power cut until the end of Interrupt. Only then may calls fail.
  bool powered() const { return !files_ || files_->powered(); }

  // Cuts the power now if that has not happened yet. Afterwards the tables are open again.
  void Interrupt();

 private:
  void Open();

  const InterruptedOptions options_;
  TempFolder folder_;
  SeededRandom random_;
  std::shared_ptr<FaultFileSystem> files_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
};

}  // namespace tidemark::testing
