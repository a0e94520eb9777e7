// Migration is what an operator does with the move: look, go on, go back, compare.
//
//   Move move = TRY(migration.Advance());
//   if (!move.held_by.empty()) Show(move.held_by);      // the phase is as it was
//
// Going on is held while the two stores differ, and until the longest life of a count or lock has
// passed in the phase and since the last difference. Before every change all subjects of both
// stores are copied, and none may differ then: what has no end is carried by nothing else. Going
// back copies too, so that nothing is lost. From `new` the old store is emptied first: what is
// still there was cleared meanwhile, or is in the table.
//
// For one caller at a time; another one is refused by the epoch. Servers may be at work meanwhile.
// Whatever visits all subjects takes as long as there are subjects; Stop, from any thread, ends it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "apps/attempts/moving/two_stores.h"
#include "apps/attempts/policy.h"
#include "base/result.h"

namespace tidemark::moving {

// The longest that a count or lock of the policy lives.
std::chrono::seconds LongestLife(const attempts::Policy& policy);

struct MigrationStatus {
  PhaseRecord record = {};
  Drift drift = {};
  EpochSeconds ready_at = 0;  // Not before this may it go on.
};

// Of all subjects of both stores.
struct Comparison {
  uint64_t subjects = 0;
  uint64_t rows = 0;
  uint64_t permanent = 0;    // Rows without an end.
  uint64_t differing = 0;    // Subjects of whom the two do not say the same.
  std::string example = {};  // One of them.
};

struct Move {
  MigrationStatus status = {};  // As it is now.
  std::string held_by = {};     // Empty: the phase has changed.
};

enum class Force { kNo, kYes };

class Migration {
 public:
  // The stores outlive this.
  Migration(TwoStores* stores, std::chrono::seconds longest_life)
      : stores_(*stores), longest_life_(longest_life) {}

  Result<MigrationStatus> GetStatus();
  Result<Move> Advance();
  // By force without copying, for when a store is lost: what only that one knew is lost too.
  Result<Move> Back(Force force);
  // Changes nothing.
  Result<Comparison> Verify();
  // Joins both into each that the phase writes.
  Status CopyAll();
  // From now on everything that visits all subjects fails with kUnavailable, also what is under
  // way. What was copied stays, and the phase is as it was. Does not wait.
  void Stop() { is_stopping_ = true; }

 private:
  Result<Move> Held(std::string why);
  // Why not to change now, beside time and drift; empty when there is nothing.
  Result<std::string> CopyAndVerify();
  Result<Move> ChangeTo(const PhaseRecord& from, Phase to);
  template <typename Visit>
  Status ForAll(Side side, const Visit& visit);
  Status CompareOne(const attempts::Subject& subject, Phase phase, Comparison* comparison);

  TwoStores& stores_;
  const std::chrono::seconds longest_life_;
  std::atomic<bool> is_stopping_ = false;
};

}  // namespace tidemark::moving
