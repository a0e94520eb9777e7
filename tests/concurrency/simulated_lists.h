// Transactions over lists by concurrent clients, simulated in one thread from a seed, with one
// bug at a time switched on: what proves that the list checker can say no. The same bug and
// seed always give the same history.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/concurrency/list_checker.h"

namespace tidemark::testing {

enum class ListBug {
  kNone,
  kTornWrite,         // The parts of a transaction become visible one after the other.
  kTornRead,          // The parts of a read are done one after the other.
  kStaleAppend,       // The list is read first and written back later.
  kStaleCheck,        // Lengths are checked first and the appends made later (write skew).
  kOldSnapshot,       // A read shows all lists together as they were some time ago.
  kAbortedIsVisible,  // A transaction whose check failed appends all the same.
  kPartLost,          // One part of an acknowledged transaction is not stored.
  kWholeLost,         // Nothing of an acknowledged transaction is stored.
  kAppendedTwice,
  kReplicasDisagree,  // Some clients see the last two elements the other way round.
  kRestartTears,      // A restart keeps one part of the transactions under way.
};

// All but kNone.
std::vector<ListBug> AllListBugs();
std::string_view NameOf(ListBug bug);

// A history of 5 clients, 3 lists and about 80 transactions, and the read of all lists after it.
std::vector<Transaction> SimulateLists(ListBug bug, uint64_t seed);

}  // namespace tidemark::testing
