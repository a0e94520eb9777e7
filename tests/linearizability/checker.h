// Says whether a history is linearizable: whether every operation can be given one moment
// between its call and its return so that the replies are those of a store that does one
// thing at a time. Keys are judged apart, which is exact because linearizability composes.
//
//   Verdict verdict = Check(recorder.Take());
//   EXPECT_TRUE(verdict.linearizable()) << verdict.explanation;
//
// The search is Wing and Gong's with Lowe's memory of configurations already seen. It is
// exact; its time is exponential in the number of concurrent operations on one key in the
// worst case, so it gives up after a bounded number of configurations and says so.
// A function of its argument alone: any thread may call it.
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
