// Embedded tables in a folder of their own that are interrupted once: not at all, by closing
// and opening them, or by a power cut at a moment that the seed chooses.
//
//   InterruptedTables stage({.seed = 7, .interruption = Interruption::kPowerCut});
//   ... work on stage.tables() in many threads; stop at the first error ...
//   stage.Interrupt();
//   ... work on ...
//
// tables() and powered() may be called from any thread; Interrupt only while nobody works.
// With a power cut the tables are always synced: anything else may lose what it acknowledged.
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
  // Opens new tables, makes the table, and only then lets the power be cut.
  explicit InterruptedTables(const InterruptedOptions& options);

  tables::Tables& tables() { return *tables_; }

  // False from the power cut to the end of Interrupt: only then may the tables answer errors.
  bool powered() const { return !files_ || files_->powered(); }

  // Cuts the power now if it has not gone yet. The tables are open again afterwards.
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
