#include "apps/attempts/rule_parts.h"

#include <fmt/format.h>

namespace tidemark::attempts {

uint64_t FailuresOf(const std::vector<const CountRow*>& rows) {
  uint64_t sum = 0;
  for (const CountRow* row : rows) sum += row->count;
  return sum;
}

std::vector<Name> NamesOf(const std::vector<const CountRow*>& rows) {
  std::vector<Name> names;
  for (const CountRow* row : rows) {
    if (names.size() < kMaxClearedAtOnce) names.push_back(row->name);
  }
  return names;
}

Name LockName(const Name& name, const Rule& rule, Scope scope) {
  Name lock = name;
  lock.count = kLockCount;
  lock.classifier = rule.lock_classifier;
  if (scope == Scope::kAll) lock.method.clear();
  return lock;
}

bool IsAtLimit(const Rule& rule, uint64_t of_method, uint64_t of_all) {
  return of_method >= rule.limit || (rule.total_limit && of_all >= *rule.total_limit);
}

std::string ReasonOf(const Rule& rule) { return fmt::format("{} {}", rule.count, rule.classifier); }

}  // namespace tidemark::attempts
