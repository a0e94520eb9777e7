// TwoStores keeps the accounts of subjects in the old store and in the new one while attempts move
// from one to the other: who is asked, who decides and who is written is the phase's to say.
//
//   View view = TRY(stores.Load(subject));       // what both know, joined
//   bool applied = TRY(stores.Write(subject, {.version = view.version, .puts = ...}));
//
// While both live the stricter one holds. The store that decides is written first, on the condition
// that nothing changed since it was loaded; what it has then is joined into the other. When the
// store that decides fails the call does; when the other one does, that is logged and counted, and
// the call goes on. A process that has not heard of a change of the phase is refused by the epoch
// and looks again, except in the phase `new`, which asks no more than now and then.
//
// May be called from any thread. It never blocks but in the stores.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "apps/attempts/moving/account_store.h"
#include "apps/attempts/moving/phase.h"
#include "apps/attempts/moving/rows.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/result.h"

namespace tidemark::moving {

// For how long a process in the phase `new` may not know that it is over.
inline constexpr std::chrono::seconds kPhaseAge(5);

// What is known of one subject, in the phase of the moment.
struct View {
  PhaseRecord phase = {};
  // nullopt: it is not read in this phase, or it failed and does not decide.
  std::optional<StoredAccount> old_account = std::nullopt;
  std::optional<StoredAccount> new_account = std::nullopt;
  EpochSeconds now = 0;
  Rows rows = {};                                     // Of both.
  std::optional<std::string> version = std::nullopt;  // Of both; nullopt when nothing is known.

  const std::optional<StoredAccount>& Of(Side side) const {
    return side == Side::kOld ? old_account : new_account;
  }
};

struct Change {
  std::optional<std::string> version;  // Of the view that it was decided on.
  std::vector<item::Item> puts = {};   // The head among them, with a new version.
  std::vector<std::string> removes = {};
};

// Counted while two stores are in use. They may be there before that.
struct MoveMetrics {
  static MoveMetrics AddTo(Metrics* metrics);  // Null: nothing is counted.
  Counter* drift = nullptr;
  Counter* missed = nullptr;
};

class TwoStores {
 public:
  // All outlive this; the logger may be null.
  TwoStores(AccountStore* old_store, AccountStore* new_store, const Clock* clock, Random* random,
            const Logger* logger, MoveMetrics metrics);

  // Begins the move in this phase, unless it has begun before: then it goes on where it was.
  Status Start(Phase phase);
  Result<PhaseRecord> CurrentPhase();
  // False when somebody else changed it meanwhile.
  Result<bool> ChangePhase(const PhaseRecord& from, Phase to);

  Result<View> Load(const attempts::Subject& subject);
  // False when somebody else wrote since.
  Result<bool> Write(const attempts::Subject& subject, const Change& change);

  // Joins both into each that is written in this phase; false when it did not come to that because
  // others kept writing.
  Result<bool> Copy(const attempts::Subject& subject);
  // The old store forgets the subject.
  Status ForgetOld(const attempts::Subject& subject);
  // Of the current epoch, in both stores.
  Result<Drift> GetDrift();
  // Looks at both for what the phase's decisions would differ in, and notes it.
  void Compare(const attempts::Subject& subject, const View& view);

  AccountStore& StoreOf(Side side) { return side == Side::kOld ? old_ : new_; }
  EpochSeconds Now() const { return clock_.NowSeconds(); }

 private:
  // What the records of both stores come to; the one that is behind is brought up.
  Result<PhaseRecord> FindPhase();
  Result<PhaseRecord> Refresh();
  Result<std::optional<StoredAccount>> LoadFrom(Side side, const attempts::Subject& subject,
                                                const PhaseRecord& phase);
  void JoinInto(View* view) const;
  // Joins the rows into the store that does not decide; what fails is noted.
  void Mirror(const attempts::Subject& subject, const View& view, const Rows& rows);
  // kChanged when others kept writing.
  Result<Outcome> JoinIntoStore(Side side, const attempts::Subject& subject, StoredAccount before,
                                const Rows& rows, PhaseRecord phase);
  std::vector<item::Item> Joined(const attempts::Subject& subject, const StoredAccount& before,
                                 const Rows& rows, EpochSeconds now);
  void Missed(Side side, const attempts::Subject& subject, const PhaseRecord& phase,
              const Error& error);
  void NoteDrift(const PhaseRecord& phase);

  AccountStore& old_;
  AccountStore& new_;
  const Clock& clock_;
  Random& random_;
  const Logger* const logger_;
  const MoveMetrics metrics_;

  std::mutex mutex_;
  std::optional<PhaseRecord> known_;
  std::chrono::nanoseconds known_at_{0};
};

}  // namespace tidemark::moving
