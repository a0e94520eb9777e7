// The Policy says what is counted, how far, and what follows: data, not code. New journeys, counts,
// classifiers and methods need a line in a file and no change of the table.
//
//   Policy policy = TRY(Policy::Parse(text));    // JSON; docs/attempts-policy.md has its fields
//   const Rule* rule = policy.FindRule(name);
//
// Immutable once made; may be read from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/attempts/names.h"
#include "base/json.h"
#include "base/result.h"

namespace tidemark::attempts {

enum class Window {
  kFixed,    // Counts end together, a life after the first.
  kSliding,  // Each count begins the life anew.
};

enum class AccountState { kBlocked, kSuspended, kResetPassword, kReproveIdentity };
std::string_view ToString(AccountState state);
std::optional<AccountState> ParseAccountState(std::string_view text);

enum class LockKind { kStandard, kReduced, kPermanent };
std::string_view ToString(LockKind kind);

// What reaching the limit does.
enum class OnLimit {
  kLock,   // Sets a lock and removes the count.
  kReset,  // Removes the count, and answers "too many" this once.
  kHold,   // Keeps the count, which refuses the whole journey for as long as it lives.
};

struct Rule {
  std::string journey;
  std::string count;
  std::string classifier;
  std::string method_type = {};  // Only for methods of this type; empty: for all others.
  uint32_t limit = 6;            // Of one method.
  // Over all methods together, such as the devices of one person.
  std::optional<uint32_t> total_limit = std::nullopt;
  std::chrono::seconds life = std::chrono::seconds(900);
  Window window = Window::kFixed;
  OnLimit on_limit = OnLimit::kLock;
  LockKind lock = LockKind::kStandard;
  std::string lock_classifier = {};  // Empty: the count's own.
  // What a success clears: classifiers of this journey and count; empty keeps the count as it is.
  std::vector<std::string> clears = {};
  // Locks that go when the journey is finished, with the counts that lead to them, whatever their
  // method and lane.
  std::vector<Name> lifts = {};
  // How many different secrets an attempt guesses among; 0: none is guessed.
  uint64_t space = 0;
};

// How likely it is that somebody who guesses all year is right once. Where the owner succeeds in
// the same lane meanwhile the ceiling begins anew, and this is the chance between two successes.
struct Odds {
  std::string rule;  // "SIGN_IN#ERROR_COUNT#MFA_CODE_ENTRY"
  double guesses_a_year = 0;
  double a_year = 0;  // The chance that one of them is right.
};

class Policy {
 public:
  // That of the spec.
  static const Policy& Default();
  // The same as the text of a file, to begin one's own with.
  static std::string_view DefaultText();
  // kInvalid, naming the field, when it is no policy.
  static Result<Policy> Parse(std::string_view json);

  // With aliases resolved ("LOGIN" is "SIGN_IN"); kInvalid when a name is not known.
  Result<Name> Resolve(const Name& name) const;
  Result<std::string> ResolveJourney(const std::string& journey) const;
  // Likewise for a lock, whose count is "LOCK" whatever the name says.
  Result<Name> ResolveLock(const Name& name) const;
  // nullptr when nothing is counted under the name. The name is a resolved one.
  const Rule* FindRule(const Name& name, std::string_view method_type) const;
  // Whether the state lets the journey go on.
  bool Allows(AccountState state, const std::string& journey) const;
  // Whether finishing the journey lifts the lock.
  bool IsLifted(const Name& lock, const std::string& journey) const;
  const std::vector<Rule>& rules() const { return rules_; }

  std::chrono::seconds LockLength(LockKind kind) const;
  // So many failures in a row, of one lane and classifier, lock until somebody lifts it.
  uint32_t ceiling() const { return ceiling_; }
  // What is not settled by then is booked as a failure.
  std::chrono::seconds verification_deadline() const { return verification_deadline_; }

  // For each rule that has a space.
  std::vector<Odds> YearlyOdds() const;

 private:
  double GuessesAYear(const Rule& rule) const;
  Status CheckRule(Rule* rule) const;
  Status ReadAliases(const std::optional<Json>& json);
  Status ReadLocks(const std::optional<Json>& json);
  Status ReadStates(const std::optional<Json>& json);
  Status ReadRules(const std::optional<Json>& json);

  std::set<std::string, std::less<>> journeys_;
  std::set<std::string, std::less<>> counts_;
  std::set<std::string, std::less<>> classifiers_;
  std::map<std::string, std::string, std::less<>> aliases_;
  std::map<AccountState, std::set<std::string, std::less<>>> allowed_in_;
  std::vector<Rule> rules_;
  std::chrono::seconds standard_lock_ = std::chrono::seconds(900);
  std::chrono::seconds reduced_lock_ = std::chrono::seconds(300);
  uint32_t ceiling_ = 100;
  std::chrono::seconds verification_deadline_ = std::chrono::seconds(60);
};

// kInvalid when a rule's odds a year are above the bound, naming it, its odds and what helps.
Status CheckOdds(const Policy& policy, double bound);

}  // namespace tidemark::attempts
