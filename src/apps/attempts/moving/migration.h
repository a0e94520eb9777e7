// Migration is what an operator does with a move: look at it, advance it, go back, compare.
//
//   Move move = TRY(migration.Advance());
//   if (!move.held_by.empty()) Show(move.held_by);      // the phase has not changed
//
// Advance refuses until the longest life of a count or lock has passed in this phase without a
// difference between the stores: by then everything that only one store knew has expired, and no
// process writes only one store any more. Servers note the differences that they find. Before every
// change all subjects are compared and then copied, because servers see only the subjects that are
// used. A difference found this way is noted too, and keeps the phase from changing. Going back
// copies too, so that nothing is lost. Going back from `new` empties the old store first: all that
// is still in it is out of date.
//
// A visit of all subjects takes as long as there are subjects. A caller that gives it a time gets
// an answer after that time, and goes on where it was with the next call: `is_more` says so.
// Nothing is kept of a visit that nobody continues for ten minutes, or after a restart.
//
// May be called from any thread. Only one visit is made at a time: another caller is refused, and
// by the epoch one in another process too. Servers may work at the same time. Stop ends a visit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "apps/attempts/moving/two_stores.h"
#include "apps/attempts/policy.h"
#include "base/result.h"

namespace tidemark::moving {

// The longest life of any count or lock of the policy.
std::chrono::seconds LongestLife(const attempts::Policy& policy);

struct MigrationStatus {
  PhaseRecord record = {};
  Drift drift = {};
  EpochSeconds ready_at = 0;  // Advance refuses before this time.
  uint64_t visited = 0;       // Subjects that the running visit, or the last one, has seen.
  uint64_t per_second = 0;    // How many of them in each second of the last call.
};

// The result of comparing all subjects of both stores.
struct Comparison {
  uint64_t subjects = 0;
  uint64_t rows = 0;
  uint64_t permanent = 0;    // Rows without an end.
  uint64_t differing = 0;    // Subjects whose rows differ between the stores.
  std::string example = {};  // One of them.
  uint64_t changing = 0;     // Subjects that servers changed all the time.
  std::string changing_example = {};
};

struct Move {
  MigrationStatus status = {};  // After the call.
  std::string held_by = {};     // Why the phase has not changed; empty: it has, or there is more.
  bool is_more = false;         // Not all subjects are visited yet: call again.
};

// How long a call visits subjects before it answers; nullopt: until all are visited.
using Slice = std::optional<std::chrono::milliseconds>;

enum class Force { kNo, kYes };
enum class Copying {
  kNo,
  kYes,
  kFirst,  // Only copies. When a move begins, the table has nothing that could be compared.
};

class Migration {
 public:
  // The stores outlive this.
  Migration(TwoStores* stores, std::chrono::seconds longest_life)
      : stores_(*stores), longest_life_(longest_life) {}

  // Begins the move in this phase; a move that has begun before goes on in the phase it was in. A
  // move that begins with both stores first copies the old one into the table.
  Status Start(Phase phase);
  Result<MigrationStatus> GetStatus();
  Result<Move> Advance(Slice slice = std::nullopt);
  // With force nothing is copied, for when a store is lost; what only that store knew is lost then.
  Result<Move> Back(Force force, Slice slice = std::nullopt);
  // Compares all subjects, and notes each difference as drift: advance waits from then on. With
  // kYes each subject is copied after it was compared. nullopt: there is more to visit.
  Result<std::optional<Comparison>> Verify(Copying copying, Slice slice);
  // The same for all subjects at once.
  Result<Comparison> Verify(Copying copying);
  // From now on every call that visits all subjects fails with kUnavailable, running ones too. What
  // was copied stays, and the phase does not change. Does not wait.
  void Stop() { is_stopping_ = true; }

 private:
  // The status of now, with the reason why the phase has not changed.
  Result<Move> Report(std::string held_by);
  Result<Move> BeginDual(const PhaseRecord& from, Phase dual, Slice slice);
  // Copies every subject after a move has begun, or goes on with that.
  Result<Move> CopyFirst(const PhaseRecord& record, Slice slice);
  // Why the phase must not change; empty when nothing speaks against it.
  std::string DescribeDifferences(const Comparison& found) const;
  static std::string DescribeChanging(const Comparison& found);
  Result<Move> ChangeTo(const PhaseRecord& from, Phase to);
  // A comparison of all subjects of both stores, as far as it is.
  struct Tour {
    PhaseRecord record = {};
    Copying copying = Copying::kNo;
    Drift drift = {};  // As it was at the last step.
    Side side = Side::kOld;
    std::optional<std::string> cursor = std::nullopt;  // Of the next page on this side.
    bool is_done = false;
    std::set<attempts::Subject> seen = {};  // Each subject is visited once.
    Comparison found = {};
    EpochSeconds last_step = 0;
  };

  template <typename Action>
  Status ForAll(Side side, const Action& action);
  // Continues the tour of this phase, or begins one.
  Status Continue(const PhaseRecord& record, Copying copying, Slice slice);
  // The kind of the tour that a call with a slice would go on with; nullopt: none. kInUse when
  // another call is making one.
  Result<std::optional<Copying>> FindTour(const PhaseRecord& record);
  // Visits all subjects, or as many as the slice has time for: then nullopt.
  Result<std::optional<Comparison>> Visit(const PhaseRecord& record, Copying copying, Slice slice);
  // Visits the next page of subjects, or a part of it until `is_time_up`.
  Status VisitPage(Tour* tour, const std::function<bool()>& is_time_up);
  void CountVisited();
  static Move AskAgain(MigrationStatus status);
  // False when servers kept changing it.
  Result<bool> CopyOne(const attempts::Subject& subject);
  Result<Sighting> LookAtRest(const attempts::Subject& subject);
  Status VisitOne(const attempts::Subject& subject, const PhaseRecord& record, Copying copying,
                  Comparison* comparison);

  TwoStores& stores_;
  const std::chrono::seconds longest_life_;
  std::atomic<bool> is_stopping_ = false;
  std::atomic<uint64_t> visited_ = 0;
  std::atomic<uint64_t> per_second_ = 0;
  std::mutex touring_;  // Held by the caller that makes a visit; guards the tour.
  std::optional<Tour> tour_;
};

}  // namespace tidemark::moving
