#include "tests/concurrency/simulated_lists.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/random.h"

namespace tidemark::testing {
namespace {

constexpr int kClients = 5;
constexpr int kTransactions = 80;
constexpr std::array<const char*, 3> kLists = {"x", "y", "z"};

using Lists = std::map<std::string, std::vector<int64_t>>;

// Fills in the reads. Each list that the transaction reads already has an entry.
void ReadAll(Transaction& transaction, Lists& lists) {
  for (ListRead& read : transaction.reads) read.elements = lists[read.key];
}

bool ChecksHold(const Transaction& transaction, Lists& lists) {
  return std::all_of(
      transaction.checks.begin(), transaction.checks.end(),
      [&](const LengthCheck& check) { return lists[check.key].size() == check.length; });
}

// A transaction calls Prepare and then Commit. Others may run in between. A correct store does
// everything in Commit.
class ListStore {
 public:
  ListStore(ListBug bug, Random& random) : bug_(bug), random_(random) {}

  struct Ticket {
    Lists at_prepare;
    bool checks_held_at_prepare = false;
  };

  Ticket Prepare(Transaction& transaction) {
    Ticket ticket{lists_, ChecksHold(transaction, lists_)};
    if (bug_ == ListBug::kTornWrite && transaction.checks.empty()) AppendFirst(transaction);
    if (bug_ == ListBug::kOldSnapshot && random_.Below(10) == 0) old_ = lists_;
    return ticket;
  }

  void Commit(Transaction& transaction, Ticket& ticket) {
    const bool hold = bug_ == ListBug::kStaleCheck ? ticket.checks_held_at_prepare
                                                   : ChecksHold(transaction, lists_);
    transaction.outcome = hold ? Outcome::kApplied : Outcome::kNotApplied;
    if (hold || Has(ListBug::kAbortedIsVisible)) Write(transaction, ticket);
    if (hold) Read(transaction, ticket);
  }

  void Abandon(Transaction& transaction, Ticket& ticket) {
    const bool first_done = bug_ == ListBug::kTornWrite && transaction.checks.empty();
    if (bug_ == ListBug::kRestartTears && transaction.checks.empty()) {
      AppendFirst(transaction);
    } else if (first_done || random_.Below(2) == 0) {
      Commit(transaction, ticket);
    }
  }

 private:
  bool Has(ListBug bug) { return bug_ == bug && random_.Below(3) == 0; }

  void AppendFirst(const Transaction& transaction) {
    if (transaction.appends.empty()) return;
    lists_[transaction.appends[0].key].push_back(transaction.appends[0].element);
  }

  void Write(const Transaction& transaction, Ticket& ticket) {
    if (Has(ListBug::kWholeLost)) return;
    for (size_t i = 0; i < transaction.appends.size(); ++i) {
      const auto& [key, element] = transaction.appends[i];
      if (i == 0 && bug_ == ListBug::kTornWrite && transaction.checks.empty()) continue;
      if (i == 0 && Has(ListBug::kPartLost)) continue;
      if (bug_ == ListBug::kStaleAppend) lists_[key] = ticket.at_prepare[key];
      lists_[key].push_back(element);
      if (Has(ListBug::kAppendedTwice)) lists_[key].push_back(element);
    }
  }

  void Read(Transaction& transaction, Ticket& ticket) {
    ReadAll(transaction, Has(ListBug::kOldSnapshot) ? old_ : lists_);
    if (transaction.reads.empty()) return;
    ListRead& first = transaction.reads[0];
    if (bug_ == ListBug::kTornRead) first.elements = ticket.at_prepare[first.key];
    const size_t size = first.elements.size();
    if (size >= 2 && transaction.client % 2 == 1 && Has(ListBug::kReplicasDisagree)) {
      std::swap(first.elements[size - 1], first.elements[size - 2]);
    }
  }

  const ListBug bug_;
  Random& random_;
  Lists lists_;
  Lists old_;
};

class Simulation {
 public:
  Simulation(ListBug bug, uint64_t seed) : random_(seed), store_(bug, random_) {}

  std::vector<Transaction> Run() {
    while (started_ < kTransactions) {
      if (random_.Below(100) == 0) Restart();
      Advance(static_cast<int>(random_.Below(kClients)));
    }
    for (int client = 0; client < kClients; ++client) {
      while (clients_[client].stage != Stage::kIdle) Advance(client);
    }
    Client& last = clients_[0];
    last.transaction = {.reads = {{"x", {}}, {"y", {}}, {"z", {}}}, .called = recorder_.Now()};
    last.stage = Stage::kCalled;
    while (last.stage != Stage::kIdle) Advance(0);
    return recorder_.Take();
  }

 private:
  enum class Stage { kIdle, kCalled, kPrepared, kCommitted };
  struct Client {
    Stage stage = Stage::kIdle;
    Transaction transaction;
    ListStore::Ticket ticket;
    std::map<std::string, size_t> last_length;
  };

  void Advance(int index) {
    Client& client = clients_[index];
    switch (client.stage) {
      case Stage::kIdle:
        client.transaction = NextTransaction(index);
        client.transaction.called = recorder_.Now();
        ++started_;
        client.stage = Stage::kCalled;
        return;
      case Stage::kCalled:
        client.ticket = store_.Prepare(client.transaction);
        client.stage = Stage::kPrepared;
        return;
      case Stage::kPrepared:
        store_.Commit(client.transaction, client.ticket);
        client.stage = Stage::kCommitted;
        return;
      case Stage::kCommitted:
        Return(client);
        return;
    }
  }

  void Return(Client& client) {
    for (const ListRead& read : client.transaction.reads) {
      // Other clients may use this length in their checks, so that conditions often hold.
      for (Client& other : clients_) other.last_length[read.key] = read.elements.size();
    }
    recorder_.Add(client.transaction);
    client.stage = Stage::kIdle;
  }

  void Restart() {
    for (Client& client : clients_) {
      if (client.stage == Stage::kIdle) continue;
      if (client.stage == Stage::kPrepared) store_.Abandon(client.transaction, client.ticket);
      client.transaction.outcome = Outcome::kUnknown;
      client.transaction.reads.clear();
      recorder_.Add(client.transaction);
      client.stage = Stage::kIdle;
    }
  }

  // A read of two lists, an append to two, or an append to one that depends on another.
  Transaction NextTransaction(int index) {
    const size_t first = random_.Below(kLists.size());
    const std::string one = kLists[first];
    const std::string two = kLists[(first + 1 + random_.Below(2)) % kLists.size()];
    Transaction transaction{.client = index};
    switch (random_.Below(3)) {
      case 0:
        transaction.reads = {{one, {}}, {two, {}}};
        break;
      case 1:
        transaction.appends = {{one, ++elements_}, {two, ++elements_}};
        break;
      default:
        transaction.appends = {{one, ++elements_}};
        transaction.checks = {{two, clients_[index].last_length[two]}};
    }
    return transaction;
  }

  SeededRandom random_;
  ListStore store_;
  Recorder<Transaction> recorder_;
  std::array<Client, kClients> clients_;
  int started_ = 0;
  int64_t elements_ = 0;
};

}  // namespace

std::vector<ListBug> AllListBugs() {
  std::vector<ListBug> bugs;
  for (int i = 1; i <= static_cast<int>(ListBug::kRestartTears); ++i) {
    bugs.push_back(static_cast<ListBug>(i));
  }
  return bugs;
}

std::string_view NameOf(ListBug bug) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "none",        "torn write",     "torn read",          "stale append",
      "stale check", "old snapshot",   "aborted is visible", "part lost",
      "whole lost",  "appended twice", "replicas disagree",  "restart tears"};
  return kNames.at(static_cast<size_t>(bug));
}

std::vector<Transaction> SimulateLists(ListBug bug, uint64_t seed) {
  return Simulation(bug, seed).Run();
}

}  // namespace tidemark::testing
