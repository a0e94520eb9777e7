#include "tests/crash/ledger.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace tidemark::crash {
namespace {

using item::Item;
using item::Number;

// A short text that identifies a thing in a report.
std::string Show(const std::optional<Item>& thing) {
  if (!thing) return "nothing";
  const auto text = [&](const char* name) {
    const item::Value* value = thing->Find(name);
    const Number* number = value == nullptr ? nullptr : value->As<Number>();
    return number == nullptr ? std::string("none") : number->ToString();
  };
  return fmt::format("op {} n {}", text("op"), text("n"));
}

std::string Show(const Change& change) {
  return fmt::format("{}: {} -> {}", change.id, Show(change.before), Show(change.after));
}

bool IsIn(const Item& thing) { return thing.Contains("group") && thing.Contains("n"); }

tables::ChangeKind KindOf(const Change& change) {
  if (!change.before) return tables::ChangeKind::kInsert;
  return change.after ? tables::ChangeKind::kModify : tables::ChangeKind::kRemove;
}

Item CounterAt(uint64_t count) {
  return {{"id", kCounter}, {"n", Number::FromInt(static_cast<int64_t>(count))}};
}

void Compare(const Things& expected, const Things& found, const char* where,
             std::vector<std::string>* problems) {
  for (const auto& [id, thing] : expected) {
    const auto it = found.find(id);
    const auto there = it == found.end() ? std::nullopt : std::optional<Item>(it->second);
    if (there == thing) continue;
    problems->push_back(
        fmt::format("{}: {} is {} and must be {}", where, id, Show(there), Show(thing)));
  }
  for (const auto& [id, thing] : found) {
    if (!expected.contains(id)) {
      problems->push_back(fmt::format("{}: {} is {} and must be absent", where, id, Show(thing)));
    }
  }
}

}  // namespace

Ledger::Ledger(uint64_t seed, uint32_t writers) : seed_(seed), writers_(writers) {}

uint64_t Ledger::next(uint32_t writer) const {
  return writers_[writer].base + writers_[writer].outcomes.size();
}

void Ledger::Acknowledge(uint32_t writer, Outcome outcome) {
  writers_[writer].outcomes.push_back(outcome);
  ++acknowledged_;
}

void Ledger::Take(const Ledger& other, uint32_t writer) {
  acknowledged_ += other.next(writer) - next(writer);
  writers_[writer] = other.writers_[writer];
}

std::vector<std::string> Ledger::Check(embedded::EmbeddedTables& tables) {
  std::vector<Bounds> bounds;
  for (uint32_t i = 0; i < writers(); ++i) bounds.push_back({next(i), next(i) + 1});
  Ledger after = *this;
  after.CheckAll(tables, bounds);
  std::vector<std::string> problems = std::move(after.problems_);
  if (!problems.empty()) return problems;
  after.problems_.clear();
  *this = std::move(after);
  return {};
}

std::vector<std::string> Ledger::CheckCopy(embedded::EmbeddedTables& copy,
                                           const Ledger& earlier) const {
  std::vector<Bounds> bounds;
  for (uint32_t i = 0; i < writers(); ++i) bounds.push_back({earlier.next(i), next(i) + 1});
  Ledger after = *this;
  after.CheckAll(copy, bounds);
  return after.problems_;
}

void Ledger::CheckAll(embedded::EmbeddedTables& tables, const std::vector<Bounds>& bounds) {
  const auto records = ReadStream(tables, last_sequence_);
  if (!records) return Problem("the stream cannot be read: " + records.error().message);
  CheckStream(*records, bounds);
  CheckContents(tables);
  CheckRows(tables);
}

void Ledger::CheckStream(const std::vector<tables::StreamRecord>& records,
                         const std::vector<Bounds>& bounds) {
  std::vector<Changes> changes(writers());
  Changes counted;
  for (const tables::StreamRecord& record : records) {
    std::optional<Change> change = ChangeIn(record);
    if (!change) continue;
    const std::optional<uint32_t> owner = OwnerOf(change->id);
    (owner ? changes.at(*owner) : counted).push_back(std::move(*change));
  }
  CheckCounter(bounds, counted);
  for (uint32_t i = 0; i < writers(); ++i) CheckWriter(i, bounds[i], changes[i]);
}

std::optional<Change> Ledger::ChangeIn(const tables::StreamRecord& record) {
  if (record.sequence <= last_sequence_) {
    Problem(fmt::format("stream: {} follows {}", record.sequence, last_sequence_));
  }
  last_sequence_ = record.sequence;
  const item::Value* id = record.keys.Find("id");
  if (id == nullptr || id->As<item::String>() == nullptr) {
    Problem("stream: a record without a key");
    return std::nullopt;
  }
  Change change{*id->As<item::String>(), record.old_image, record.new_image};
  if (record.kind != KindOf(change)) Problem("stream: of another kind: " + Show(change));
  return change;
}

// Goes through the writer's operations that must be present or that explain a change.
void Ledger::CheckWriter(uint32_t writer, const Bounds& bounds, const Changes& changes) {
  size_t explained = 0;
  uint64_t number = writers_[writer].base;
  while (number < bounds.at_most && (number < bounds.at_least || explained < changes.size())) {
    const Operation operation = OperationOf(seed_, writer, number);
    if (!Counts(operation) && !CheckOperation(writer, operation, changes, &explained)) return;
    ++number;
  }
  if (explained < changes.size()) {
    Problem(fmt::format("writer {}: after operation {} the stream has {} more changes, first {}",
                        writer, number, changes.size() - explained, Show(changes[explained])));
  }
  writers_[writer] = {.base = number, .outcomes = {}};
}

bool Ledger::CheckOperation(uint32_t writer, const Operation& operation, const Changes& changes,
                            size_t* explained) {
  const auto expected = ChangesOf(operation, things_);
  const Writer& state = writers_[writer];
  const uint64_t place = operation.number - state.base;
  if (place < state.outcomes.size() && state.outcomes[place].applied != expected.has_value()) {
    Problem(fmt::format("writer {}: operation {} was answered wrongly", writer, operation.number));
  }
  for (const Change& change : expected.value_or(Changes())) {
    if (*explained == changes.size()) {
      Problem(fmt::format("writer {}: operation {}, with {} acknowledged, is not there: {}", writer,
                          operation.number, next(writer), Show(change)));
      return false;
    }
    if (changes[*explained] != change) {
      Problem(fmt::format("writer {}: operation {} must be {} and the stream has {}", writer,
                          operation.number, Show(change), Show(changes[*explained])));
      return false;
    }
    ++*explained;
  }
  if (expected) Apply(*expected, &things_);
  return true;
}

void Ledger::CheckCounter(const std::vector<Bounds>& bounds, const Changes& changes) {
  const uint64_t before = counter_;
  for (const Change& change : changes) {
    const auto old = counter_ == 0 ? std::nullopt : std::optional<Item>(CounterAt(counter_));
    if (change != Change{kCounter, old, CounterAt(++counter_)}) {
      Problem(fmt::format("counter: the stream has {} for {}", Show(change), counter_));
    }
  }
  uint64_t asked = 0;
  std::set<uint64_t> answered;
  for (uint32_t writer = 0; writer < writers(); ++writer) {
    const Writer& state = writers_[writer];
    for (uint64_t number = state.base; number < bounds[writer].at_most; ++number) {
      if (!Counts(OperationOf(seed_, writer, number))) continue;
      ++asked;
      if (number >= bounds[writer].at_least) continue;
      const uint64_t count = state.outcomes[number - state.base].count;
      if (count <= before || count > counter_ || !answered.insert(count).second) {
        Problem(fmt::format("counter: {} was answered and it went from {} to {}", count, before,
                            counter_));
      }
    }
  }
  if (counter_ - before > asked) Problem("counter: raised more often than asked for");
  if (counter_ > 0) things_.insert_or_assign(kCounter, CounterAt(counter_));
}

void Ledger::CheckContents(embedded::EmbeddedTables& tables) {
  const Result<Things> found = ReadThings(tables);
  if (!found) return Problem("the table cannot be read: " + found.error().message);
  Compare(things_, *found, "table", &problems_);
  const Result<Things> indexed = ReadIndex(tables);
  if (!indexed) return Problem("the index cannot be read: " + indexed.error().message);
  Things expected = things_;
  std::erase_if(expected, [](const auto& entry) { return !IsIn(entry.second); });
  Compare(expected, *indexed, "index", &problems_);
}

void Ledger::CheckRows(embedded::EmbeddedTables& tables) {
  const Result<embedded::VerifyReport> report = tables.Verify();
  if (!report) return Problem("it cannot be verified: " + report.error().message);
  for (const std::string& problem : report->problems) Problem("verify: " + problem);
}

}  // namespace tidemark::crash
