// A client that does random operations on a few keys of a table and records what it saw, for
// the linearizability checker. It works on any implementation of Tables.
//
//   Recorder<Operation> recorder;
//   TableClient client({.number = 3, .seed = seed}, &recorder);
//   TRY(client.Step(tables));
//
// Gets and writes take every road that leads to an item (alone, in a batch, in a transaction,
// as a query), because all of them are promised to agree. What it does follows from its seed
// and from the replies. Not for use by two threads at once; one client a thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "tables/tables.h"
#include "tests/linearizability/history.h"

namespace tidemark::testing {

enum class Increments {
  kAtomic,
  kReadThenWrite,  // Wrong on purpose: what a test does to see that the checker notices.
};

struct ClientOptions {
  int number = 0;
  uint64_t seed = 0;
  Increments increments = Increments::kAtomic;
};

class TableClient {
 public:
  // The table that clients work on.
  static tables::CreateTableRequest Table();

  TableClient(ClientOptions options, Recorder<Operation>* recorder);

  // Does one operation. When the store gives an error the operation is recorded as unknown,
  // or not at all when the error promises that nothing was done, and the error is returned.
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
  std::map<std::string, int64_t> last_seen_;  // Conditions name it, so that they often hold.
};

}  // namespace tidemark::testing
