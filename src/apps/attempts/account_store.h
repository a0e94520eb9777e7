// An AccountStore keeps the rows of each subject (docs/formats/attempts.md). It is all that the
// engine knows of storage: AccountTable is the table, and moving::TwoStores joins an old store and
// the table while attempts move from one to the other.
//
//   std::vector<item::Item> rows = TRY(store.Load(subject));
//   ... decide ...
//   bool applied = TRY(store.Write(change));   // false: another writer was first, load again
//
// May be called from any thread. Load and Write block. All fail with kUnavailable when nothing was
// done and a retry may help. A write fails with kUnknown when its reply was lost: it may have been
// applied, and the next Load shows whether it was.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/attempts/names.h"
#include "base/later.h"
#include "base/result.h"
#include "item/value.h"

namespace tidemark::attempts {

inline constexpr std::string_view kPartitionAttribute = "subject_id";
inline constexpr std::string_view kSortAttribute = "sk";
// The sort key of the head row. It sorts before every name.
inline constexpr std::string_view kHeadKey = "!";
// An attribute of a head row: the subject was taken over from another id of the same person.
inline constexpr std::string_view kTakenOver = "taken_over";
// The sort key of a row that only a move from another store reads and writes.
inline constexpr std::string_view kGenerationsKey = "~";

// Another subject that a decision depends on.
struct RequiredVersion {
  Subject subject;
  std::optional<std::string> version;  // Of its head row; nullopt: it has none.
};

// What one decision changes of the rows of a subject.
struct AccountChange {
  Subject subject;
  // Of the head row that was loaded; nullopt when there was none. The change is applied only if
  // the head row still has this version, so that two decisions made from the same rows cannot both
  // be written.
  std::optional<std::string> loaded_version = std::nullopt;
  item::Item head;                         // With a new version.
  std::vector<item::Item> puts = {};       // Other rows that are new or changed.
  std::vector<std::string> removals = {};  // Sort keys of rows that are deleted.
  // Applied only if these still have their versions too. A move from another store may check them
  // shortly before it writes; all other stores check them in the same step.
  std::vector<RequiredVersion> required = {};
};

class AccountStore {
 public:
  virtual ~AccountStore() = default;

  // All rows of the subject, expired ones too, as of the last write that was answered. Empty when
  // nothing is stored.
  virtual Result<std::vector<item::Item>> Load(const Subject& subject) = 0;

  // Whether the two functions below that submit return at once.
  virtual bool SubmitsWithoutBlocking() const { return false; }

  // The same for a caller that does not wait. What is chained to the answer must not block. A store
  // that cannot do this reads here and now.
  virtual Later<std::vector<item::Item>> SubmitLoad(const Subject& subject) {
    return Load(subject);
  }

  // Applies all of the change or nothing. False: the head row has another version by now.
  virtual Result<bool> Write(const AccountChange& change) = 0;

  // The same for a caller that does not wait. What is chained to the answer must not block. A store
  // that cannot do this writes here and now.
  virtual Later<bool> Submit(const AccountChange& change) { return Write(change); }
};

}  // namespace tidemark::attempts
