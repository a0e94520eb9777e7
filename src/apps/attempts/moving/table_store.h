// TableStore is the new one of the two stores: the table of attempts, as docs/formats/attempts.md
// describes it, with two rows more for the phase of the move.
//
// May be called from any thread.
#pragma once

#include <string>

#include "apps/attempts/moving/account_store.h"
#include "tables/tables.h"

namespace tidemark::moving {

class TableStore final : public AccountStore {
 public:
  // The tables outlive this.
  TableStore(std::string table, tables::Tables* tables)
      : table_(std::move(table)), tables_(*tables) {}

  // Strongly consistent; the epoch is read behind the rows.
  Result<StoredAccount> Load(const attempts::Subject& subject) override;
  Result<Outcome> Replace(const Replacement& replacement) override;
  Result<PhaseRecord> GetPhase() override;
  Result<bool> SetPhase(const PhaseRecord& record, uint64_t expected_epoch) override;
  Status NoteDrift(uint64_t epoch, EpochSeconds now) override;
  Result<Drift> GetDrift(uint64_t epoch) override;
  Result<SubjectPage> ListSubjects(const std::optional<std::string>& cursor) override;

 private:
  Result<std::vector<item::Item>> LoadItems(const attempts::Subject& subject);
  std::vector<tables::TransactAction> ActionsFor(const Replacement& replacement) const;

  const std::string table_;
  tables::Tables& tables_;
};

}  // namespace tidemark::moving
