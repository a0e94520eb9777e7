#include "apps/attempts/moving/two_stores.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/attempts/account.h"
#include "item/attributes.h"

namespace tidemark::moving {

namespace {

constexpr int kMaxPhaseRounds = 4;
constexpr int kMaxJoinRounds = 16;
constexpr size_t kVersionBytes = 8;
// A copy that is still behind after this is not on its way any more.
constexpr EpochSeconds kMirrorSeconds = 10;

std::optional<std::string> JointVersion(const View& view) {
  const auto of = [](const std::optional<StoredAccount>& account) {
    return account ? account->version : std::string("-");
  };
  const bool is_empty = (!view.old_account || view.old_account->version.empty()) &&
                        (!view.new_account || view.new_account->version.empty());
  if (is_empty) return std::nullopt;
  return fmt::format("{}/{}", of(view.old_account), of(view.new_account));
}

EpochSeconds LatestOf(const View& view, EpochSeconds now) {
  if (view.old_account) now = moving::LatestOf(view.old_account->items, now);
  if (view.new_account) now = moving::LatestOf(view.new_account->items, now);
  return now;
}

EpochSeconds SeenAt(const Rows& rows) {
  const auto head = rows.find(kHeadKey);
  if (head == rows.end() || !head->second.item) return 0;
  return item::IntIn(*head->second.item, "seen_at").value_or(0);
}

Rows Applied(const Change& change, const View& view) {
  Rows rows = view.rows;
  for (const item::Item& item : change.puts) {
    Put(item::TextIn(item, attempts::kSortAttribute), item, view.now, &rows);
  }
  for (const std::string& sort_key : change.removes) Remove(sort_key, view.now, &rows);
  return rows;
}

}  // namespace

MoveMetrics MoveMetrics::AddTo(Metrics* metrics) {
  if (metrics == nullptr) return {};
  return {
      .drift = &metrics->AddCounter(
          {.name = "tidemark_attempts_drift_total",
           .help = "Accounts that were seen to differ between the old store and the new one."}),
      .missed = &metrics->AddCounter(
          {.name = "tidemark_attempts_missed_total",
           .help =
               "Times the store that does not decide failed, and the call went on without it."})};
}

TwoStores::TwoStores(AccountStore* old_store, AccountStore* new_store, const Clock* clock,
                     Random* random, const Logger* logger, MoveMetrics metrics)
    : old_(*old_store),
      new_(*new_store),
      clock_(*clock),
      random_(*random),
      logger_(logger),
      metrics_(metrics) {}

// ---- The phase ----

Result<PhaseRecord> TwoStores::FindPhase() {
  const auto in_new = new_.GetPhase();
  // In the phase `new` the old store is never touched. Leaving it begins here, so this is the last
  // word.
  if (in_new && in_new->epoch > 0 && in_new->phase == Phase::kNew) return *in_new;
  const auto in_old = old_.GetPhase();
  if (!in_new && !in_old) return in_new.error();
  const bool is_old_ahead = in_old && (!in_new || in_old->epoch > in_new->epoch);
  const PhaseRecord latest = is_old_ahead ? *in_old : *in_new;
  if (latest.epoch == 0) return latest;
  const auto& of_decider = DeciderOf(latest.phase) == Side::kOld ? in_old : in_new;
  if (!of_decider) return of_decider.error();
  // A change that was begun and not finished. The store that decided until now knows of it.
  const auto& behind = is_old_ahead ? in_new : in_old;
  if (behind && behind->epoch < latest.epoch) {
    AccountStore& store = is_old_ahead ? new_ : old_;
    const auto set = store.SetPhase(latest, behind->epoch);
    if (!set && of_decider->epoch < latest.epoch) return set.error();
  }
  return latest;
}

Result<PhaseRecord> TwoStores::Refresh() {
  const PhaseRecord found = TRY(FindPhase());
  if (found.epoch == 0) {
    return Error{ErrorCode::kUnavailable,
                 "the move from the old store has not begun; start the server with "
                 "attempts.migration set"};
  }
  const std::lock_guard lock(mutex_);
  known_ = found;
  known_at_ = clock_.Monotonic();
  return found;
}

Result<PhaseRecord> TwoStores::CurrentPhase() {
  {
    const std::lock_guard lock(mutex_);
    const bool is_fresh = clock_.Monotonic() - known_at_ < kPhaseAge;
    if (known_ && (known_->phase != Phase::kNew || is_fresh)) return *known_;
  }
  return Refresh();
}

Status TwoStores::Start(Phase phase) {
  const PhaseRecord found = TRY(FindPhase());
  if (found.epoch == 0) {
    const PhaseRecord first{.phase = phase, .epoch = 1, .since = Now()};
    // Of two that start at once one is first; both find its record.
    TRY(StoreOf(DeciderOf(phase)).SetPhase(first, 0));
    if (phase != Phase::kNew) TRY(StoreOf(OtherOf(DeciderOf(phase))).SetPhase(first, 0));
  }
  TRY(Refresh());
  return Done{};
}

Result<bool> TwoStores::ChangePhase(const PhaseRecord& from, Phase to) {
  const PhaseRecord next{.phase = to, .epoch = from.epoch + 1, .since = Now()};
  // First where it was decided until now: from then on nobody decides there, and not before the
  // second step anybody elsewhere.
  const Side first = DeciderOf(from.phase);
  if (!TRY(StoreOf(first).SetPhase(next, from.epoch))) return false;
  AccountStore& second = StoreOf(OtherOf(first));
  const PhaseRecord there = TRY(second.GetPhase());
  TRY(second.SetPhase(next, there.epoch));
  const std::lock_guard lock(mutex_);
  known_ = next;
  known_at_ = clock_.Monotonic();
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
  Missed(side, subject, phase, account.error());
  return std::optional<StoredAccount>();
}

void TwoStores::JoinInto(View* view) const {
  view->now = LatestOf(*view, Now());
  const Side decider = DeciderOf(view->phase.phase);
  for (const Side side : {decider, OtherOf(decider)}) {
    const auto& account = view->Of(side);
    if (account) view->rows = Join(view->rows, DecodeRows(account->items, view->now));
  }
  view->version = JointVersion(*view);
}

Result<View> TwoStores::Load(const attempts::Subject& subject) {
  for (int round = 0; round < kMaxPhaseRounds; ++round) {
    View view;
    view.phase = TRY(CurrentPhase());
    view.old_account = TRY(LoadFrom(Side::kOld, subject, view.phase));
    view.new_account = TRY(LoadFrom(Side::kNew, subject, view.phase));
    const auto& deciding = view.Of(DeciderOf(view.phase.phase));
    if (deciding->epoch == view.phase.epoch) {
      JoinInto(&view);
      return view;
    }
    TRY(Refresh());
  }
  return Error{ErrorCode::kUnavailable,
               "the phase of the move from the old store is being changed; try again"};
}

void TwoStores::Compare(const attempts::Subject& subject, const View& view) {
  if (!IsDual(view.phase.phase) || !view.old_account || !view.new_account) return;
  const Rows of_old = DecodeRows(view.old_account->items, view.now);
  const Rows of_new = DecodeRows(view.new_account->items, view.now);
  if (SayTheSame(of_old, of_new)) return;
  // Somebody who has just written may be about to write the other one.
  const EpochSeconds last = std::max(SeenAt(of_old), SeenAt(of_new));
  if (VersionOf(of_old) != VersionOf(of_new) && Now() - last < kMirrorSeconds) return;
  if (logger_ != nullptr) {
    logger_->Log(LogLevel::kWarning, "the old store and the new one differ",
                 {{"subject", subject.ForLog()}, {"phase", ToString(view.phase.phase)}});
  }
  NoteDrift(view.phase);
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
  if (metrics_.drift != nullptr) metrics_.drift->Add();
  const Status noted = StoreOf(DeciderOf(phase.phase)).NoteDrift(phase.epoch, Now());
  if (!noted && logger_ != nullptr) {
    logger_->Log(LogLevel::kWarning, "drift could not be noted",
                 {{"error", noted.error().message}});
  }
}

void TwoStores::Missed(Side side, const attempts::Subject& subject, const PhaseRecord& phase,
                       const Error& error) {
  if (metrics_.missed != nullptr) metrics_.missed->Add();
  if (logger_ != nullptr) {
    logger_->Log(LogLevel::kWarning, "the store that does not decide failed; the call goes on",
                 {{"store", ToString(side)},
                  {"subject", subject.ForLog()},
                  {"phase", ToString(phase.phase)},
                  {"error", error.message}});
  }
  if (IsDual(phase.phase)) NoteDrift(phase);
}

// ---- Writing ----

Result<bool> TwoStores::Write(const attempts::Subject& subject, const Change& change) {
  const View view = TRY(Load(subject));
  if (view.version != change.version) return false;
  const Rows after = Applied(change, view);
  const Side decider = DeciderOf(view.phase.phase);
  const Outcome outcome = TRY(StoreOf(decider).Replace({.subject = subject,
                                                        .before = *view.Of(decider),
                                                        .items = EncodeRows(subject, after),
                                                        .epoch = view.phase.epoch,
                                                        .now = view.now}));
  if (outcome == Outcome::kOtherEpoch) TRY(Refresh());
  if (outcome != Outcome::kApplied) return false;
  if (IsDual(view.phase.phase)) Mirror(subject, view, after);
  return true;
}

void TwoStores::Mirror(const attempts::Subject& subject, const View& view, const Rows& rows) {
  const Side side = OtherOf(DeciderOf(view.phase.phase));
  // What could not be read is missed already.
  if (!view.Of(side)) return;
  const auto joined = JoinIntoStore(side, subject, *view.Of(side), rows, view.phase);
  if (!joined) {
    Missed(side, subject, view.phase, joined.error());
  } else if (*joined == Outcome::kChanged) {
    Missed(side, subject, view.phase, {ErrorCode::kUnavailable, "too many change it at once"});
  }
}

Result<Outcome> TwoStores::JoinIntoStore(Side side, const attempts::Subject& subject,
                                         StoredAccount before, const Rows& rows,
                                         PhaseRecord phase) {
  for (int round = 0; round < kMaxJoinRounds; ++round) {
    const EpochSeconds now = moving::LatestOf(before.items, Now());
    // Joining into the table is right in every phase; the old store may be out of use by now.
    const auto epoch = side == Side::kOld ? std::optional(phase.epoch) : std::nullopt;
    const Outcome outcome = TRY(StoreOf(side).Replace({.subject = subject,
                                                       .before = before,
                                                       .items = Joined(subject, before, rows, now),
                                                       .epoch = epoch,
                                                       .now = now}));
    if (outcome == Outcome::kApplied) return outcome;
    if (outcome == Outcome::kOtherEpoch) phase = TRY(Refresh());
    if (!IsWritten(phase.phase, side)) return Outcome::kOtherEpoch;
    before = TRY(StoreOf(side).Load(subject));
  }
  return Outcome::kChanged;
}

std::vector<item::Item> TwoStores::Joined(const attempts::Subject& subject,
                                          const StoredAccount& before, const Rows& rows,
                                          EpochSeconds now) {
  const Rows known = DecodeRows(before.items, now);
  Rows joined = Join(rows, known);
  if (joined == known) return before.items;
  // Whatever changes gets a new version: the others' writes are refused by it.
  if (VersionOf(joined) == VersionOf(known)) {
    SetVersion(subject, random_.Hex(kVersionBytes), now, &joined);
  }
  return EncodeRows(subject, joined);
}

// ---- All of it ----

Result<bool> TwoStores::Copy(const attempts::Subject& subject) {
  const View view = TRY(Load(subject));
  for (const Side side : {Side::kOld, Side::kNew}) {
    if (!IsWritten(view.phase.phase, side)) continue;
    const auto& account = view.Of(side);
    if (!account) {
      return Error{
          ErrorCode::kUnavailable,
          fmt::format("the {} store cannot be read; nothing is copied without it", ToString(side))};
    }
    const Outcome outcome = TRY(JoinIntoStore(side, subject, *account, view.rows, view.phase));
    if (outcome != Outcome::kApplied) return false;
  }
  return true;
}

Status TwoStores::ForgetOld(const attempts::Subject& subject) {
  for (int round = 0; round < kMaxJoinRounds; ++round) {
    const StoredAccount before = TRY(old_.Load(subject));
    const Outcome outcome = TRY(old_.Replace(
        {.subject = subject, .before = before, .items = {}, .epoch = std::nullopt, .now = Now()}));
    if (outcome == Outcome::kApplied) return Done{};
  }
  return Error{ErrorCode::kUnavailable,
               "somebody keeps writing into the old store; stop that and try again"};
}

}  // namespace tidemark::moving
