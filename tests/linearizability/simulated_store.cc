#include "tests/linearizability/simulated_store.h"

#include <array>
#include <map>

#include "base/random.h"

namespace tidemark::testing {
namespace {

constexpr int kClients = 5;
constexpr int kOperations = 120;
constexpr std::array<const char*, 2> kKeys = {"a", "b"};

std::string OtherKey(const std::string& key) { return key == kKeys[0] ? kKeys[1] : kKeys[0]; }

bool IsConditional(Kind kind) {
  return kind == Kind::kPutIfAbsent || kind == Kind::kPutIfEquals || kind == Kind::kDeleteIfEquals;
}

bool IsDelete(Kind kind) { return kind == Kind::kDelete || kind == Kind::kDeleteIfEquals; }

struct Cell {
  Value value;
  Value previous;      // Before the last change.
  Value last_present;  // The last value that was not "nothing".
  std::optional<Value> cached;
  Value replica;
  Tick youngest_call = 0;
};

// An operation calls Prepare and then Commit. Other operations may run in between. A correct store
// does everything in Commit.
class Store {
 public:
  Store(Bug bug, Random& random) : bug_(bug), random_(random) {}

  struct Ticket {
    Value at_prepare;
    bool done_at_prepare = false;
  };

  Ticket Prepare(Operation& operation) {
    Cell& cell = cells_[operation.key];
    Ticket ticket{.at_prepare = cell.value};
    if (bug_ == Bug::kDirtyRead && operation.kind == Kind::kPutIfEquals)
      cell.value = operation.argument;
    if (bug_ == Bug::kDeletesTwice && operation.kind == Kind::kDelete) cell.value = std::nullopt;
    if (bug_ == Bug::kSeenThenLost && operation.kind != Kind::kGet) {
      Execute(operation, ticket);
      ticket.done_at_prepare = true;
    }
    return ticket;
  }

  void Commit(Operation& operation, const Ticket& ticket) {
    if (!later_.empty() && Sometimes()) DoOneLater();
    if (!ticket.done_at_prepare) Execute(operation, ticket);
  }

  // Running operations are ended with Abandon before this.
  void Restart() {
    for (auto& [key, cell] : cells_) {
      if (bug_ == Bug::kRestartForgetsDeletes && !cell.value) cell.value = cell.last_present;
    }
    if (last_changed_.empty()) return;
    Cell& cell = cells_[last_changed_];
    if (bug_ == Bug::kRestartLosesLast) cell.value = cell.previous;
    if (bug_ == Bug::kRestartReplaysLast && last_was_increment_) cell.value = *cell.value + 1;
  }

  // The store stops after Prepare. The operation may still be applied.
  void Abandon(Operation& operation, const Ticket& ticket) {
    Cell& cell = cells_[operation.key];
    if (bug_ == Bug::kSeenThenLost && ticket.done_at_prepare) {
      cell.value = ticket.at_prepare;
    } else if (bug_ == Bug::kDirtyRead && cell.value == operation.argument) {
      cell.value = ticket.at_prepare;
    } else if (random_.Below(2) == 0) {
      Commit(operation, ticket);
      if (bug_ == Bug::kUnknownHappensTwice) Later(operation.key, operation.kind, cell.value);
    }
  }

 private:
  struct Change {
    std::string key;
    Kind kind;
    Value value;
  };

  bool Sometimes() { return random_.Below(3) == 0; }
  bool Has(Bug bug) { return bug_ == bug && Sometimes(); }

  void Execute(Operation& operation, const Ticket& ticket) {
    Cell& cell = cells_[operation.key];
    if (bug_ == Bug::kDirtyRead && operation.kind == Kind::kPutIfEquals &&
        cell.value == operation.argument) {
      cell.value = ticket.at_prepare;
    }
    Evaluation evaluation = Evaluate(operation, Basis(operation, ticket));
    Distort(evaluation, cell);
    operation = evaluation.answered;
    const bool writes = evaluation.next != cell.value && operation.kind != Kind::kGet;
    const bool applied =
        operation.outcome == Outcome::kApplied || bug_ == Bug::kAppliedButReportedFailed;
    if (writes && applied) Write(operation, evaluation.next);
  }

  // The value that the operation is evaluated against.
  Value Basis(const Operation& operation, const Ticket& ticket) {
    Cell& cell = cells_[operation.key];
    const bool get = operation.kind == Kind::kGet;
    const bool increment = operation.kind == Kind::kIncrement;
    if (bug_ == Bug::kLostUpdate && increment) return ticket.at_prepare;
    if (bug_ == Bug::kStaleCondition && IsConditional(operation.kind)) return ticket.at_prepare;
    if (get && Has(Bug::kStaleRead)) return cell.previous;
    if (get && Has(Bug::kReadsAnotherKey)) return cells_[OtherKey(operation.key)].value;
    if (get && bug_ == Bug::kLaggingReplica && operation.client % 2 == 1) return cell.replica;
    if (get && bug_ == Bug::kCacheMissesDelete && cell.cached) return *cell.cached;
    if (get && bug_ == Bug::kCacheFilledLate) {
      if (!cell.cached) cell.cached = ticket.at_prepare;
      return *cell.cached;
    }
    if (increment && bug_ == Bug::kIncrementIgnoresDelete && !cell.value) return cell.last_present;
    return cell.value;
  }

  void Distort(Evaluation& evaluation, const Cell& cell) {
    Operation& operation = evaluation.answered;
    const bool applied = operation.outcome == Outcome::kApplied;
    const bool conditional = IsConditional(operation.kind);
    if (conditional && applied && Has(Bug::kAppliedButReportedFailed)) {
      operation.outcome = Outcome::kNotApplied;
      operation.seen.reset();
    }
    if (conditional && !applied && Has(Bug::kFailedButReportedApplied)) {
      operation.outcome = Outcome::kApplied;
      operation.seen.reset();
    }
    if (conditional && applied && Has(Bug::kSpuriousFailure)) {
      operation.outcome = Outcome::kNotApplied;
      operation.seen.reset();
    }
    if (operation.kind == Kind::kIncrement && Has(Bug::kIncrementReturnsOldValue)) {
      operation.seen = operation.seen->value() - operation.argument;
    }
    if (!applied && Has(Bug::kFailureShowsOldValue)) operation.seen = cell.previous;
    if (conditional && !applied && Has(Bug::kConditionIgnored)) {
      operation.outcome = Outcome::kApplied;
      evaluation.next = IsDelete(operation.kind) ? Value() : operation.argument;
    }
  }

  void Write(const Operation& operation, const Value& next) {
    const bool put = operation.kind == Kind::kPut;
    Cell& cell = cells_[operation.key];
    const bool overtaken = operation.called < cell.youngest_call;
    cell.youngest_call = std::max(cell.youngest_call, operation.called);
    if (put && Has(Bug::kReportedAppliedButLost)) return;
    if (IsDelete(operation.kind) && Has(Bug::kDeleteIgnored)) return;
    if (put && bug_ == Bug::kOlderCallLoses && overtaken) return;
    if (Has(Bug::kAcknowledgedBeforeApplied)) return Later(operation.key, operation.kind, next);
    if (IsDelete(operation.kind) && Has(Bug::kResurrectedDelete)) {
      Later(operation.key, operation.kind, cell.value);
    }
    if (put && Has(Bug::kDeliveredTwice)) Later(operation.key, operation.kind, next);
    const bool astray = put && Has(Bug::kWritesAnotherKey);
    const bool twice = operation.kind == Kind::kIncrement && Has(Bug::kDoubleIncrement);
    Make({.key = astray ? OtherKey(operation.key) : operation.key,
          .kind = operation.kind,
          .value = twice ? *next + operation.argument : next});
  }

  void Make(const Change& change) {
    Cell& cell = cells_[change.key];
    cell.previous = cell.value;
    cell.value = change.value;
    if (change.value) cell.last_present = change.value;
    if (bug_ == Bug::kCacheMissesDelete && change.value) cell.cached = change.value;
    if (bug_ == Bug::kCacheFilledLate) cell.cached.reset();
    if (++changes_ % 8 == 0) cell.replica = change.value;
    last_changed_ = change.key;
    last_was_increment_ = change.kind == Kind::kIncrement;
  }

  void Later(const std::string& key, Kind kind, const Value& value) {
    later_.push_back({key, kind, value});
  }

  void DoOneLater() {
    Change change = later_.back();
    later_.pop_back();
    const Value& value = cells_[change.key].value;
    // A repeated increment adds to what is there; everything else repeats its value.
    if (bug_ == Bug::kUnknownHappensTwice && change.kind == Kind::kIncrement) {
      change.value = value.value_or(0) + 1;
    }
    Make(change);
  }

  const Bug bug_;
  Random& random_;
  std::map<std::string, Cell> cells_;
  std::vector<Change> later_;
  std::string last_changed_;
  bool last_was_increment_ = false;
  int changes_ = 0;
};

// Clients that each do one operation after the other, advanced one step at a time in the
// order the seed gives.
class Simulation {
 public:
  Simulation(Bug bug, uint64_t seed) : random_(seed), store_(bug, random_) {}

  History Run() {
    while (started_ < kOperations) {
      if (random_.Below(100) == 0) Restart();
      Advance(static_cast<int>(random_.Below(kClients)));
    }
    for (int client = 0; client < kClients; ++client) {
      while (clients_[client].stage != Stage::kIdle) Advance(client);
    }
    return recorder_.Take();
  }

 private:
  enum class Stage { kIdle, kCalled, kPrepared, kCommitted };
  struct Client {
    Stage stage = Stage::kIdle;
    Operation operation;
    Store::Ticket ticket;
    std::map<std::string, int64_t> last_seen;
  };

  void Advance(int index) {
    Client& client = clients_[index];
    switch (client.stage) {
      case Stage::kIdle:
        client.operation = NextOperation(index);
        client.operation.called = recorder_.Now();
        ++started_;
        client.stage = Stage::kCalled;
        return;
      case Stage::kCalled:
        client.ticket = store_.Prepare(client.operation);
        client.stage = Stage::kPrepared;
        return;
      case Stage::kPrepared:
        store_.Commit(client.operation, client.ticket);
        client.stage = Stage::kCommitted;
        return;
      case Stage::kCommitted:
        Return(client);
        return;
    }
  }

  void Return(Client& client) {
    Operation& operation = client.operation;
    if (operation.seen && *operation.seen) client.last_seen[operation.key] = **operation.seen;
    // Real clients do not always ask for the value, so the checker must work without it.
    if (operation.kind != Kind::kGet && random_.Below(4) == 0) operation.seen.reset();
    recorder_.Add(operation);
    client.stage = Stage::kIdle;
  }

  void Restart() {
    for (Client& client : clients_) {
      if (client.stage == Stage::kIdle) continue;
      if (client.stage == Stage::kPrepared) store_.Abandon(client.operation, client.ticket);
      client.operation.outcome = Outcome::kUnknown;
      client.operation.seen.reset();
      recorder_.Add(client.operation);
      client.stage = Stage::kIdle;
    }
    store_.Restart();
  }

  Operation NextOperation(int index) {
    static constexpr std::array kKinds = {
        Kind::kGet,         Kind::kGet,           Kind::kGet,       Kind::kPut,
        Kind::kPutIfAbsent, Kind::kPutIfEquals,   Kind::kIncrement, Kind::kIncrement,
        Kind::kDelete,      Kind::kDeleteIfEquals};
    Operation operation{.client = index,
                        .key = kKeys[random_.Below(kKeys.size())],
                        .kind = kKinds[random_.Below(kKinds.size())]};
    // The values are far apart, so that a value shows which put it comes from.
    operation.argument = operation.kind == Kind::kIncrement ? 1 : 1000 * ++puts_;
    operation.expected = clients_[index].last_seen[operation.key];
    return operation;
  }

  SeededRandom random_;
  Store store_;
  Recorder<Operation> recorder_;
  std::array<Client, kClients> clients_;
  int started_ = 0;
  int puts_ = 0;
};

}  // namespace

Evaluation Evaluate(Operation operation, const Value& value) {
  bool holds = true;
  if (operation.kind == Kind::kPutIfAbsent) holds = !value.has_value();
  if (operation.kind == Kind::kPutIfEquals) holds = value == operation.expected;
  if (operation.kind == Kind::kDeleteIfEquals) holds = value == operation.expected;
  Value next = operation.argument;
  if (operation.kind == Kind::kIncrement) next = value.value_or(0) + operation.argument;
  if (IsDelete(operation.kind)) next = std::nullopt;
  if (operation.kind == Kind::kGet || !holds) next = value;
  operation.outcome = holds ? Outcome::kApplied : Outcome::kNotApplied;
  operation.seen = operation.kind == Kind::kIncrement ? next : value;
  return {next, std::move(operation)};
}

std::vector<Bug> AllBugs() {
  std::vector<Bug> bugs;
  for (int i = 1; i <= static_cast<int>(Bug::kUnknownHappensTwice); ++i) {
    bugs.push_back(static_cast<Bug>(i));
  }
  return bugs;
}

std::string_view NameOf(Bug bug) {
  static constexpr std::array<std::string_view, 30> kNames = {"none",
                                                              "lost update",
                                                              "stale condition",
                                                              "stale read",
                                                              "reads another key",
                                                              "lagging replica",
                                                              "cache misses delete",
                                                              "cache filled late",
                                                              "increment ignores delete",
                                                              "applied but reported failed",
                                                              "failed but reported applied",
                                                              "spurious failure",
                                                              "increment returns old value",
                                                              "failure shows old value",
                                                              "condition ignored",
                                                              "reported applied but lost",
                                                              "double increment",
                                                              "delete ignored",
                                                              "writes another key",
                                                              "acknowledged before applied",
                                                              "resurrected delete",
                                                              "delivered twice",
                                                              "older call loses",
                                                              "dirty read",
                                                              "seen then lost",
                                                              "deletes twice",
                                                              "restart loses last",
                                                              "restart replays last",
                                                              "restart forgets deletes",
                                                              "unknown happens twice"};
  return kNames.at(static_cast<size_t>(bug));
}

History Simulate(Bug bug, uint64_t seed) { return Simulation(bug, seed).Run(); }

}  // namespace tidemark::testing
