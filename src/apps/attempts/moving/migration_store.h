// A MigrationStore is one of the two stores of a move: the old store, which attempts come from, or
// the table, which they go to. It holds the rows of each subject and replaces them as a whole, and
// it keeps a copy of the record that says which phase the move is in.
//
// All methods may be called from any thread and block. Each fails with kUnavailable when nothing
// was done, and with kUnknown when a write may have been applied.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/attempts/moving/phase.h"
#include "apps/attempts/names.h"
#include "base/result.h"
#include "item/value.h"

namespace tidemark::moving {

struct StoredAccount {
  std::vector<item::Item> items = {};  // As the table has them (docs/formats/attempts.md).
  std::string version = {};            // Changes with every write; empty when nothing is stored.
  uint64_t epoch = 0;                  // Of the phase record, read with the rows or after them.
  // Something outside Tidemark removed or lowered a row here, and `items` has it as it was: where
  // the table decides, absence in the old store changes nothing.
  bool has_lost_rows = false;
};

struct Replacement {
  attempts::Subject subject;
  StoredAccount before;           // As loaded. Refused when the version is another by now.
  std::vector<item::Item> items;  // All rows from now on. Empty: the subject is deleted.
  std::optional<uint64_t> epoch;  // Refused in any other epoch; nullopt: applied in every epoch.
  EpochSeconds now = 0;
};

enum class ReplaceOutcome {
  kApplied,
  kChanged,     // Another writer changed it since it was loaded; nothing was written.
  kOtherEpoch,  // The phase has changed; nothing was written.
};

struct SubjectPage {
  std::vector<attempts::Subject> subjects;  // The same subject may appear more than once.
  std::optional<std::string> next;          // The cursor of the next page; nullopt: no more pages.
};

class MigrationStore {
 public:
  virtual ~MigrationStore() = default;

  virtual Result<StoredAccount> Load(const attempts::Subject& subject) = 0;
  virtual Result<ReplaceOutcome> Replace(const Replacement& replacement) = 0;

  // Epoch 0 when there is no record.
  virtual Result<PhaseRecord> GetPhase() = 0;
  // False when the stored epoch is not the expected one; nothing was written then.
  virtual Result<bool> SetPhase(const PhaseRecord& record, uint64_t expected_epoch) = 0;
  // Counts one difference in this epoch. Differences of earlier epochs are forgotten.
  virtual Status NoteDrift(uint64_t epoch, EpochSeconds now) = 0;
  virtual Result<Drift> GetDrift(uint64_t epoch) = 0;

  // Subjects that have anything stored; the first page without a cursor. A subject that is created
  // or deleted while the pages are read may be missing.
  virtual Result<SubjectPage> ListSubjects(const std::optional<std::string>& cursor) = 0;

  // kInvalid, with what to do, when the store may drop rows that have not ended.
  virtual Status CheckKeepsRows() = 0;
};

}  // namespace tidemark::moving
