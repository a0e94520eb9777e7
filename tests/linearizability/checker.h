// Checks whether a history is linearizable: whether every operation can be placed at one moment
// between its call and its return so that all replies are those of a store that does one operation
// at a time. Each key is checked separately, which is exact because linearizability is a local
// property.
//
//   Verdict verdict = Check(recorder.Take());
//   EXPECT_TRUE(verdict.linearizable()) << verdict.explanation;
//
// The search is Wing and Gong's algorithm with Lowe's cache of configurations. It is exact. In the
// worst case its time is exponential in the number of concurrent operations on one key, so it gives
// up after a limited number of configurations and says so. A pure function: any thread may call it.
#pragma once

#include <string>

#include "tests/linearizability/history.h"

namespace tidemark::testing {

struct Verdict {
  enum class Answer { kLinearizable, kViolation, kUndecided };

  Answer answer = Answer::kLinearizable;
  // For a violation: the key and the operations of the smallest window found that has no
  // order. Empty when linearizable.
  std::string explanation;

  bool linearizable() const { return answer == Answer::kLinearizable; }
};

// Every key holds nothing before the history begins.
Verdict Check(const History& history);

// One line for a reader: "client 2 [14, 17] increment 1 -> applied, saw 5".
std::string Describe(const Operation& operation);

}  // namespace tidemark::testing
