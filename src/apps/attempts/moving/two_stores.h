// TwoStores is the AccountStore of attempts while they move from an old store to the table. The
// phase of the move (phase.h) says which of the two is read, which is written and which decides.
//
//   TwoStores stores({.old_store = &redis, .new_store = &table_store, .table = &table}, runtime);
//   TRY(stores.Start(Phase::kOld));
//   Attempts attempts(policy, &stores, runtime);
//
// Load gives the rows of both stores joined into one account (rows.h), so while both are read the
// stricter one holds. Write goes to the store that decides first, on the condition that neither
// store changed since the load; then the rows are joined into the other one. When the store that
// decides fails, the call fails. When the other one fails, that is logged and counted, and the call
// succeeds.
//
// A process may know an old phase. The stores then refuse its writes by the epoch, and it looks up
// the phase again. The exception is the phase `new`: it reads and writes the table alone, without
// an epoch, and looks up the phase every few seconds.
//
// May be called from any thread. Only the calls to the stores block.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/attempts/account_store.h"
#include "apps/attempts/moving/migration_store.h"
#include "apps/attempts/moving/phase.h"
#include "apps/attempts/moving/rows.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"
#include "base/runtime.h"

namespace tidemark::moving {

// How long a process in the phase `new` may not notice that the phase has ended.
inline constexpr std::chrono::seconds kPhaseAge(5);

// Both counters exist before a move begins, so that an alarm can watch them.
struct MoveMetrics {
  explicit MoveMetrics(Metrics* metrics);
  Counter& drift;
  Counter& missed;
};

// Whether the two stores agree about a subject.
enum class Agreement {
  kSame,
  kDiffers,
  kUnderWay,  // A server has written one store and is about to write the other one.
};

// What is stored of one subject, in both stores together.
struct Sighting {
  Agreement agreement = Agreement::kSame;
  size_t rows = 0;
  size_t permanent = 0;  // Rows without an end.
};

class TwoStores final : public attempts::AccountStore {
 public:
  struct Stores {
    MigrationStore* old_store = nullptr;
    MigrationStore* new_store = nullptr;
    attempts::AccountStore* table = nullptr;  // The same table as `new_store`, for the phase `new`.
  };

  // The stores outlive this.
  TwoStores(const Stores& stores, const Runtime& runtime, const MoveMetrics& metrics);

  // Begins the move in this phase. A move that has begun before goes on in the phase it was in.
  Status Start(Phase phase);
  // Whether a move was begun before, by this process or another one.
  Result<bool> HasBegun();
  Result<PhaseRecord> CurrentPhase();
  // False when another process changed the phase first.
  Result<bool> ChangePhase(const PhaseRecord& from, Phase to);

  // The AccountStore of attempts.
  Result<std::vector<item::Item>> Load(const attempts::Subject& subject) override;
  Result<bool> Write(const attempts::AccountChange& change) override;
  Later<bool> Submit(const attempts::AccountChange& change) override;

  // Joins the rows of both stores into each store that the phase writes. False when others kept
  // writing, so that nothing was copied.
  Result<bool> Copy(const attempts::Subject& subject);
  // Joins the rows of the old store into the table, also before a move has begun. False as above.
  Result<bool> CopyIntoTable(const attempts::Subject& subject);
  // Compares the subject in both stores. kUnavailable when one of them cannot be read.
  Result<Sighting> Look(const attempts::Subject& subject);
  // Logs and counts that the stores differ about the subject: it holds back the next phase.
  void NoteDifference(const attempts::Subject& subject, const PhaseRecord& phase);
  // kInvalid when the phase reads the old store and that may drop rows that have not ended.
  Status CheckOldKeepsRows();
  // Deletes the subject from the old store.
  Status ForgetOld(const attempts::Subject& subject);
  // Differences seen in the current epoch, in both stores together.
  Result<Drift> GetDrift();

  MigrationStore& StoreOf(Side side) { return side == Side::kOld ? old_ : new_; }
  EpochSeconds Now() const { return runtime_.clock.NowSeconds(); }
  const Runtime& runtime() const { return runtime_; }

 private:
  // All that is known of one subject in one phase.
  struct View {
    PhaseRecord phase = {};
    // nullopt: not read in this phase, or the store failed and is not the one that decides.
    std::optional<StoredAccount> old_account = std::nullopt;
    std::optional<StoredAccount> new_account = std::nullopt;
    EpochSeconds now = 0;
    Rows rows = {};                                     // Of both, joined.
    std::optional<std::string> version = std::nullopt;  // Of both; nullopt when nothing is stored.

    const std::optional<StoredAccount>& Of(Side side) const {
      return side == Side::kOld ? old_account : new_account;
    }
  };

  Result<bool> IsInPhaseNew();
  // The later one of both records. Writes it to the store that has the earlier one.
  Result<PhaseRecord> FindPhase();
  Result<PhaseRecord> RefreshPhase();
  void KnowPhase(const PhaseRecord& record);

  Result<View> LoadView(const attempts::Subject& subject);
  Result<std::optional<StoredAccount>> LoadFrom(Side side, const attempts::Subject& subject,
                                                const PhaseRecord& phase);
  void JoinAccounts(View* view) const;
  static std::optional<std::string> JointVersion(const View& view);
  static Rows ApplyChange(const attempts::AccountChange& change, const View& view);
  // Looks only at what matters for a decision.
  Agreement AgreementOf(const View& view) const;
  // Looks now and then whether the old store may drop rows, and warns when it may.
  void WatchOldStore();

  // Joins the rows into the store that does not decide. A failure is noted and not returned.
  void Mirror(const attempts::Subject& subject, const View& view, const Rows& rows);
  // kChanged when others kept writing.
  Result<ReplaceOutcome> JoinIntoStore(Side side, const attempts::Subject& subject,
                                       StoredAccount before, const Rows& rows, PhaseRecord phase);
  std::vector<item::Item> JoinWith(const StoredAccount& before, const Rows& rows,
                                   const attempts::Subject& subject, EpochSeconds now);
  // Logs and counts that the store that does not decide failed.
  void NoteMissed(Side side, const attempts::Subject& subject, const PhaseRecord& phase,
                  const Error& error);
  void NoteDrift(const PhaseRecord& phase);

  MigrationStore& old_;
  MigrationStore& new_;
  attempts::AccountStore& table_;
  const Runtime runtime_;
  const MoveMetrics metrics_;

  std::mutex mutex_;  // Guards what is below.
  std::optional<PhaseRecord> known_;
  std::chrono::nanoseconds known_at_{0};
  std::chrono::nanoseconds watched_at_{0};  // The last look at the old store's own rules.
};

}  // namespace tidemark::moving
