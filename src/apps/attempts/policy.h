// The Policy says what is counted, what the limits are, and what happens at a limit. It is data: a
// new journey, count, classifier or method needs a line in a file, and no change of code or table.
//
//   Policy policy = TRY(Policy::Parse(text));    // JSON; docs/attempts-policy.md has its fields
//   const Rule* rule = policy.FindRule(name, method_type);
//
// Immutable once made; may be read from any thread.
#pragma once

#include <array>
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
  kFixed,    // A count expires one life after its first failure.
  kSliding,  // A count expires one life after its last failure.
};

enum class AccountState { kBlocked, kSuspended, kResetPassword, kReproveIdentity };
// All of them, the strongest first: of several states the strongest one is reported.
inline constexpr std::array kAccountStates = {AccountState::kBlocked, AccountState::kSuspended,
                                              AccountState::kResetPassword,
                                              AccountState::kReproveIdentity};
std::string_view ToString(AccountState state);
std::optional<AccountState> ParseAccountState(std::string_view text);

enum class LockKind { kStandard, kReduced, kPermanent };
std::string_view ToString(LockKind kind);

// What happens when a count reaches its limit.
enum class OnLimit {
  kLock,   // Sets a lock and removes the count.
  kReset,  // Removes the count and refuses this one call.
  kHold,   // Keeps the count. It refuses the whole journey until it expires.
};

struct Rule {
  std::string journey;
  std::string count;
  std::string classifier;
  std::string method_type = {};  // Only methods of this type; empty: all types without a rule.
  uint32_t limit = 6;            // For one method.
  // For all methods of the count together, such as several devices of one person.
  std::optional<uint32_t> total_limit = std::nullopt;
  std::chrono::seconds life = std::chrono::seconds(900);
  Window window = Window::kFixed;
  OnLimit on_limit = OnLimit::kLock;
  LockKind lock = LockKind::kStandard;
  std::string lock_classifier = {};  // Empty: the count's own.
  // Classifiers of this journey and count whose counts a success clears; empty: it clears nothing.
  std::vector<std::string> clears = {};
  // Locks that finishing the journey lifts, in all methods and lanes, with the counts that lead to
  // them.
  std::vector<Name> lifts = {};
  // How many different secrets there are to guess from; 0: nothing can be guessed here.
  uint64_t space = 0;

  // Whether failures in a row may lock permanently: only where a secret can be guessed, and where a
  // limit slows the guesser down before. Without the second, anybody could lock a stranger's
  // account within seconds.
  bool HasCeiling() const;
};

// How likely it is that somebody who guesses as fast as the rule allows is right once. There are
// two answers, because a success of the owner in the same lane resets the ceiling.
struct Odds {
  std::string rule;  // "SIGN_IN#ERROR_COUNT#MFA_CODE_ENTRY"
  // Between two successes of the owner, or in a year if there are none.
  double guesses_between_successes = 0;
  double between_successes = 0;  // The probability that one of them is right.
  // In a year in which the owner succeeds every day, without a device that has a lane.
  double guesses_a_year = 0;
  double a_year = 0;
};

// The highest odds that are accepted.
struct OddsBounds {
  double between_successes = 0.01;
  double a_year = 0.05;
};

class Policy {
 public:
  // The policy of the spec.
  static const Policy& Default();
  // The same as the text of a policy file, to start your own from.
  static std::string_view DefaultText();
  // kInvalid, naming the field, when the text is not a valid policy.
  static Result<Policy> Parse(std::string_view json);

  // The name with aliases resolved ("LOGIN" is "SIGN_IN"); kInvalid when a part is not known.
  Result<Name> Resolve(const Name& name) const;
  Result<std::string> ResolveJourney(const std::string& journey) const;
  // The same for the name of a lock: its count is ignored and becomes "LOCK".
  Result<Name> ResolveLock(const Name& name) const;
  // kInvalid when the policy does not list the type. An empty one is not checked. Each type is
  // counted separately, so a caller that could invent types would never reach a limit.
  Status CheckMethodType(const std::string& type) const;
  // The name is resolved. nullptr when there is no rule for it.
  const Rule* FindRule(const Name& name, std::string_view method_type) const;
  // kInvalid, with the locks of the journey, when no rule asks for this lock: it would do nothing.
  Status CheckEnforced(const Name& lock) const;
  // Whether an account in this state may use the journey.
  bool Allows(AccountState state, const std::string& journey) const;
  // Whether finishing the journey lifts the lock.
  bool IsLifted(const Name& lock, const std::string& journey) const;
  const std::vector<Rule>& rules() const { return rules_; }

  std::chrono::seconds LockLength(LockKind kind) const;
  // So many failures in a row, in one lane and for one classifier, lock the account until somebody
  // lifts the lock or a journey that lifts it is finished. For rules with a ceiling.
  uint32_t ceiling() const { return ceiling_; }
  // An attempt that is not settled within this time is booked as a failure.
  std::chrono::seconds verification_deadline() const { return verification_deadline_; }

  // One entry for each rule with a space.
  std::vector<Odds> GuessOdds() const;

 private:
  double GuessesAYear(const Rule& rule) const;
  Status CheckRule(Rule* rule) const;
  Status ReadAliases(const std::optional<Json>& json);
  Status ReadLocks(const std::optional<Json>& json);
  Status ReadStates(const std::optional<Json>& json);
  Status ReadRules(const std::optional<Json>& json);
  Status CheckLifts() const;

  std::set<std::string, std::less<>> journeys_;
  std::set<std::string, std::less<>> counts_;
  std::set<std::string, std::less<>> classifiers_;
  std::set<std::string, std::less<>> method_types_ = {"AUTH_APP", "EMAIL", "PASSKEY", "SMS",
                                                      "VOICE"};
  std::map<std::string, std::string, std::less<>> aliases_;
  std::map<AccountState, std::set<std::string, std::less<>>> allowed_in_;
  std::vector<Rule> rules_;
  std::chrono::seconds standard_lock_ = std::chrono::seconds(900);
  std::chrono::seconds reduced_lock_ = std::chrono::seconds(300);
  uint32_t ceiling_ = 100;
  std::chrono::seconds verification_deadline_ = std::chrono::seconds(60);
};

// kInvalid when the odds of a rule are above a bound; the message names the rule and the setting.
Status CheckOdds(const Policy& policy, const OddsBounds& bounds);

}  // namespace tidemark::attempts
