#include "apps/attempts/moving/migration.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace tidemark::moving {

namespace {

// Until then every process knows that the phase `new` is over.
constexpr int64_t kSettleSeconds = 3 * kPhaseAge.count();

// The decider of a phase that is about to be left must have nothing that the other lacks. In the
// phase new-old-readable the old one is only read: it may be behind, but not ahead.
bool IsInOrder(Phase phase, const Rows& of_old, const Rows& of_new) {
  return SayTheSame(phase == Phase::kNewOldReadable ? Join(of_new, of_old) : of_old, of_new);
}

Error Stopped() {
  return {ErrorCode::kUnavailable,
          "the server stops before all subjects were visited; the phase is as it was: ask again"};
}

}  // namespace

std::chrono::seconds LongestLife(const attempts::Policy& policy) {
  auto longest = std::max(policy.LockLength(attempts::LockKind::kStandard),
                          policy.LockLength(attempts::LockKind::kReduced));
  for (const attempts::Rule& rule : policy.rules()) longest = std::max(longest, rule.life);
  return longest + policy.verification_deadline();
}

Result<MigrationStatus> Migration::GetStatus() {
  MigrationStatus status;
  status.record = TRY(stores_.CurrentPhase());
  status.drift = TRY(stores_.GetDrift());
  const EpochSeconds from = std::max(status.record.since, status.drift.last_at);
  status.ready_at = status.record.phase == Phase::kOld ? 0 : from + longest_life_.count();
  return status;
}

Result<Move> Migration::Held(std::string why) {
  Move move;
  move.status = TRY(GetStatus());
  move.held_by = std::move(why);
  return move;
}

Result<Move> Migration::ChangeTo(const PhaseRecord& from, Phase to) {
  if (!TRY(stores_.ChangePhase(from, to))) {
    return Held("somebody else has changed the phase meanwhile");
  }
  return Held("");
}

Result<Move> Migration::Advance() {
  const MigrationStatus status = TRY(GetStatus());
  const PhaseRecord& record = status.record;
  const auto next = NextOf(record.phase);
  if (!next) return Held("the move is over: this is the last phase");
  // Nothing has been written twice yet, so there is nothing to wait for or to compare.
  if (record.phase == Phase::kOld) return ChangeTo(record, *next);
  const EpochSeconds now = stores_.Now();
  if (now < status.ready_at) {
    return Held(fmt::format(
        "{} more seconds without a difference are needed: so long may live what only one store "
        "knows ({} differences seen in this phase)",
        status.ready_at - now, status.drift.count));
  }
  std::string held_by = TRY(CopyAndVerify());
  if (!held_by.empty()) return Held(std::move(held_by));
  // Looked at again: a difference may have come up during the copy.
  if (TRY(stores_.GetDrift()) != status.drift) {
    return Held("the stores were seen to differ during the copy");
  }
  return ChangeTo(record, *next);
}

Result<Move> Migration::Back(Force force) {
  const PhaseRecord record = TRY(stores_.CurrentPhase());
  const auto previous = PreviousOf(record.phase);
  if (!previous) return Held("this is the first phase");
  if (record.phase == Phase::kNew && force == Force::kNo) {
    TRY(ForAll(Side::kOld,
               [&](const attempts::Subject& subject) { return stores_.ForgetOld(subject); }));
  }
  const EpochSeconds settled = record.since + kSettleSeconds;
  if (record.phase == Phase::kNewOldReadable && stores_.Now() < settled) {
    return Held(fmt::format("{} more seconds until every process knows of the last change",
                            settled - stores_.Now()));
  }
  if (IsDual(record.phase) && force == Force::kNo) {
    std::string held_by = TRY(CopyAndVerify());
    if (!held_by.empty()) return Held(std::move(held_by));
  }
  return ChangeTo(record, *previous);
}

template <typename Visit>
Status Migration::ForAll(Side side, const Visit& visit) {
  std::optional<std::string> cursor;
  do {
    SubjectPage page = TRY(stores_.StoreOf(side).ListSubjects(cursor));
    const std::set<attempts::Subject> subjects(page.subjects.begin(), page.subjects.end());
    for (const attempts::Subject& subject : subjects) {
      if (is_stopping_) return Stopped();
      TRY(visit(subject));
    }
    cursor = std::move(page.next);
  } while (cursor);
  return Done{};
}

Status Migration::CopyAll() {
  const auto copy = [&](const attempts::Subject& subject) -> Status {
    if (TRY(stores_.Copy(subject))) return Done{};
    return Error{ErrorCode::kUnavailable, fmt::format("{} kept changing while it was copied; try "
                                                      "again",
                                                      subject.ForLog())};
  };
  TRY(ForAll(Side::kOld, copy));
  return ForAll(Side::kNew, copy);
}

Status Migration::CompareOne(const attempts::Subject& subject, Phase phase,
                             Comparison* comparison) {
  const StoredAccount in_old = TRY(stores_.StoreOf(Side::kOld).Load(subject));
  const StoredAccount in_new = TRY(stores_.StoreOf(Side::kNew).Load(subject));
  const EpochSeconds now = LatestOf(in_old.items, LatestOf(in_new.items, stores_.Now()));
  const Rows of_old = DecodeRows(in_old.items, now);
  const Rows of_new = DecodeRows(in_new.items, now);
  const Rows joined = Join(of_new, of_old);
  ++comparison->subjects;
  comparison->rows += joined.size();
  comparison->permanent += CountPermanent(joined);
  if (IsInOrder(phase, of_old, of_new)) return Done{};
  ++comparison->differing;
  comparison->example = subject.ForLog();
  return Done{};
}

Result<Comparison> Migration::Verify() {
  const Phase phase = TRY(stores_.CurrentPhase()).phase;
  if (phase == Phase::kOld || phase == Phase::kNew) {
    return Invalid(
        fmt::format("in the phase {} only one store is in use: there is nothing to "
                    "compare",
                    ToString(phase)));
  }
  Comparison comparison;
  std::set<attempts::Subject> seen;
  for (const Side side : {Side::kOld, Side::kNew}) {
    TRY(ForAll(side, [&](const attempts::Subject& subject) -> Status {
      if (!seen.insert(subject).second) return Done{};
      return CompareOne(subject, phase, &comparison);
    }));
  }
  return comparison;
}

Result<std::string> Migration::CopyAndVerify() {
  TRY(CopyAll());
  const Comparison comparison = TRY(Verify());
  if (comparison.differing == 0) return std::string();
  return fmt::format("{} of {} subjects differ after the copy, {} among them", comparison.differing,
                     comparison.subjects, comparison.example);
}

}  // namespace tidemark::moving
