// Tests that transactions of the embedded tables are serializable. Threads append to lists and read
// them in transactions, some runs with a restart or a power cut in the middle. The dependencies
// between transactions must have no cycle.
#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/concurrency/list_checker.h"
#include "tests/support/interrupted_tables.h"
#include "tests/support/long_run.h"
#include "tests/support/threads.h"

namespace tidemark::testing {
namespace {

constexpr const char* kTable = "lists";
constexpr std::array<const char*, 4> kLists = {"w", "x", "y", "z"};
constexpr int kClients = 8;
constexpr int kTransactions = 400;

item::Item KeyOf(const std::string& list) { return {{"id", list}}; }

std::vector<int64_t> ElementsOf(const std::optional<item::Item>& item) {
  std::vector<int64_t> elements;
  if (!item) return elements;
  for (const item::Value& value : *item->Find("elements")->As<item::List>()) {
    elements.push_back(value.As<item::Number>()->Floor().value());
  }
  return elements;
}

tables::UpdateRequest ActionOf(const Append& append) {
  return {.table = kTable,
          .key = KeyOf(append.key),
          .update = "SET elements = list_append(if_not_exists(elements, :none), :new)",
          .values = {{":none", item::List{}},
                     {":new", item::List{item::Number::FromInt(append.element)}}}};
}

tables::ConditionCheck ActionOf(const LengthCheck& check) {
  if (check.length == 0) {
    return {.table = kTable, .key = KeyOf(check.key), .condition = "attribute_not_exists(id)"};
  }
  return {.table = kTable,
          .key = KeyOf(check.key),
          .condition = "size(elements) = :length",
          .values = {{":length", item::Number::FromInt(static_cast<int64_t>(check.length))}}};
}

enum class Reads {
  kAtOnce,
  kOneByOne,  // Wrong on purpose: a test uses it to check the checker.
};

// Each thread has its own client.
class ListClient {
 public:
  ListClient(int number, uint64_t seed, Reads reads)
      : number_(number), reads_(reads), random_(seed * 1'000 + static_cast<uint64_t>(number)) {}

  // Does one transaction. When the store gives an error a write is recorded as unknown, and
  // the error is returned.
  Status Step(tables::Tables& tables, Recorder<Transaction>& recorder) {
    Transaction transaction = Next();
    transaction.called = recorder.Now();
    const bool writes = transaction.reads.empty();
    Status status = writes ? Write(tables, transaction) : Read(tables, transaction);
    if (status.has_value() || writes) recorder.Add(std::move(transaction));
    return status;
  }

 private:
  // A read of some lists, an append to some, or an append to one that depends on another.
  Transaction Next() {
    std::array<std::string, kLists.size()> lists;
    std::copy(kLists.begin(), kLists.end(), lists.begin());
    for (size_t i = 0; i < lists.size(); ++i) std::swap(lists[i], lists[random_.Below(i + 1)]);
    const size_t parts = 1 + random_.Below(lists.size());
    Transaction transaction{.client = number_};
    const uint64_t kind = random_.Below(3);
    if (kind == 2) {
      transaction.checks = {{lists[1], last_length_[lists[1]]}};
      transaction.appends = {{lists[0], NextElement()}};
      return transaction;
    }
    for (size_t i = 0; i < parts; ++i) {
      if (kind == 0) transaction.reads.push_back({lists[i], {}});
      if (kind == 1) transaction.appends.push_back({lists[i], NextElement()});
    }
    return transaction;
  }

  int64_t NextElement() { return number_ * int64_t{100'000} + ++elements_; }

  Status Read(tables::Tables& tables, Transaction& transaction) {
    tables::TransactGetRequest request;
    for (const ListRead& read : transaction.reads) {
      request.gets.push_back({.table = kTable, .key = KeyOf(read.key)});
    }
    tables::TransactGetReply reply;
    if (reads_ == Reads::kOneByOne) {
      for (const tables::GetRequest& get : request.gets) {
        reply.items.push_back(TRY(tables.Get(get)));
        for (int i = 0; i < 20; ++i)
          std::this_thread::yield();  // Lets other threads run in between.
      }
    } else {
      reply = TRY(tables.TransactGet(request));
      if (reply.cancelled) return Error{ErrorCode::kConflict, "a read was cancelled"};
    }
    for (size_t i = 0; i < reply.items.size(); ++i) {
      transaction.reads[i].elements = ElementsOf(reply.items[i]);
      last_length_[transaction.reads[i].key] = transaction.reads[i].elements.size();
    }
    transaction.outcome = Outcome::kApplied;
    return Done{};
  }

  Status Write(tables::Tables& tables, Transaction& transaction) {
    tables::TransactWriteRequest request{.token = random_.Hex(16)};
    for (const Append& append : transaction.appends) request.actions.push_back(ActionOf(append));
    for (const LengthCheck& check : transaction.checks) request.actions.push_back(ActionOf(check));
    const tables::TransactWriteReply reply = TRY(tables.TransactWrite(request));
    const bool applied = reply.outcome == tables::TransactOutcome::kApplied;
    transaction.outcome = applied ? Outcome::kApplied : Outcome::kNotApplied;
    // A client that lost the reply repeats the request with the same token. That must change
    // nothing.
    if (applied && random_.Below(4) == 0) {
      EXPECT_TRUE(TRY(tables.TransactWrite(request)).replayed);
    }
    return Done{};
  }

  const int number_;
  const Reads reads_;
  SeededRandom random_;
  int64_t elements_ = 0;
  std::map<std::string, size_t> last_length_;  // Used in length checks, so that they often hold.
};

// A client stops at the first error, because after a power cut every call fails.
void Work(InterruptedTables& stage, std::deque<ListClient>& clients,
          Recorder<Transaction>& recorder) {
  std::atomic<int> left = kTransactions / 2;
  RunThreads(kClients, [&](int client) {
    while (left.fetch_sub(1) > 0) {
      const Status status = clients[static_cast<size_t>(client)].Step(stage.tables(), recorder);
      if (status.has_value()) continue;
      EXPECT_FALSE(stage.powered()) << status.error().message;
      return;
    }
  });
}

Transaction ReadEverything(tables::Tables& tables, Recorder<Transaction>& recorder) {
  Transaction last{.client = kClients, .called = recorder.Now(), .outcome = Outcome::kApplied};
  for (const char* list : kLists) {
    auto item = tables.Get({.table = kTable, .key = KeyOf(list)});
    CHECK(item.has_value());
    last.reads.push_back({list, ElementsOf(*item)});
  }
  return last;
}

std::vector<Transaction> RunHistory(uint64_t seed, Reads reads) {
  static constexpr std::array kInterruptions = {Interruption::kNone, Interruption::kRestart,
                                                Interruption::kPowerCut};
  const Interruption interruption = kInterruptions[seed % kInterruptions.size()];
  InterruptedTables stage({.seed = seed,
                           .durability = interruption == Interruption::kPowerCut
                                             ? embedded::Durability::kSynced
                                             : embedded::Durability::kEverySecond,
                           .interruption = interruption,
                           .table = {.table = kTable, .keys = {.partition = {.name = "id"}}}});
  std::deque<ListClient> clients;  // A deque, so that clients keep their addresses.
  for (int i = 0; i < kClients; ++i) clients.emplace_back(i, seed, reads);
  Recorder<Transaction> recorder;
  Work(stage, clients, recorder);
  stage.Interrupt();
  Work(stage, clients, recorder);
  recorder.Add(ReadEverything(stage.tables(), recorder));
  return recorder.Take();
}

TEST(EmbeddedListsTest, TransactionsAreSerializable) {
  const int histories = AmountOf({.usual = 50, .release = 2'000, .debug = 8});
  std::map<Outcome, size_t> outcomes;
  for (int seed = 1; seed <= histories; ++seed) {
    const auto transactions = RunHistory(static_cast<uint64_t>(seed), Reads::kAtOnce);
    const ListVerdict verdict = CheckLists(transactions);
    ASSERT_TRUE(verdict.serializable) << "seed " << seed << ": " << verdict.explanation;
    for (const Transaction& transaction : transactions) {
      ++outcomes[transaction.outcome];
    }
  }
  fmt::print("seeds 1 to {}: {} applied, {} not applied, {} unknown\n", histories,
             outcomes[Outcome::kApplied], outcomes[Outcome::kNotApplied],
             outcomes[Outcome::kUnknown]);
  EXPECT_GT(outcomes[Outcome::kNotApplied], 0u);
  EXPECT_GT(outcomes[Outcome::kUnknown], 0u);
}

// The same run with reads that are not transactions. The checker must find their skew. This shows
// that the threads really overlap and that a cycle would be found.
TEST(EmbeddedListsTest, ReadsOneByOneAreFound) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    if (CheckLists(RunHistory(seed, Reads::kOneByOne)).serializable) continue;
    fmt::print("found with seed {}\n", seed);
    return;
  }
  FAIL() << "no cycle in 20 histories";
}

}  // namespace
}  // namespace tidemark::testing
