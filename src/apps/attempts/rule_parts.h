// What deciding (rules.cc) and lifting (lifting.cc) both need to know of rules, counts and locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/attempts/account.h"
#include "apps/attempts/policy.h"

namespace tidemark::attempts {

// A transaction has room for a hundred rows, and a decision changes other rows beside these.
inline constexpr size_t kMaxClearedAtOnce = 64;

// Whether a lock is for one method, or for all methods.
enum class Scope { kMethod, kAll };

// The name of the lock that the rule sets for this count.
Name LockName(const Name& name, const Rule& rule, Scope scope);
// The reason that a lock of the rule has.
std::string ReasonOf(const Rule& rule);
bool IsAtLimit(const Rule& rule, uint64_t of_method, uint64_t of_all);

uint64_t FailuresOf(const std::vector<const CountRow*>& rows);
// The names of the rows, but at most as many as one write may remove. The others stay until the
// next write.
std::vector<Name> NamesOf(const std::vector<const CountRow*>& rows);

}  // namespace tidemark::attempts
