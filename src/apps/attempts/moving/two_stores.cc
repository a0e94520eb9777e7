#include "apps/attempts/moving/two_stores.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/attempts/account.h"
#include "item/attributes.h"
#include "tables/plan_again.h"

namespace tidemark::moving {

namespace {

// How often a load is repeated because the phase changed under it. A change of the phase is rare.
constexpr int kMaxPhaseRounds = 4;
constexpr size_t kVersionBytes = 8;
// A writer updates the store that decides, then the other one. For so long after a write, different
// versions are taken for a writer between the two; after that they are a difference.
constexpr EpochSeconds kMirrorSeconds = 10;
// How often a server looks whether the old store may drop rows by itself.
constexpr std::chrono::seconds kWatchAge(60);

// When anything was decided last.
EpochSeconds SeenAt(const Rows& rows) {
  const auto head = rows.find(attempts::kHeadKey);
  if (head == rows.end() || !head->second.item) return 0;
  return item::IntIn(*head->second.item, "seen_at").value_or(0);
}

// Whether the stores agree as far as they must. When both are written they must have the same. In
// the phase new-old-readable the old store is only read: it may lack rows that the table has, but
// the table must not lack a row that the old store has.
bool IsInOrder(Phase phase, const Rows& of_old, const Rows& of_new) {
  return SayTheSame(phase == Phase::kNewOldReadable ? Join(of_new, of_old) : of_old, of_new);
}

}  // namespace

MoveMetrics::MoveMetrics(Metrics* metrics)
    : drift(metrics->AddCounter(
          {.name = "tidemark_attempts_drift_total",
           .help = "Accounts that differed between the old store and the new one when read."})),
      missed(metrics->AddCounter({.name = "tidemark_attempts_missed_total",
                                  .help = "Times the store that does not decide failed and the "
                                          "call succeeded without it."})) {}

TwoStores::TwoStores(const Stores& stores, const Runtime& runtime, const MoveMetrics& metrics)
    : old_(*stores.old_store),
      new_(*stores.new_store),
      table_(*stores.table),
      runtime_(runtime),
      metrics_(metrics) {}

// ---- The phase ----

// Each store has its own copy of the record, and a process may have died between writing the two.
// The copy with the higher epoch is the truth.
Result<PhaseRecord> TwoStores::FindPhase() {
  const auto in_new = new_.GetPhase();
  // In the phase `new` the old store is never asked: it may be switched off. ChangePhase leaves
  // this phase in the table first, so while the table says `new` no later record can exist.
  if (in_new && in_new->epoch > 0 && in_new->phase == Phase::kNew) return *in_new;
  const auto in_old = old_.GetPhase();
  if (!in_new && !in_old) return in_new.error();
  const bool is_old_ahead = in_old && (!in_new || in_old->epoch > in_new->epoch);
  const PhaseRecord latest = is_old_ahead ? *in_old : *in_new;
  if (latest.epoch == 0) return latest;
  const auto& of_decider = DeciderOf(latest.phase) == Side::kOld ? in_old : in_new;
  if (!of_decider) return of_decider.error();
  // A process began to change the phase and did not finish, for example because it crashed. The
  // change is completed here: until the store that decides from now on has the record, no process
  // can decide anything.
  const auto& behind = is_old_ahead ? in_new : in_old;
  if (behind && behind->epoch < latest.epoch) {
    MigrationStore& store = is_old_ahead ? new_ : old_;
    const auto set = store.SetPhase(latest, behind->epoch);
    if (!set && of_decider->epoch < latest.epoch) return set.error();
  }
  return latest;
}

void TwoStores::KnowPhase(const PhaseRecord& record) {
  const std::lock_guard lock(mutex_);
  known_ = record;
  known_at_ = runtime_.clock.Monotonic();
}

Result<PhaseRecord> TwoStores::RefreshPhase() {
  const PhaseRecord found = TRY(FindPhase());
  if (found.epoch == 0) {
    return Error{ErrorCode::kUnavailable,
                 "the move from the old store has not begun; start the server with "
                 "attempts.migration set"};
  }
  KnowPhase(found);
  return found;
}

Result<PhaseRecord> TwoStores::CurrentPhase() {
  {
    const std::lock_guard lock(mutex_);
    // In all phases but `new` the epoch shows when the known phase is over. In `new` nothing does,
    // so it is looked up again after a while.
    const bool is_fresh = runtime_.clock.Monotonic() - known_at_ < kPhaseAge;
    if (known_ && (known_->phase != Phase::kNew || is_fresh)) return *known_;
  }
  return RefreshPhase();
}

Result<bool> TwoStores::IsInPhaseNew() { return TRY(CurrentPhase()).phase == Phase::kNew; }

Status TwoStores::Start(Phase phase) {
  const PhaseRecord found = TRY(FindPhase());
  const Phase used = found.epoch == 0 ? phase : found.phase;
  if (IsRead(used, Side::kOld)) {
    // An unavailable store does not matter here: if it is the one that decides, the calls below
    // fail.
    const Status kept = old_.CheckKeepsRows();
    if (!kept && kept.error().code == ErrorCode::kInvalid) return kept;
  }
  if (found.epoch == 0) {
    const PhaseRecord first{.phase = phase, .epoch = 1, .since = Now()};
    // Two processes may start at once. One of them writes the record, and both find it below.
    TRY(StoreOf(DeciderOf(phase)).SetPhase(first, 0));
    if (phase != Phase::kNew) TRY(StoreOf(OtherOf(DeciderOf(phase))).SetPhase(first, 0));
  }
  TRY(RefreshPhase());
  return Done{};
}

Result<bool> TwoStores::HasBegun() { return TRY(FindPhase()).epoch > 0; }

Status TwoStores::CheckOldKeepsRows() {
  if (!IsRead(TRY(CurrentPhase()).phase, Side::kOld)) return Done{};
  return old_.CheckKeepsRows();
}

void TwoStores::WatchOldStore() {
  {
    const std::lock_guard lock(mutex_);
    const auto now = runtime_.clock.Monotonic();
    if (now - watched_at_ < kWatchAge) return;
    watched_at_ = now;
  }
  const Status kept = CheckOldKeepsRows();
  // The calls that need the store report that it is not available.
  if (kept || kept.error().code != ErrorCode::kInvalid) return;
  runtime_.logger.Log(LogLevel::kError, "the old store may drop locks",
                      {{"error", kept.error().message}});
}

Result<bool> TwoStores::ChangePhase(const PhaseRecord& from, Phase to) {
  const PhaseRecord next{.phase = to, .epoch = from.epoch + 1, .since = Now()};
  // The order matters. The store that has decided until now gets the new epoch first: from then on
  // it refuses every decision of the old phase. Only then does the other store get it and accept
  // decisions of the new phase. In between no store accepts a decision; in the other order, both
  // would.
  const Side first = DeciderOf(from.phase);
  if (!TRY(StoreOf(first).SetPhase(next, from.epoch))) return false;
  MigrationStore& second = StoreOf(OtherOf(first));
  const PhaseRecord there = TRY(second.GetPhase());
  TRY(second.SetPhase(next, there.epoch));
  KnowPhase(next);
  return true;
}

// ---- Reading ----

Result<std::optional<StoredAccount>> TwoStores::LoadFrom(Side side,
                                                         const attempts::Subject& subject,
                                                         const PhaseRecord& phase) {
  if (!IsRead(phase.phase, side)) return std::optional<StoredAccount>();
  auto account = StoreOf(side).Load(subject);
  if (account) return std::optional(*std::move(account));
  if (DeciderOf(phase.phase) == side) return account.error();
  NoteMissed(side, subject, phase, account.error());
  return std::optional<StoredAccount>();
}

// The version that attempts see. It changes when either store does, so a write is refused also when
// only the other store has changed since the load.
std::optional<std::string> TwoStores::JointVersion(const View& view) {
  const auto of = [](const std::optional<StoredAccount>& account) {
    return account ? account->version : std::string("-");
  };
  const bool is_empty = (!view.old_account || view.old_account->version.empty()) &&
                        (!view.new_account || view.new_account->version.empty());
  if (is_empty) return std::nullopt;
  return fmt::format("{}/{}", of(view.old_account), of(view.new_account));
}

void TwoStores::JoinAccounts(View* view) const {
  view->now = Now();
  for (const auto* account : {&view->old_account, &view->new_account}) {
    if (*account) view->now = LatestOf((*account)->items, view->now);
  }
  const Side decider = DeciderOf(view->phase.phase);
  for (const Side side : {decider, OtherOf(decider)}) {
    const auto& account = view->Of(side);
    if (account) view->rows = Join(view->rows, DecodeRows(account->items, view->now));
  }
  view->version = JointVersion(*view);
}

Result<TwoStores::View> TwoStores::LoadView(const attempts::Subject& subject) {
  for (int round = 0; round < kMaxPhaseRounds; ++round) {
    View view;
    view.phase = TRY(CurrentPhase());
    view.old_account = TRY(LoadFrom(Side::kOld, subject, view.phase));
    view.new_account = TRY(LoadFrom(Side::kNew, subject, view.phase));
    // The epoch came with the rows. If it is another one, these rows belong to a phase that we do
    // not know yet, and the wrong stores may have been read.
    const auto& deciding = view.Of(DeciderOf(view.phase.phase));
    if (deciding->epoch == view.phase.epoch) {
      JoinAccounts(&view);
      return view;
    }
    TRY(RefreshPhase());
  }
  return Error{ErrorCode::kUnavailable,
               "the phase of the move from the old store is being changed; try again"};
}

Result<std::vector<item::Item>> TwoStores::Load(const attempts::Subject& subject) {
  if (TRY(IsInPhaseNew())) return table_.Load(subject);
  WatchOldStore();
  View view = TRY(LoadView(subject));
  if (AgreementOf(view) == Agreement::kDiffers) NoteDifference(subject, view.phase);
  if (view.version) SetVersion(subject, *view.version, view.now, &view.rows);
  return EncodeRows(subject, view.rows);
}

Agreement TwoStores::AgreementOf(const View& view) const {
  const Phase phase = view.phase.phase;
  if (!view.old_account || !view.new_account) return Agreement::kSame;
  const Rows of_old = DecodeRows(view.old_account->items, view.now);
  const Rows of_new = DecodeRows(view.new_account->items, view.now);
  // In new-old-readable the old store is not kept up to date, so what it lost was not needed.
  const bool has_lost = IsDual(phase) && view.old_account->has_lost_rows;
  if (!has_lost && IsInOrder(phase, of_old, of_new)) return Agreement::kSame;
  // A writer may be between its two writes.
  const EpochSeconds last = std::max(SeenAt(of_old), SeenAt(of_new));
  const bool is_under_way =
      IsDual(phase) && VersionOf(of_old) != VersionOf(of_new) && Now() - last < kMirrorSeconds;
  return is_under_way ? Agreement::kUnderWay : Agreement::kDiffers;
}

void TwoStores::NoteDifference(const attempts::Subject& subject, const PhaseRecord& phase) {
  runtime_.logger.Log(LogLevel::kWarning, "the old store and the new one differ",
                      {{"subject", subject.ForLog()}, {"phase", ToString(phase.phase)}});
  NoteDrift(phase);
}

Result<Drift> TwoStores::GetDrift() {
  const PhaseRecord phase = TRY(CurrentPhase());
  Drift drift = TRY(new_.GetDrift(phase.epoch));
  if (phase.phase == Phase::kNew) return drift;
  const Drift in_old = TRY(old_.GetDrift(phase.epoch));
  drift.count += in_old.count;
  drift.last_at = std::max(drift.last_at, in_old.last_at);
  return drift;
}

void TwoStores::NoteDrift(const PhaseRecord& phase) {
  metrics_.drift.Add();
  const Status noted = StoreOf(DeciderOf(phase.phase)).NoteDrift(phase.epoch, Now());
  if (!noted) {
    runtime_.logger.Log(LogLevel::kWarning, "drift could not be noted",
                        {{"error", noted.error().message}});
  }
}

void TwoStores::NoteMissed(Side side, const attempts::Subject& subject, const PhaseRecord& phase,
                           const Error& error) {
  metrics_.missed.Add();
  runtime_.logger.Log(LogLevel::kWarning,
                      "the store that does not decide failed; the call continues without it",
                      {{"store", ToString(side)},
                       {"subject", subject.ForLog()},
                       {"phase", ToString(phase.phase)},
                       {"error", error.message}});
  if (IsDual(phase.phase)) NoteDrift(phase);
}

// ---- Writing ----

Rows TwoStores::ApplyChange(const attempts::AccountChange& change, const View& view) {
  Rows rows = view.rows;
  Put(std::string(attempts::kHeadKey), change.head, view.now, &rows);
  for (const item::Item& item : change.puts) {
    Put(item::TextIn(item, attempts::kSortAttribute), item, view.now, &rows);
  }
  for (const std::string& sort_key : change.removals) Remove(sort_key, view.now, &rows);
  return rows;
}

Result<bool> TwoStores::Write(const attempts::AccountChange& change) {
  if (TRY(IsInPhaseNew())) return table_.Write(change);
  // The stores replace an account as a whole, and want to know what was there. So it is loaded once
  // more; the joint version shows whether anything changed since the decision was made.
  const View view = TRY(LoadView(change.subject));
  if (view.version != change.loaded_version) return false;
  for (const attempts::RequiredVersion& other : change.required) {
    if (TRY(LoadView(other.subject)).version != other.version) return false;
  }
  const Rows after = ApplyChange(change, view);
  const Side decider = DeciderOf(view.phase.phase);
  const ReplaceOutcome outcome =
      TRY(StoreOf(decider).Replace({.subject = change.subject,
                                    .before = *view.Of(decider),
                                    .items = EncodeRows(change.subject, after),
                                    .epoch = view.phase.epoch,
                                    .now = view.now}));
  if (outcome == ReplaceOutcome::kOtherEpoch) TRY(RefreshPhase());
  if (outcome != ReplaceOutcome::kApplied) return false;
  if (IsDual(view.phase.phase)) Mirror(change.subject, view, after);
  return true;
}

Later<bool> TwoStores::Submit(const attempts::AccountChange& change) {
  if (TRY(IsInPhaseNew())) return table_.Submit(change);
  return Write(change);
}

void TwoStores::Mirror(const attempts::Subject& subject, const View& view, const Rows& rows) {
  const Side side = OtherOf(DeciderOf(view.phase.phase));
  // A store that could not be read was noted as missed by the load.
  if (!view.Of(side)) return;
  const auto joined = JoinIntoStore(side, subject, *view.Of(side), rows, view.phase);
  if (!joined) {
    NoteMissed(side, subject, view.phase, joined.error());
  } else if (*joined == ReplaceOutcome::kChanged) {
    NoteMissed(side, subject, view.phase,
               {ErrorCode::kUnavailable, "too many writers change it at once"});
  }
}

Result<ReplaceOutcome> TwoStores::JoinIntoStore(Side side, const attempts::Subject& subject,
                                                StoredAccount before, const Rows& rows,
                                                PhaseRecord phase) {
  std::optional<StoredAccount> known = std::move(before);
  const auto round = [&]() -> Result<std::optional<ReplaceOutcome>> {
    if (!known) known = TRY(StoreOf(side).Load(subject));
    const EpochSeconds now = LatestOf(known->items, Now());
    // The table may be joined into in every phase, because it is the store that stays. The old
    // store may be out of use by now and must not be written then, so there the epoch counts.
    const auto epoch = side == Side::kOld ? std::optional(phase.epoch) : std::nullopt;
    const ReplaceOutcome outcome =
        TRY(StoreOf(side).Replace({.subject = subject,
                                   .before = *known,
                                   .items = JoinWith(*known, rows, subject, now),
                                   .epoch = epoch,
                                   .now = now}));
    if (outcome == ReplaceOutcome::kApplied) return std::optional(outcome);
    if (outcome == ReplaceOutcome::kOtherEpoch) phase = TRY(RefreshPhase());
    if (side == Side::kOld && !IsWritten(phase.phase, side)) {
      return std::optional(ReplaceOutcome::kOtherEpoch);
    }
    known.reset();
    return std::optional<ReplaceOutcome>();
  };
  return TRY(tables::PlanAgain<ReplaceOutcome>(tables::kPlanAgain, runtime_, round))
      .value_or(ReplaceOutcome::kChanged);
}

std::vector<item::Item> TwoStores::JoinWith(const StoredAccount& before, const Rows& rows,
                                            const attempts::Subject& subject, EpochSeconds now) {
  const Rows known = DecodeRows(before.items, now);
  Rows joined = Join(rows, known);
  if (joined == known) return before.items;
  // Every change gets a new version. Without one, a decision that was made from the rows before
  // this join would still be accepted.
  if (VersionOf(joined) == VersionOf(known)) {
    SetVersion(subject, runtime_.random.Hex(kVersionBytes), now, &joined);
  }
  return EncodeRows(subject, joined);
}

// ---- For the operator ----

Result<Sighting> TwoStores::Look(const attempts::Subject& subject) {
  const View view = TRY(LoadView(subject));
  for (const Side side : {Side::kOld, Side::kNew}) {
    if (view.Of(side)) continue;
    return Error{
        ErrorCode::kUnavailable,
        fmt::format("the {} store cannot be read; nothing is compared without it", ToString(side))};
  }
  return Sighting{.agreement = AgreementOf(view),
                  .rows = view.rows.size(),
                  .permanent = CountPermanent(view.rows)};
}

Result<bool> TwoStores::CopyIntoTable(const attempts::Subject& subject) {
  const StoredAccount in_old = TRY(old_.Load(subject));
  const StoredAccount in_new = TRY(new_.Load(subject));
  const EpochSeconds now = LatestOf(in_old.items, LatestOf(in_new.items, Now()));
  const ReplaceOutcome outcome =
      TRY(JoinIntoStore(Side::kNew, subject, in_new, DecodeRows(in_old.items, now), {}));
  return outcome == ReplaceOutcome::kApplied;
}

Result<bool> TwoStores::Copy(const attempts::Subject& subject) {
  const View view = TRY(LoadView(subject));
  for (const Side side : {Side::kOld, Side::kNew}) {
    if (!IsWritten(view.phase.phase, side)) continue;
    const auto& account = view.Of(side);
    if (!account) {
      return Error{
          ErrorCode::kUnavailable,
          fmt::format("the {} store cannot be read; nothing is copied without it", ToString(side))};
    }
    const ReplaceOutcome outcome =
        TRY(JoinIntoStore(side, subject, *account, view.rows, view.phase));
    if (outcome != ReplaceOutcome::kApplied) return false;
  }
  return true;
}

Status TwoStores::ForgetOld(const attempts::Subject& subject) {
  const auto round = [&]() -> Result<std::optional<Done>> {
    const StoredAccount before = TRY(old_.Load(subject));
    const ReplaceOutcome outcome = TRY(old_.Replace(
        {.subject = subject, .before = before, .items = {}, .epoch = std::nullopt, .now = Now()}));
    return outcome == ReplaceOutcome::kApplied ? std::optional(Done{}) : std::nullopt;
  };
  if (TRY(tables::PlanAgain<Done>(tables::kPlanAgain, runtime_, round))) return Done{};
  return Error{ErrorCode::kUnavailable,
               "another program keeps writing to the old store; stop it and try again"};
}

}  // namespace tidemark::moving
