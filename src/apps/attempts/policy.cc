#include "apps/attempts/policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"

namespace tidemark::attempts {

namespace {

using std::chrono::seconds;

constexpr int64_t kMaxSeconds = 366LL * 86'400;
constexpr int64_t kMaxLimit = 999'999;
constexpr size_t kShownBytes = 64;  // How much of an unknown name an error message shows.
constexpr std::string_view kEveryJourney = "*";
// Sort keys of locks, states and devices have these words where a count has its name.
constexpr std::array<std::string_view, 3> kReservedCounts = {kLockCount, "STATE", "KNOWN"};

constexpr std::array<std::pair<AccountState, std::string_view>, 4> kStateNames = {{
    {AccountState::kBlocked, "BLOCKED"},
    {AccountState::kSuspended, "SUSPENDED"},
    {AccountState::kResetPassword, "RESET_PASSWORD"},
    {AccountState::kReproveIdentity, "REPROVE_IDENTITY"},
}};

// One object of the policy file. Errors say where in the file they are.
class Fields {
 public:
  static Result<Fields> Of(const Json& json, std::string where,
                           std::initializer_list<std::string_view> known) {
    if (!json.IsObject()) return Invalid(where + " should be an object");
    for (const auto& [name, value] : json.Members()) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      return Invalid(fmt::format("{} has an unknown field \"{}\"", where, name));
    }
    return Fields(json, std::move(where));
  }

  Result<std::string> Text(std::string_view name, std::string_view otherwise) const {
    const auto value = json_.Find(name);
    if (!value) return std::string(otherwise);
    if (const auto text = value->AsString()) return std::string(*text);
    return Invalid(fmt::format("{}.{} should be a string", where_, name));
  }
  Result<int64_t> Integer(std::string_view name, int64_t otherwise, int64_t most) const {
    const auto value = json_.Find(name);
    if (!value) return otherwise;
    const auto number = value->AsInt();
    if (number && *number >= 1 && *number <= most) return *number;
    return Invalid(fmt::format("{}.{} should be a number from 1 to {}", where_, name, most));
  }
  Result<std::vector<std::string>> Texts(std::string_view name) const {
    std::vector<std::string> texts;
    const auto list = json_.Find(name);
    if (!list) return texts;
    if (!list->IsArray()) return Invalid(fmt::format("{}.{} should be a list", where_, name));
    for (const Json element : list->Elements()) {
      const auto text = element.AsString();
      if (!text) return Invalid(fmt::format("{}.{} should be a list of strings", where_, name));
      texts.emplace_back(*text);
    }
    return texts;
  }
  // The value whose name the field has.
  template <typename T>
  Result<T> Choice(std::string_view name, std::string_view otherwise,
                   std::initializer_list<std::pair<std::string_view, T>> choices) const {
    const std::string chosen = TRY(Text(name, otherwise));
    for (const auto& [text, value] : choices) {
      if (text == chosen) return value;
    }
    std::string known;
    for (const auto& [text, value] : choices) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", text);
    }
    return Invalid(
        fmt::format("{}.{} should be one of {}, not \"{}\"", where_, name, known, chosen));
  }
  std::optional<Json> Find(std::string_view name) const { return json_.Find(name); }

 private:
  Fields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}
  Json json_;
  std::string where_;
};

Result<std::set<std::string, std::less<>>> ReadNames(const Fields& fields, std::string_view name) {
  std::set<std::string, std::less<>> names;
  for (std::string& text : TRY(fields.Texts(name))) {
    TRY(SortKeyOf({.journey = text, .count = text, .classifier = text})
            .WithContext(fmt::format("policy.{}", name)));
    names.insert(std::move(text));
  }
  return names;
}

Status RequireObject(const Json& json, std::string_view where) {
  if (json.IsObject()) return Done{};
  return Invalid(fmt::format("{} should be an object", where));
}

// JSON allows a key twice, and a reader would use one of the two values without a word.
Status CheckKeysOnce(const Json& json, const std::string& where) {
  if (json.IsArray()) {
    size_t number = 0;
    for (const Json one : json.Elements()) {
      TRY(CheckKeysOnce(one, fmt::format("{}[{}]", where, number++)));
    }
  }
  if (!json.IsObject()) return Done{};
  std::set<std::string, std::less<>> keys;
  for (const auto& [key, value] : json.Members()) {
    if (!keys.insert(std::string(key)).second) {
      return Invalid(fmt::format("{} has the key \"{}\" twice", where, key));
    }
    TRY(CheckKeysOnce(value, fmt::format("{}.{}", where, key)));
  }
  return Done{};
}

Result<std::vector<Name>> ReadLifts(const Fields& fields) {
  std::vector<Name> locks;
  for (const std::string& text : TRY(fields.Texts("lifts"))) {
    locks.push_back(TRY(ParseSortKey(text).WithContext("lifts")));
  }
  return locks;
}

Result<Rule> ReadRule(const Json& json, size_t number) {
  const Fields fields = TRY(
      Fields::Of(json, fmt::format("policy.rules[{}]", number),
                 {"journey", "count", "classifier", "method_type", "limit", "total_limit", "life",
                  "window", "on_limit", "lock", "lock_classifier", "clears", "lifts", "space"}));
  Rule rule;
  rule.journey = TRY(fields.Text("journey", ""));
  rule.count = TRY(fields.Text("count", ""));
  rule.classifier = TRY(fields.Text("classifier", kGeneral));
  rule.method_type = TRY(fields.Text("method_type", ""));
  rule.limit = static_cast<uint32_t>(TRY(fields.Integer("limit", rule.limit, kMaxLimit)));
  if (fields.Find("total_limit")) {
    rule.total_limit = static_cast<uint32_t>(TRY(fields.Integer("total_limit", 0, kMaxLimit)));
  }
  rule.life = seconds(TRY(fields.Integer("life", rule.life.count(), kMaxSeconds)));
  rule.window = TRY(fields.Choice<Window>(
      "window", "fixed", {{"fixed", Window::kFixed}, {"sliding", Window::kSliding}}));
  rule.on_limit = TRY(fields.Choice<OnLimit>(
      "on_limit", "lock",
      {{"lock", OnLimit::kLock}, {"reset", OnLimit::kReset}, {"hold", OnLimit::kHold}}));
  rule.lock = TRY(fields.Choice<LockKind>("lock", "STANDARD",
                                          {{"STANDARD", LockKind::kStandard},
                                           {"REDUCED", LockKind::kReduced},
                                           {"PERMANENT", LockKind::kPermanent}}));
  rule.lock_classifier = TRY(fields.Text("lock_classifier", rule.classifier));
  rule.clears = TRY(fields.Texts("clears"));
  rule.lifts = TRY(ReadLifts(fields));
  rule.space = static_cast<uint64_t>(TRY(fields.Integer("space", 0, INT64_MAX)));
  return rule;
}

std::string KeyOf(const Rule& rule) {
  std::string key = fmt::format("{}#{}#{}", rule.journey, rule.count, rule.classifier);
  if (!rule.method_type.empty()) key += " for " + rule.method_type;
  return key;
}

}  // namespace

std::string_view ToString(LockKind kind) {
  switch (kind) {
    case LockKind::kStandard:
      return "STANDARD";
    case LockKind::kReduced:
      return "REDUCED";
    case LockKind::kPermanent:
      return "PERMANENT";
  }
  return "STANDARD";
}

std::string_view ToString(AccountState state) {
  for (const auto& [known, text] : kStateNames) {
    if (known == state) return text;
  }
  return "BLOCKED";
}

std::optional<AccountState> ParseAccountState(std::string_view text) {
  for (const auto& [state, known] : kStateNames) {
    if (known == text) return state;
  }
  return std::nullopt;
}

bool Rule::HasCeiling() const { return space > 0 && on_limit != OnLimit::kReset; }

Result<Policy> Policy::Parse(std::string_view json) {
  const JsonDocument document = TRY(JsonDocument::Parse(json).WithContext("the policy"));
  TRY(CheckKeysOnce(document.root(), "policy"));
  const Fields fields =
      TRY(Fields::Of(document.root(), "policy",
                     {"journeys", "counts", "classifiers", "method_types", "aliases",
                      "lock_seconds", "ceiling", "verification_seconds", "states", "rules"}));
  Policy policy;
  policy.journeys_ = TRY(ReadNames(fields, "journeys"));
  policy.counts_ = TRY(ReadNames(fields, "counts"));
  for (const std::string_view reserved : kReservedCounts) {
    if (!policy.counts_.contains(reserved)) continue;
    return Invalid(fmt::format(
        "policy.counts cannot contain \"{}\": this name is used for other rows", reserved));
  }
  policy.classifiers_ = TRY(ReadNames(fields, "classifiers"));
  if (fields.Find("method_types")) policy.method_types_ = TRY(ReadNames(fields, "method_types"));
  policy.ceiling_ = static_cast<uint32_t>(TRY(fields.Integer("ceiling", 100, kMaxLimit)));
  policy.verification_deadline_ = seconds(TRY(fields.Integer("verification_seconds", 60, 3'600)));
  TRY(policy.ReadAliases(fields.Find("aliases")));
  TRY(policy.ReadLocks(fields.Find("lock_seconds")));
  TRY(policy.ReadStates(fields.Find("states")));
  TRY(policy.ReadRules(fields.Find("rules")));
  return policy;
}

Status Policy::ReadAliases(const std::optional<Json>& json) {
  if (!json) return Done{};
  TRY(RequireObject(*json, "policy.aliases"));
  for (const auto& [alias, name] : json->Members()) {
    const auto text = name.AsString();
    if (!text || !journeys_.contains(*text)) {
      return Invalid(fmt::format("policy.aliases.{} should be the name of a journey", alias));
    }
    if (journeys_.contains(alias)) {
      return Invalid(
          fmt::format("policy.aliases.{} is the name of a journey and cannot be an alias", alias));
    }
    aliases_.emplace(alias, *text);
  }
  return Done{};
}

Status Policy::ReadLocks(const std::optional<Json>& json) {
  if (!json) return Done{};
  const Fields fields = TRY(Fields::Of(*json, "policy.lock_seconds", {"STANDARD", "REDUCED"}));
  standard_lock_ = seconds(TRY(fields.Integer("STANDARD", standard_lock_.count(), kMaxSeconds)));
  reduced_lock_ = seconds(TRY(fields.Integer("REDUCED", reduced_lock_.count(), kMaxSeconds)));
  return Done{};
}

Status Policy::ReadStates(const std::optional<Json>& json) {
  if (!json) return Done{};
  TRY(RequireObject(*json, "policy.states"));
  for (const auto& [text, journeys] : json->Members()) {
    const auto state = ParseAccountState(text);
    if (!state) {
      std::string known;
      for (const auto& [one, name] : kStateNames) known += fmt::format(" {}", name);
      return Invalid(
          fmt::format("policy.states.{} is not a state of an account; they are{}", text, known));
    }
    const std::string where = fmt::format("policy.states.{}", text);
    if (!journeys.IsArray()) return Invalid(where + " should be a list of journeys");
    for (const Json one : journeys.Elements()) {
      const std::string journey(one.AsString().value_or(""));
      const bool is_every = journey == kEveryJourney;
      allowed_in_[*state].insert(is_every ? journey
                                          : TRY(ResolveJourney(journey).WithContext(where)));
    }
  }
  return Done{};
}

// Checks all names now, so that a sort key made from them later cannot be wrong.
Status Policy::CheckRule(Rule* rule) const {
  const Name name = TRY(
      Resolve({.journey = rule->journey, .count = rule->count, .classifier = rule->classifier}));
  rule->journey = name.journey;
  TRY(Resolve({.journey = name.journey, .count = name.count, .classifier = rule->lock_classifier})
          .WithContext("lock_classifier"));
  for (const std::string& classifier : rule->clears) {
    TRY(Resolve({.journey = name.journey, .count = name.count, .classifier = classifier})
            .WithContext("clears"));
  }
  for (Name& lock : rule->lifts) {
    if (lock.count != kLockCount || !lock.method.empty() || !lock.lane.empty()) {
      return Invalid("lifts should name locks, as \"JOURNEY#LOCK#CLASSIFIER\"");
    }
    lock = TRY(ResolveLock(lock).WithContext("lifts"));
  }
  TRY(CheckMethodType(rule->method_type));
  return Done{};
}

Status Policy::ReadRules(const std::optional<Json>& json) {
  if (!json || !json->IsArray()) return Invalid("policy.rules should be a list");
  for (const Json one : json->Elements()) {
    Rule rule = TRY(ReadRule(one, rules_.size()));
    TRY(CheckRule(&rule).WithContext(fmt::format("policy.rules[{}]", rules_.size())));
    const auto is_same = [&](const Rule& other) { return KeyOf(other) == KeyOf(rule); };
    if (std::any_of(rules_.begin(), rules_.end(), is_same)) {
      return Invalid(fmt::format("policy.rules has two rules for {}", KeyOf(rule)));
    }
    rules_.push_back(std::move(rule));
  }
  return CheckLifts();
}

// A misspelt lock would never be lifted, and nobody would notice.
Status Policy::CheckLifts() const {
  for (size_t number = 0; number < rules_.size(); ++number) {
    for (const Name& lock : rules_[number].lifts) {
      const bool is_set = std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
        return rule.journey == lock.journey && rule.lock_classifier == lock.classifier &&
               rule.on_limit != OnLimit::kReset;
      });
      if (is_set) continue;
      return Invalid(
          fmt::format("policy.rules[{}].lifts names the lock {}#{}#{}, which no rule sets", number,
                      lock.journey, kLockCount, lock.classifier));
    }
  }
  return Done{};
}

Result<std::string> Policy::ResolveJourney(const std::string& journey) const {
  const auto alias = aliases_.find(journey);
  const std::string& resolved = alias != aliases_.end() ? alias->second : journey;
  if (journeys_.contains(resolved)) return resolved;
  return Invalid(fmt::format("the policy has no journey \"{}\"; it has {}",
                             resolved.substr(0, kShownBytes), fmt::join(journeys_, ", ")));
}

Result<Name> Policy::Resolve(const Name& name) const {
  TRY(SortKeyOf(name));
  Name resolved = name;
  resolved.journey = TRY(ResolveJourney(name.journey));
  const std::pair<const std::set<std::string, std::less<>>*, const std::string*> parts[] = {
      {&counts_, &resolved.count}, {&classifiers_, &resolved.classifier}};
  for (const auto& [known, part] : parts) {
    if (known->contains(*part)) continue;
    return Invalid(fmt::format("the policy does not know the name \"{}\"; it knows {}", *part,
                               fmt::join(*known, ", ")));
  }
  return resolved;
}

Status Policy::CheckMethodType(const std::string& type) const {
  if (type.empty() || method_types_.contains(type)) return Done{};
  return Invalid(fmt::format("the policy's method_types do not contain \"{}\"; they are {}",
                             type.substr(0, kShownBytes), fmt::join(method_types_, ", ")));
}

Result<Name> Policy::ResolveLock(const Name& name) const {
  Name as_count = name;
  as_count.count = counts_.empty() ? std::string() : *counts_.begin();
  Name resolved = TRY(Resolve(as_count));
  resolved.count = kLockCount;
  return resolved;
}

const Rule* Policy::FindRule(const Name& name, std::string_view method_type) const {
  const Rule* general = nullptr;
  for (const Rule& rule : rules_) {
    if (rule.journey != name.journey || rule.count != name.count ||
        rule.classifier != name.classifier) {
      continue;
    }
    if (rule.method_type.empty()) {
      general = &rule;
    } else if (rule.method_type == method_type) {
      return &rule;
    }
  }
  return general;
}

Status Policy::CheckEnforced(const Name& lock) const {
  std::set<std::string> enforced;
  for (const Rule& rule : rules_) {
    if (rule.journey == lock.journey) enforced.insert(rule.lock_classifier);
  }
  if (enforced.contains(lock.classifier)) return Done{};
  return Invalid(fmt::format(
      "no rule asks for the lock {} of the journey {}, so it would do nothing; its locks are {}",
      lock.classifier, lock.journey, fmt::join(enforced, ", ")));
}

bool Policy::Allows(AccountState state, const std::string& journey) const {
  const auto allowed = allowed_in_.find(state);
  return allowed != allowed_in_.end() &&
         (allowed->second.contains(journey) || allowed->second.contains(kEveryJourney));
}

bool Policy::IsLifted(const Name& lock, const std::string& journey) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    if (rule.journey != journey) return false;
    return std::any_of(rule.lifts.begin(), rule.lifts.end(),
                       [&](const Name& lifted) { return IsSameCount(lifted, lock); });
  });
}

std::chrono::seconds Policy::LockLength(LockKind kind) const {
  return kind == LockKind::kReduced ? reduced_lock_ : standard_lock_;
}

// The best that a guesser can do with one rule. Either use all attempts, wait until the lock ends,
// and begin again; or use one attempt less than the limit in each life of the count, and never be
// locked.
double Policy::GuessesAYear(const Rule& rule) const {
  constexpr double kYear = 365.0 * 86'400;
  const auto periods = [](seconds length) {
    return std::ceil(kYear / static_cast<double>(length.count()));
  };
  const double at_once = rule.total_limit.value_or(rule.limit);
  const double unlocked = (at_once - 1) * periods(rule.life);
  switch (rule.on_limit) {
    case OnLimit::kReset:  // The count starts again at once, so nothing slows a guesser down.
      return at_once * kYear;
    case OnLimit::kHold:
      return at_once * periods(rule.life);
    case OnLimit::kLock:
      break;
  }
  if (rule.lock == LockKind::kPermanent) return std::max(at_once, unlocked);
  return std::max(at_once * periods(LockLength(rule.lock)), unlocked);
}

std::vector<Odds> Policy::GuessOdds() const {
  constexpr double kSuccessesAYear = 365;
  std::vector<Odds> all;
  for (const Rule& rule : rules_) {
    if (rule.space == 0) continue;
    const double fastest = GuessesAYear(rule);
    Odds odds{.rule = KeyOf(rule), .guesses_between_successes = fastest, .guesses_a_year = fastest};
    if (rule.HasCeiling()) {
      odds.guesses_between_successes = std::min<double>(fastest, ceiling_);
      odds.guesses_a_year = std::min(fastest, ceiling_ * kSuccessesAYear);
    }
    const auto of = [&](double guesses) {
      return -std::expm1(guesses * std::log1p(-1.0 / static_cast<double>(rule.space)));
    };
    odds.between_successes = of(odds.guesses_between_successes);
    odds.a_year = of(odds.guesses_a_year);
    all.push_back(std::move(odds));
  }
  return all;
}

namespace {

constexpr std::string_view kHowToLower =
    "lower its limit or the ceiling, or let its secrets be longer";

}  // namespace

Status CheckOdds(const Policy& policy, const OddsBounds& bounds) {
  for (const Odds& odds : policy.GuessOdds()) {
    if (odds.between_successes > bounds.between_successes) {
      return Invalid(fmt::format(
          "the policy's rule {} can be guessed between two successes of the owner with odds of "
          "{:.3g} ({:.0f} guesses), above attempts.max-odds = {:.3g}: {}",
          odds.rule, odds.between_successes, odds.guesses_between_successes,
          bounds.between_successes, kHowToLower));
    }
    if (odds.a_year > bounds.a_year) {
      return Invalid(fmt::format(
          "the policy's rule {} can be guessed within a year in which the owner succeeds every day "
          "with odds of {:.3g} ({:.0f} guesses), above attempts.max-yearly-odds = {:.3g}: {}",
          odds.rule, odds.a_year, odds.guesses_a_year, bounds.a_year, kHowToLower));
    }
  }
  return Done{};
}

}  // namespace tidemark::attempts
