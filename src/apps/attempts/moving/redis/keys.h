// KeyMap says under which key of the Redis a row of attempts is kept. There is a pattern for each
// kind of row, and single rows can have a key of their own, because the programs that used this
// Redis before have named its keys.
//
//   KeyMap keys = TRY(KeyMap::Make(
//       {.single = "SIGN_IN#LOCK#PASSWORD_RESET=code-blocked:{subject}"}, KnownSortKeys(policy)));
//   keys.KeyOf("SIGN_IN#LOCK#PASSWORD_RESET", ann);        // "code-blocked:ann"
//
// The keys of known rows are read even when we have not written them, so that rows of those
// programs are found. Immutable once made; may be read from any thread.
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

// Every pattern contains {subject}. The patterns of a kind also contain {name}: the sort key.
struct KeyOptions {
  std::string count = "multiple-incorrect:{name}:{subject}";
  std::string lock = "code-blocked:{name}:{subject}";
  std::string state = "account-state:{name}:{subject}";
  std::string single = {};                 // "SORT KEY=PATTERN, SORT KEY=PATTERN, ...".
  std::string own = "tidemark-attempts:";  // The prefix of keys that only we use.
};

// The sort keys of the policy's counts and locks, and of the states: rows that other programs may
// have written.
std::vector<std::string> KnownSortKeys(const attempts::Policy& policy);

class KeyMap {
 public:
  // kInvalid, naming the pattern, when one lacks {subject} or {name}.
  static Result<KeyMap> Make(KeyOptions options, const std::vector<std::string>& known);

  // Empty for a row that other programs have no key for; it is in our hash only.
  std::string KeyOf(std::string_view sort_key, const attempts::Subject& subject) const;
  // Sort key → key, of all known rows.
  std::map<std::string, std::string> KnownKeys(const attempts::Subject& subject) const;
  // The key of the hash with all rows of the subject.
  std::string OwnKey(const attempts::Subject& subject) const;
  std::string PhaseKey() const;
  std::string DriftKey() const;
  // The subject that the key belongs to; nullopt for a key of another purpose.
  std::optional<attempts::Subject> SubjectOf(std::string_view key) const;

 private:
  struct Pattern {
    std::string before;  // The text before the subject, and the text after it.
    std::string after;
  };

  explicit KeyMap(KeyOptions options) : options_(std::move(options)) {}
  std::optional<Pattern> PatternOf(std::string_view sort_key) const;

  KeyOptions options_;
  std::map<std::string, Pattern, std::less<>> single_;
  std::map<std::string, Pattern, std::less<>> known_;
};

}  // namespace tidemark::moving
