// KeyMap says which key of the Redis a row of attempts has: a pattern for each kind of row, and
// keys of their own for single rows, as programs before us have named them.
//
//   KeyMap keys = TRY(KeyMap::Make({.single =
//   "SIGN_IN#LOCK#PASSWORD_RESET=code-blocked:{subject}"},
//                                  {"SIGN_IN#LOCK#PASSWORD_RESET", ...}));
//
// Rows whose sort key is among the known ones are looked for even when we have not written them.
// Immutable once made; may be read from any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/attempts/names.h"
#include "apps/attempts/policy.h"
#include "base/result.h"

namespace tidemark::moving {

// {subject} is in each of them, {name}, the row's sort key, in those of a kind.
struct KeyOptions {
  std::string count = "multiple-incorrect:{name}:{subject}";
  std::string lock = "code-blocked:{name}:{subject}";
  std::string state = "account-state:{name}:{subject}";
  std::string single = {};                 // "SORT KEY=PATTERN" with commas between.
  std::string own = "tidemark-attempts:";  // What the keys begin with that only we use.
};

// What the policy counts and locks, and the states: the sort keys that others may have written.
std::vector<std::string> KnownSortKeys(const attempts::Policy& policy);

class KeyMap {
 public:
  // kInvalid, naming the pattern, when one is none.
  static Result<KeyMap> Make(KeyOptions options, const std::vector<std::string>& known);

  // Empty for a row that only we know of.
  std::string KeyOf(std::string_view sort_key, const attempts::Subject& subject) const;
  // Sort key → key, of the known ones.
  std::map<std::string, std::string> KnownKeys(const attempts::Subject& subject) const;
  // Where all rows of a subject are.
  std::string OwnKey(const attempts::Subject& subject) const;
  std::string PhaseKey() const;
  std::string DriftKey() const;
  // Whose key it is; nullopt when it is none of ours.
  std::optional<attempts::Subject> SubjectOf(std::string_view key) const;

 private:
  struct Pattern {
    std::string before;  // The subject.
    std::string behind;
  };

  explicit KeyMap(KeyOptions options) : options_(std::move(options)) {}
  std::optional<Pattern> PatternOf(std::string_view sort_key) const;

  KeyOptions options_;
  std::map<std::string, Pattern, std::less<>> single_;
  std::map<std::string, Pattern, std::less<>> known_;
};

}  // namespace tidemark::moving
