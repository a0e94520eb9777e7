// Checks whether transactions over lists are strictly serializable: whether each transaction can be
// placed at one moment between its call and its return so that all reads are explained.
//
// Transactions append elements that are unique, read whole lists, and check lengths. So each list
// shows the order of its appends, and the dependencies between transactions can be derived. An
// order exists exactly when the dependencies have no cycle. This is the method of Elle; the
// dependencies are
//   ww  one appended right after the other
//   wr  one read the state that the other left
//   rw  one read the state that the other then changed
//   rt  one returned before the other was called
//
// The last transaction of a history must read every list, after all others returned.
// A pure function: any thread may call it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/linearizability/history.h"

namespace tidemark::testing {

struct Append {
  std::string key;
  int64_t element = 0;
};

struct ListRead {
  std::string key;
  std::vector<int64_t> elements;
};

// The condition that a list has this length.
struct LengthCheck {
  std::string key;
  size_t length = 0;
};

// All parts of an applied transaction happened at one moment. A transaction that is not applied or
// unknown has no reads.
struct Transaction {
  int client = 0;
  std::vector<Append> appends;
  std::vector<ListRead> reads;
  std::vector<LengthCheck> checks;
  Tick called = 0;
  Tick returned = 0;  // Without meaning when the outcome is unknown.
  Outcome outcome = Outcome::kUnknown;
};

struct ListVerdict {
  bool serializable = true;
  std::string explanation;  // The cycle or the impossible list. Empty when serializable.
};

ListVerdict CheckLists(const std::vector<Transaction>& transactions);

}  // namespace tidemark::testing
