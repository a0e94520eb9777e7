#include "apps/attempts/moving/migration.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "tables/plan_again.h"

namespace tidemark::moving {

namespace {

// After this time every process knows that the phase `new` is over: each looks up the phase every
// kPhaseAge. The factor leaves room for a process that was slow.
constexpr int64_t kSettleSeconds = 3 * kPhaseAge.count();

// How often the log says how far a visit of all subjects is.
constexpr uint64_t kSubjectsPerLine = 10'000;

// A tour that nobody continues for so long is forgotten: what it saw may have changed.
constexpr EpochSeconds kTourSeconds = 600;

Error Stopped() {
  return {ErrorCode::kUnavailable,
          "the server is stopping and has not visited all subjects; the phase has not changed: try "
          "again after the restart"};
}

Error AnotherVisit() {
  return {ErrorCode::kInUse,
          "another call is visiting all subjects; 'tidemark attempts migrate status' shows how far "
          "it is. If its command was interrupted, try again after some seconds: the visit goes on "
          "from there"};
}

}  // namespace

std::chrono::seconds LongestLife(const attempts::Policy& policy) {
  auto longest = std::max(policy.LockLength(attempts::LockKind::kStandard),
                          policy.LockLength(attempts::LockKind::kReduced));
  for (const attempts::Rule& rule : policy.rules()) longest = std::max(longest, rule.life);
  return longest + policy.verification_deadline();
}

Status Migration::Start(Phase phase) {
  const bool has_begun = TRY(stores_.HasBegun());
  const bool uses_both = phase != Phase::kOld && phase != Phase::kNew;
  // Before the record of the phase is written: a process that dies here copies again.
  if (!has_begun && uses_both) {
    TRY(ForAll(Side::kOld, [&](const attempts::Subject& subject) -> Status {
      CountVisited();
      if (TRY(stores_.CopyIntoTable(subject))) return Done{};
      return Error{ErrorCode::kUnavailable,
                   fmt::format("{} kept changing while it was copied", subject.ForLog())};
    }));
  }
  return stores_.Start(phase);
}

Result<MigrationStatus> Migration::GetStatus() {
  MigrationStatus status;
  status.record = TRY(stores_.CurrentPhase());
  status.drift = TRY(stores_.GetDrift());
  const EpochSeconds from = std::max(status.record.since, status.drift.last_at);
  status.ready_at = status.record.phase == Phase::kOld ? 0 : from + longest_life_.count();
  status.visited = visited_;
  status.per_second = per_second_;
  return status;
}

Result<Move> Migration::Report(std::string held_by) {
  Move move;
  move.status = TRY(GetStatus());
  move.held_by = std::move(held_by);
  return move;
}

Result<Move> Migration::ChangeTo(const PhaseRecord& from, Phase to) {
  if (!TRY(stores_.ChangePhase(from, to))) {
    return Report("another operator changed the phase at the same time");
  }
  return Report("");
}

Move Migration::AskAgain(MigrationStatus status) {
  Move move;
  move.status = std::move(status);
  move.is_more = true;
  return move;
}

Result<Move> Migration::Advance(Slice slice) {
  const MigrationStatus status = TRY(GetStatus());
  const PhaseRecord& record = status.record;
  const auto next = NextOf(record.phase);
  if (!next) return Report("the move is complete: this is the last phase");
  TRY(stores_.CheckOldKeepsRows());
  if (record.phase == Phase::kOld) return BeginDual(record, *next, slice);
  std::optional<Copying> tour;
  if (slice) tour = TRY(FindTour(record));
  // The phase has begun, and its first copy has not ended.
  if (tour == Copying::kFirst) return CopyFirst(record, slice);
  const EpochSeconds now = stores_.Now();
  // A tour that is under way may have found differences itself. It says so at its end.
  if (now < status.ready_at && tour != Copying::kYes) {
    return Report(fmt::format(
        "{} more seconds without a difference are needed, because rows that only one store has may "
        "live so long ({} differences seen in this phase)",
        status.ready_at - now, status.drift.count));
  }
  const auto found = TRY(Verify(Copying::kYes, slice));
  if (!found) return AskAgain(TRY(GetStatus()));
  // Copying repairs a difference but must not hide it: the program that writes only one store is
  // still running.
  if (std::string held_by = DescribeDifferences(*found); !held_by.empty()) {
    return Report(std::move(held_by));
  }
  // Checked once more: servers were at work during the copy and may have met a difference.
  if (stores_.Now() < TRY(GetStatus()).ready_at) {
    return Report("servers saw a difference between the stores during the copy");
  }
  return ChangeTo(record, *next);
}

Result<Move> Migration::Back(Force force, Slice slice) {
  const PhaseRecord record = TRY(stores_.CurrentPhase());
  const auto previous = PreviousOf(record.phase);
  if (!previous) return Report("this is the first phase");
  // While the phase was `new` the old store was not written. What was cleared in that time is still
  // in it, and reading it again would bring that back. Nothing of it is needed: the table has all.
  if (record.phase == Phase::kNew && force == Force::kNo) {
    TRY(ForAll(Side::kOld,
               [&](const attempts::Subject& subject) { return stores_.ForgetOld(subject); }));
  }
  // A process that still believes in the phase `new` writes the table alone, without an epoch. Such
  // a write would be missing in the old store once that decides.
  const EpochSeconds settled = record.since + kSettleSeconds;
  if (record.phase == Phase::kNewOldReadable && stores_.Now() < settled) {
    return Report(fmt::format(
        "{} more seconds are needed until every process knows of the last change of the phase",
        settled - stores_.Now()));
  }
  if (IsDual(record.phase) && force == Force::kNo) {
    // A difference is no reason to stay: it is copied, and the phase before expects differences.
    const auto found = TRY(Verify(Copying::kYes, slice));
    if (!found) return AskAgain(TRY(GetStatus()));
    if (found->changing > 0) return Report(DescribeChanging(*found));
  }
  return ChangeTo(record, *previous);
}

// In `old` only one store has been used, so there is nothing to wait for or to compare. Everything
// is copied at once: a lock that is only in the old store is lost with it. The phase changes first:
// a lock that is set during the copy is then written to both stores.
Result<Move> Migration::BeginDual(const PhaseRecord& from, Phase dual, Slice slice) {
  const Move move = TRY(ChangeTo(from, dual));
  if (!move.held_by.empty()) return move;
  return CopyFirst(move.status.record, slice);
}

Result<Move> Migration::CopyFirst(const PhaseRecord& record, Slice slice) {
  const std::string what_to_do = fmt::format(
      "the phase is {} now, but not everything is copied: run 'tidemark attempts migrate verify "
      "--copy'",
      ToString(record.phase));
  const auto copied = TRY(Visit(record, Copying::kFirst, slice).WithContext(what_to_do));
  if (!copied) return AskAgain(TRY(GetStatus()));
  if (copied->changing == 0) return Report("");
  return Error{ErrorCode::kUnavailable,
               fmt::format("{}: {}", what_to_do, DescribeChanging(*copied))};
}

template <typename Action>
Status Migration::ForAll(Side side, const Action& action) {
  std::optional<std::string> cursor;
  do {
    SubjectPage page = TRY(stores_.StoreOf(side).ListSubjects(cursor));
    const std::set<attempts::Subject> subjects(page.subjects.begin(), page.subjects.end());
    for (const attempts::Subject& subject : subjects) {
      if (is_stopping_) return Stopped();
      TRY(action(subject));
    }
    cursor = std::move(page.next);
  } while (cursor);
  return Done{};
}

void Migration::CountVisited() {
  if (++visited_ % kSubjectsPerLine != 0) return;
  stores_.runtime().logger.Log(LogLevel::kInfo, "the move of attempts visits all subjects",
                               {{"visited", visited_.load()}});
}

Result<bool> Migration::CopyOne(const attempts::Subject& subject) {
  tables::Rounds rounds(tables::kPlanAgain, stores_.runtime());
  do {
    if (TRY(stores_.Copy(subject))) return true;
  } while (rounds.WaitForNext());
  return false;
}

// A server may be between its writes to the two stores. That ends within milliseconds, so the look
// is repeated until it has.
Result<Sighting> Migration::LookAtRest(const attempts::Subject& subject) {
  tables::Rounds rounds(tables::kPlanAgain, stores_.runtime());
  Sighting sighting;
  do {
    sighting = TRY(stores_.Look(subject));
  } while (sighting.agreement == Agreement::kUnderWay && rounds.WaitForNext());
  return sighting;
}

Status Migration::VisitOne(const attempts::Subject& subject, const PhaseRecord& record,
                           Copying copying, Comparison* comparison) {
  ++comparison->subjects;
  Sighting sighting;
  if (copying != Copying::kFirst) sighting = TRY(LookAtRest(subject));
  comparison->rows += sighting.rows;
  comparison->permanent += sighting.permanent;
  if (sighting.agreement == Agreement::kDiffers) {
    ++comparison->differing;
    comparison->example = subject.ForLog();
    stores_.NoteDifference(subject, record);
  }
  // A write under way that is copied needs no second look: when its server fails to finish it, that
  // server notes it.
  const bool is_at_rest =
      copying == Copying::kNo ? sighting.agreement != Agreement::kUnderWay : TRY(CopyOne(subject));
  if (is_at_rest) return Done{};
  ++comparison->changing;
  comparison->changing_example = subject.ForLog();
  return Done{};
}

// A page may have hundreds of subjects, and a slow disk takes a while for each of them. A page that
// is left in the middle is listed again by the next call, which skips the subjects that it has
// seen.
Status Migration::VisitPage(Tour* tour, const std::function<bool()>& is_time_up) {
  SubjectPage page = TRY(stores_.StoreOf(tour->side).ListSubjects(tour->cursor));
  for (const attempts::Subject& subject : page.subjects) {
    if (is_stopping_) return Stopped();
    if (tour->seen.contains(subject)) continue;
    // After an error the next call visits the subject again, so nothing of this visit is kept.
    Comparison found = tour->found;
    TRY(VisitOne(subject, tour->record, tour->copying, &found));
    tour->found = std::move(found);
    tour->seen.insert(subject);
    CountVisited();
    if (is_time_up()) return Done{};
  }
  tour->cursor = std::move(page.next);
  if (tour->cursor) return Done{};
  tour->is_done = tour->side == Side::kNew;
  tour->side = Side::kNew;
  return Done{};
}

Status Migration::Continue(const PhaseRecord& record, Copying copying, Slice slice) {
  const EpochSeconds now = stores_.Now();
  const Drift drift = TRY(stores_.GetDrift());
  // A server has seen a difference since the tour began: what was compared before says little. The
  // first copy compares nothing, and servers see differences until it has come to all subjects: it
  // would begin again and again.
  const bool is_valid = tour_ && (copying == Copying::kFirst || tour_->drift == drift);
  const bool goes_on = slice && is_valid && tour_->record == record && tour_->copying == copying &&
                       now - tour_->last_step < kTourSeconds;
  if (!goes_on) {
    tour_ = Tour{.record = record, .copying = copying, .drift = drift, .last_step = now};
    visited_ = 0;
  }
  const Clock& clock = stores_.runtime().clock;
  const auto began = clock.Monotonic();
  const uint64_t before = visited_;
  const auto is_time_up = [&] { return slice && clock.Monotonic() - began >= *slice; };
  do {
    TRY(VisitPage(&*tour_, is_time_up));
  } while (!tour_->is_done && !is_time_up());
  const std::chrono::duration<double> taken = clock.Monotonic() - began;
  if (taken.count() > 0) {
    per_second_ = static_cast<uint64_t>(static_cast<double>(visited_ - before) / taken.count());
  }
  tour_->last_step = stores_.Now();
  // Differences that the tour itself has found are drift by now.
  tour_->drift = TRY(stores_.GetDrift());
  return Done{};
}

Result<std::optional<Comparison>> Migration::Verify(Copying copying, Slice slice) {
  const PhaseRecord record = TRY(stores_.CurrentPhase());
  if (record.phase == Phase::kOld || record.phase == Phase::kNew) {
    return Invalid(
        fmt::format("in the phase {} only one store is in use, so there is nothing to compare",
                    ToString(record.phase)));
  }
  return Visit(record, copying, slice);
}

Result<std::optional<Comparison>> Migration::Visit(const PhaseRecord& record, Copying copying,
                                                   Slice slice) {
  const std::unique_lock lock(touring_, std::try_to_lock);
  if (!lock) return AnotherVisit();
  // After an error the tour is kept: the next call goes on with the page that failed.
  TRY(Continue(record, copying, slice));
  if (!tour_->is_done) return std::optional<Comparison>();
  return std::optional(std::exchange(tour_, std::nullopt)->found);
}

Result<std::optional<Copying>> Migration::FindTour(const PhaseRecord& record) {
  const std::unique_lock lock(touring_, std::try_to_lock);
  if (!lock) return AnotherVisit();
  const bool is_current =
      tour_ && tour_->record == record && stores_.Now() - tour_->last_step < kTourSeconds;
  return is_current ? std::optional(tour_->copying) : std::nullopt;
}

Result<Comparison> Migration::Verify(Copying copying) {
  return *TRY(Verify(copying, std::nullopt));
}

std::string Migration::DescribeDifferences(const Comparison& found) const {
  if (found.differing == 0) return DescribeChanging(found);
  return fmt::format(
      "{} of {} subjects differed, for example {}: a program writes to one store past Tidemark, or "
      "a store missed writes. They are copied now; advance again after {} seconds without a "
      "difference",
      found.differing, found.subjects, found.example, longest_life_.count());
}

std::string Migration::DescribeChanging(const Comparison& found) {
  if (found.changing == 0) return "";
  return fmt::format("{} of {} subjects kept changing, for example {}; try again", found.changing,
                     found.subjects, found.changing_example);
}

}  // namespace tidemark::moving
