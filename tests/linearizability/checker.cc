#include "tests/linearizability/checker.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

namespace tidemark::testing {
namespace {

using Answer = Verdict::Answer;

// A configuration takes about 200 bytes, so one search uses at most a few hundred megabytes.
constexpr size_t kMaxConfigurations = 1'000'000;
// An explanation needs many searches. A search that would take too long is given up, and the window
// stays larger.
constexpr size_t kMaxConfigurationsToExplain = 1'000;
constexpr size_t kMaxExplained = 40;
constexpr Tick kNever = std::numeric_limits<Tick>::max();

// --- The store that does one thing at a time ---

bool ConditionHolds(const Operation& operation, const Value& value) {
  switch (operation.kind) {
    case Kind::kPutIfAbsent:
      return !value.has_value();
    case Kind::kPutIfEquals:
    case Kind::kDeleteIfEquals:
      return value == operation.expected;
    default:
      return true;
  }
}

Value Effect(const Operation& operation, const Value& value) {
  switch (operation.kind) {
    case Kind::kGet:
      return value;
    case Kind::kIncrement:
      return value.value_or(0) + operation.argument;
    case Kind::kDelete:
    case Kind::kDeleteIfEquals:
      return std::nullopt;
    default:
      return operation.argument;
  }
}

// What the key holds after the operation, or nullopt when its reply is impossible now.
std::optional<Value> Step(const Operation& operation, const Value& value) {
  const bool holds = ConditionHolds(operation, value);
  const Value next = holds ? Effect(operation, value) : value;
  if (operation.outcome == Outcome::kUnknown) return next;
  if (holds != (operation.outcome == Outcome::kApplied)) return std::nullopt;
  const Value& shown = operation.kind == Kind::kIncrement ? next : value;
  if (operation.seen && *operation.seen != shown) return std::nullopt;
  return next;
}

// An operation that never changes anything can be placed at the first moment that fits. Placing it
// only removes constraints from the others.
bool NeverChanges(const Operation& operation) {
  return operation.outcome == Outcome::kNotApplied ||
         (operation.outcome == Outcome::kApplied && operation.kind == Kind::kGet);
}

Tick EndOf(const Operation& operation) {
  return operation.outcome == Outcome::kUnknown ? kNever : operation.returned;
}

// --- The search, over the operations of one key in the order of their calls ---

class Search {
 public:
  Search(const History& operations, Value initial, size_t max_configurations)
      : operations_(operations), value_(initial), max_configurations_(max_configurations) {
    placed_.resize((operations.size() + 63) / 64);
    for (const Operation& operation : operations) must_place_ += EndOf(operation) != kNever;
  }

  // Depth-first search: place an operation that fits; when none fits, undo the last choice.
  Answer Run() {
    size_t from = 0;
    while (must_place_ > 0) {
      if (configurations_.size() >= max_configurations_) return Answer::kUndecided;
      if (PlaceNext(from)) {
        from = 0;
      } else if (std::optional<size_t> taken_back = TakeBack()) {
        from = *taken_back + 1;
      } else {
        return Answer::kViolation;
      }
    }
    return Answer::kLinearizable;
  }

 private:
  struct Choice {
    size_t operation;
    Value value_before;
  };
  struct Configuration {
    std::vector<uint64_t> placed;
    Value value;
    bool operator==(const Configuration&) const = default;
  };
  struct Hash {
    size_t operator()(const Configuration& configuration) const {
      uint64_t hash = static_cast<uint64_t>(configuration.value.value_or(-1));
      for (uint64_t word : configuration.placed) {
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
      }
      return hash;
    }
  };

  bool IsPlaced(size_t i) const { return placed_[i / 64] >> (i % 64) & 1; }
  void Flip(size_t i) { placed_[i / 64] ^= uint64_t{1} << (i % 64); }

  // Places the first operation at or after `from` that can come next and leads to a
  // configuration not seen before. Operations that never change anything are tried first: when one
  // fits, nothing else needs to be tried here.
  bool PlaceNext(size_t from) {
    FindCandidates();
    for (size_t i : candidates_) {
      if (NeverChanges(operations_[i]) && Step(operations_[i], value_)) return Place(i);
    }
    return std::any_of(candidates_.begin(), candidates_.end(), [&](size_t i) {
      return i >= from && !NeverChanges(operations_[i]) && Place(i);
    });
  }

  // The operations that may come next: those that were called before any other unplaced operation
  // returned.
  void FindCandidates() {
    candidates_.clear();
    while (first_open_ < operations_.size() && IsPlaced(first_open_)) ++first_open_;
    Tick earliest_return = kNever;
    for (size_t i = first_open_; i < operations_.size(); ++i) {
      if (operations_[i].called > earliest_return) break;
      if (IsPlaced(i)) continue;
      earliest_return = std::min(earliest_return, EndOf(operations_[i]));
      candidates_.push_back(i);
    }
  }

  bool Place(size_t i) {
    const Operation& operation = operations_[i];
    std::optional<Value> next = Step(operation, value_);
    if (!next) return false;
    // An unknown operation that would change nothing can be left out.
    if (EndOf(operation) == kNever && *next == value_) return false;
    Flip(i);
    if (!configurations_.insert({placed_, *next}).second) {
      Flip(i);
      return false;
    }
    choices_.push_back({i, value_});
    value_ = *next;
    must_place_ -= EndOf(operation) != kNever;
    return true;
  }

  // Returns the operation that was undone, or nullopt when every choice was tried. Operations that
  // never change anything had no alternative, so they are undone together with the choice before
  // them.
  std::optional<size_t> TakeBack() {
    while (!choices_.empty()) {
      const Choice choice = choices_.back();
      choices_.pop_back();
      Flip(choice.operation);
      value_ = choice.value_before;
      must_place_ += EndOf(operations_[choice.operation]) != kNever;
      first_open_ = std::min(first_open_, choice.operation);
      if (!NeverChanges(operations_[choice.operation])) return choice.operation;
    }
    return std::nullopt;
  }

  const History& operations_;
  Value value_;
  const size_t max_configurations_;
  size_t must_place_ = 0;  // Operations not yet placed whose reply came.
  size_t first_open_ = 0;  // All before this one are placed.
  std::vector<uint64_t> placed_;
  std::vector<size_t> candidates_;
  std::vector<Choice> choices_;
  std::unordered_set<Configuration, Hash> configurations_;
};

bool IsViolation(const History& operations, Value initial) {
  return Search(operations, initial, kMaxConfigurationsToExplain).Run() == Answer::kViolation;
}

// --- The explanation ---

// The history at the moment `cut`: later calls are left out, and open ones are unknown.
History Before(const History& operations, Tick cut) {
  History result;
  for (Operation operation : operations) {
    if (operation.called > cut) break;
    if (EndOf(operation) > cut) operation.outcome = Outcome::kUnknown;
    result.push_back(std::move(operation));
  }
  return result;
}

// The part that was still open at `cut` or came after.
History After(const History& operations, Tick cut) {
  History result;
  std::copy_if(operations.begin(), operations.end(), std::back_inserter(result),
               [cut](const Operation& operation) { return EndOf(operation) >= cut; });
  return result;
}

// Every value that occurs in the operations, and one that does not.
std::set<Value> PossibleValues(const History& operations) {
  std::set<Value> values = {std::nullopt, std::numeric_limits<int64_t>::min()};
  for (const Operation& operation : operations) {
    values.insert(operation.argument);
    values.insert(operation.expected);
    if (!operation.seen) continue;
    values.insert(*operation.seen);
    if (operation.kind == Kind::kIncrement) {
      values.insert(operation.seen->value_or(0) - operation.argument);
    }
  }
  return values;
}

bool IsViolationFromAnyStart(const History& operations) {
  const std::set<Value> starts = PossibleValues(operations);
  return std::all_of(starts.begin(), starts.end(),
                     [&](const Value& start) { return IsViolation(operations, start); });
}

// Every prefix of a linearizable history is linearizable, so a binary search finds the first return
// without an explanation. The same holds for the latest start, if the key may hold any value then.
History SmallestWindow(const History& operations) {
  std::vector<Tick> returns;
  for (const Operation& operation : operations) {
    if (EndOf(operation) != kNever) returns.push_back(operation.returned);
  }
  std::sort(returns.begin(), returns.end());
  const auto end = std::partition_point(returns.begin(), returns.end(), [&](Tick cut) {
    return !IsViolation(Before(operations, cut), std::nullopt);
  });
  if (end == returns.end()) return operations;
  const History prefix = Before(operations, *end);
  const auto begin = std::partition_point(
      returns.begin(), end, [&](Tick cut) { return IsViolationFromAnyStart(After(prefix, cut)); });
  return begin == returns.begin() ? prefix : After(prefix, *std::prev(begin));
}

std::string Explain(const std::string& key, const History& operations) {
  const History window = SmallestWindow(operations);
  std::string text = fmt::format("key {}: no order explains these {} of {} operations:\n", key,
                                 window.size(), operations.size());
  const size_t skipped = window.size() - std::min(window.size(), kMaxExplained);
  if (skipped > 0) text += fmt::format("  ({} earlier ones left out)\n", skipped);
  for (size_t i = skipped; i < window.size(); ++i) text += "  " + Describe(window[i]) + "\n";
  return text;
}

Verdict CheckKey(const std::string& key, History operations) {
  std::sort(operations.begin(), operations.end(),
            [](const Operation& a, const Operation& b) { return a.called < b.called; });
  const Answer answer = Search(operations, std::nullopt, kMaxConfigurations).Run();
  if (answer == Answer::kLinearizable) return {};
  if (answer == Answer::kUndecided) {
    return {answer, fmt::format("key {}: undecided after {} configurations of {} operations; "
                                "use more keys or fewer clients",
                                key, kMaxConfigurations, operations.size())};
  }
  return {answer, Explain(key, operations)};
}

std::string_view NameOf(Kind kind) {
  switch (kind) {
    case Kind::kGet:
      return "get";
    case Kind::kPut:
      return "put";
    case Kind::kPutIfAbsent:
      return "put-if-absent";
    case Kind::kPutIfEquals:
      return "put-if-equals";
    case Kind::kIncrement:
      return "increment";
    case Kind::kDelete:
      return "delete";
    case Kind::kDeleteIfEquals:
      return "delete-if-equals";
  }
  return "?";
}

std::string_view NameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kApplied:
      return "applied";
    case Outcome::kNotApplied:
      return "not applied";
    case Outcome::kUnknown:
      return "unknown";
  }
  return "?";
}

}  // namespace

std::string Describe(const Operation& operation) {
  const bool open = operation.outcome == Outcome::kUnknown;
  std::string text =
      fmt::format("client {} [{}, {}] {}", operation.client, operation.called,
                  open ? "open" : std::to_string(operation.returned), NameOf(operation.kind));
  if (operation.kind == Kind::kPutIfEquals || operation.kind == Kind::kDeleteIfEquals) {
    text += fmt::format(" {}", operation.expected);
  }
  const bool has_argument = operation.kind == Kind::kPut || operation.kind == Kind::kPutIfAbsent ||
                            operation.kind == Kind::kPutIfEquals ||
                            operation.kind == Kind::kIncrement;
  if (has_argument) text += fmt::format(" {}", operation.argument);
  text += fmt::format(" -> {}", NameOf(operation.outcome));
  if (operation.seen && !open) {
    text += *operation.seen ? fmt::format(", saw {}", **operation.seen) : ", saw nothing";
  }
  return text;
}

Verdict Check(const History& history) {
  std::map<std::string, History> by_key;
  for (const Operation& operation : history) by_key[operation.key].push_back(operation);
  Verdict undecided;
  for (auto& [key, operations] : by_key) {
    Verdict verdict = CheckKey(key, std::move(operations));
    if (verdict.answer == Answer::kViolation) return verdict;
    if (verdict.answer == Answer::kUndecided) undecided = verdict;
  }
  return undecided;
}

}  // namespace tidemark::testing
