// A small store with concurrent clients, simulated in one thread from a seed, with one bug switched
// on. It proves that the checker rejects wrong histories.
//
// The seed decides the order of the clients' steps. Sometimes the store restarts; operations that
// were running then have an unknown outcome. The same bug and seed always give the same history.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/linearizability/history.h"

namespace tidemark::testing {

enum class Bug {
  kNone,
  // What an operation is evaluated against is wrong.
  kLostUpdate,              // An increment reads first and writes later.
  kStaleCondition,          // A condition is checked first and its write done later.
  kStaleRead,               // A get sometimes shows the value before the last change.
  kReadsAnotherKey,         // A get sometimes shows another key's value.
  kLaggingReplica,          // Half the clients read a copy that gets every eighth change.
  kCacheMissesDelete,       // Gets are served from a cache that deletes do not reach.
  kCacheFilledLate,         // A get puts into the cache what it read before a concurrent write.
  kIncrementIgnoresDelete,  // A counter goes on from its value before it was deleted.
  // What the reply says is wrong.
  kAppliedButReportedFailed,
  kFailedButReportedApplied,
  kSpuriousFailure,  // The condition held, nothing is done, the reply says it did not.
  kIncrementReturnsOldValue,
  kFailureShowsOldValue,  // A failed condition shows the value before the last change.
  kConditionIgnored,
  // What is stored is wrong.
  kReportedAppliedButLost,
  kDoubleIncrement,
  kDeleteIgnored,
  kWritesAnotherKey,
  kAcknowledgedBeforeApplied,  // The change is made some time after the reply.
  kResurrectedDelete,          // The value comes back some time after it was deleted.
  kDeliveredTwice,             // A put is made again some time later.
  kOlderCallLoses,             // A put is dropped when a younger request overtook it.
  // The change is seen too early.
  kDirtyRead,     // A conditional put can be read before its condition is checked.
  kSeenThenLost,  // A change can be read before it is logged, and a restart loses it.
  kDeletesTwice,  // A delete removes the value once early and once more late.
  // A restart goes wrong.
  kRestartLosesLast,       // The last acknowledged change is gone.
  kRestartReplaysLast,     // The last increment is made again.
  kRestartForgetsDeletes,  // Keys deleted before come back.
  kUnknownHappensTwice,  // The restart applies a running operation, and it is applied again later.
};

// All bugs except kNone.
std::vector<Bug> AllBugs();
std::string_view NameOf(Bug bug);

// The result of an operation in a correct store when the key holds `value`: the new value, and the
// operation with its outcome and the value seen.
struct Evaluation {
  Value next;
  Operation answered;
};
Evaluation Evaluate(Operation operation, const Value& value);

// A history of 5 clients, 2 keys and about 120 operations.
History Simulate(Bug bug, uint64_t seed);

}  // namespace tidemark::testing
