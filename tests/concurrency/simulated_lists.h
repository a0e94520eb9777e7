// Simulates concurrent clients with transactions over lists, in one thread from a seed, with one
// bug switched on. It proves that the list checker rejects wrong histories. The same bug and seed
// always give the same history.
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
  kAbortedIsVisible,  // A transaction with a failed check appends anyway.
  kPartLost,          // One part of an acknowledged transaction is not stored.
  kWholeLost,         // Nothing of an acknowledged transaction is stored.
  kAppendedTwice,
  kReplicasDisagree,  // Some clients see the last two elements in reverse order.
  kRestartTears,      // A restart keeps only a part of a running transaction.
};

// All bugs except kNone.
std::vector<ListBug> AllListBugs();
std::string_view NameOf(ListBug bug);

// A history of 5 clients, 3 lists and about 80 transactions, and the read of all lists after it.
std::vector<Transaction> SimulateLists(ListBug bug, uint64_t seed);

}  // namespace tidemark::testing
