// An AccountStore holds the rows of each subject, replaces them as a whole, and knows the phase of
// the move. There are two: the old one, which attempts come from, and the table.
//
// All methods may be called from any thread and block. Each fails with kUnavailable when nothing
// was done, and kUnknown when a write may have been.
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
  std::vector<item::Item> items = {};  // In the form that the table has for them.
  std::string version = {};            // Of all that is stored; empty when nothing is.
  uint64_t epoch = 0;                  // Of the phase, when the rows were read or later.
};

struct Replacement {
  attempts::Subject subject;
  StoredAccount before;           // What was loaded.
  std::vector<item::Item> items;  // None: the subject is forgotten.
  std::optional<uint64_t> epoch;  // Refused in another one; nullopt: whichever it is.
  EpochSeconds now = 0;
};

enum class Outcome {
  kApplied,
  kChanged,     // Somebody else wrote since it was loaded; nothing was written.
  kOtherEpoch,  // The phase has changed; likewise.
};

struct SubjectPage {
  std::vector<attempts::Subject> subjects;  // Some may be there more than once.
  std::optional<std::string> next;  // Where the next page begins; nullopt: this is the last.
};

class AccountStore {
 public:
  virtual ~AccountStore() = default;

  virtual Result<StoredAccount> Load(const attempts::Subject& subject) = 0;
  virtual Result<Outcome> Replace(const Replacement& replacement) = 0;

  // Epoch 0 when there is none.
  virtual Result<PhaseRecord> GetPhase() = 0;
  // False when the epoch is not the expected one any more.
  virtual Result<bool> SetPhase(const PhaseRecord& record, uint64_t expected_epoch) = 0;
  // In the given epoch; what was noted in an earlier one is forgotten.
  virtual Status NoteDrift(uint64_t epoch, EpochSeconds now) = 0;
  virtual Result<Drift> GetDrift(uint64_t epoch) = 0;

  // Subjects that have anything stored; from the beginning without a cursor. Those that come or go
  // meanwhile may be left out.
  virtual Result<SubjectPage> ListSubjects(const std::optional<std::string>& cursor) = 0;
};

}  // namespace tidemark::moving
