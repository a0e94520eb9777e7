// TableStore is the new store of a move: the table of attempts (docs/formats/attempts.md), with two
// more rows for the phase and for the differences seen.
//
// May be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/attempts/moving/migration_store.h"
#include "tables/tables.h"

namespace tidemark::moving {

class TableStore final : public MigrationStore {
 public:
  // The tables outlive this.
  TableStore(std::string table, tables::Tables* tables)
      : table_(std::move(table)), tables_(*tables) {}

  // Strongly consistent. The epoch is read after the rows: a phase that changes in between shows.
  Result<StoredAccount> Load(const attempts::Subject& subject) override;
  Result<ReplaceOutcome> Replace(const Replacement& replacement) override;
  Result<PhaseRecord> GetPhase() override;
  Result<bool> SetPhase(const PhaseRecord& record, uint64_t expected_epoch) override;
  Status NoteDrift(uint64_t epoch, EpochSeconds now) override;
  Result<Drift> GetDrift(uint64_t epoch) override;
  Result<SubjectPage> ListSubjects(const std::optional<std::string>& cursor) override;
  Status CheckKeepsRows() override { return Done{}; }

 private:
  std::vector<tables::TransactAction> ActionsFor(const Replacement& replacement) const;

  const std::string table_;
  tables::Tables& tables_;
};

}  // namespace tidemark::moving
