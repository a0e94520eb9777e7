// A client that does random operations on a few keys of a table and records what it saw, for
// the linearizability checker. It works on any implementation of Tables.
//
//   Recorder<Operation> recorder;
//   TableClient client({.number = 3, .seed = seed}, &recorder);
//   TRY(client.Step(tables));
//
// Reads and writes use every operation that can reach an item (alone, in a batch, in a transaction,
// as a query), because all of them must agree. The seed and the replies decide what it does. Each
// thread has its own client.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "tables/tables.h"
#include "tests/linearizability/history.h"

namespace tidemark::testing {

enum class Increments {
  kAtomic,
  kReadThenWrite,  // Wrong on purpose: a test uses it to check the checker.
};

struct ClientOptions {
  int number = 0;
  uint64_t seed = 0;
  Increments increments = Increments::kAtomic;
  // Called after an operation has begun and before it reaches the store, so that a test can delay
  // it until others have begun too. With kReadThenWrite it is called once more, between the read
  // and the write.
  std::function<void()> meet = [] {};
};

class TableClient {
 public:
  // The table that clients work on.
  static tables::CreateTableRequest Table();

  TableClient(ClientOptions options, Recorder<Operation>* recorder);

  // Does one operation. After an error the operation is recorded as unknown, or not at all when the
  // error says that nothing was done. The error is returned.
  Status Step(tables::Tables& tables);

 private:
  struct Answer {
    Outcome outcome = Outcome::kApplied;
    std::optional<Value> seen;
  };

  Operation Next();
  Result<Answer> Do(tables::Tables& tables, const Operation& operation);
  Result<Answer> Get(tables::Tables& tables, const Operation& operation);
  Result<Answer> Write(tables::Tables& tables, const Operation& operation);
  Result<Answer> WriteAlone(tables::Tables& tables, tables::TransactAction action);
  Result<Answer> WriteInBatch(tables::Tables& tables, const Operation& operation);
  Result<Answer> WriteInTransaction(tables::Tables& tables, tables::TransactAction action);
  Result<Answer> IncrementInTwoSteps(tables::Tables& tables, const Operation& operation);

  const ClientOptions options_;
  Recorder<Operation>* recorder_;
  SeededRandom random_;
  int64_t puts_ = 0;
  std::map<std::string, int64_t> last_seen_;  // Used in conditions, so that they often hold.
};

}  // namespace tidemark::testing
