// Random operations on a few small tables: the same seed gives the same operations. Keys come from
// small ranges, so that operations use the same items. Some operations are invalid on purpose.
//
//   Operations operations(seed, clock);
//   Operation operation = operations.Next();
//   if (operation.run(left) != operation.run(right)) ...  // operation.text says what it was
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "tables/tables.h"

namespace tidemark::model {

// One of the implementations that are compared.
struct Side {
  tables::Tables* tables = nullptr;
  std::function<void()> maintain;
  // The position in each table's stream.
  std::map<std::string, std::string> iterators = {};
};

struct Operation {
  std::string text;
  std::function<std::string(Side&)> run;  // Its reply, as text that can be compared.
};

// Makes the tables that the operations work on.
void CreateTables(tables::Tables& tables);

class Operations {
 public:
  // Deadlines are made relative to the clock, which must outlive this.
  Operations(uint64_t seed, const Clock& clock);

  Operation Next();
  // Compares everything there is: descriptions, items, index rows and streams.
  static Operation Everything();
  // Uniform in [0, bound), from the same sequence.
  uint64_t Below(uint64_t bound) { return random_.Below(bound); }

 private:
  struct Weighted {
    uint64_t weight;
    Operation (Operations::*make)();
  };

  bool Chance(uint64_t percent) { return Below(100) < percent; }
  template <typename T>
  const T& OneOf(const std::vector<T>& choices) {
    return choices[Below(choices.size())];
  }

  std::string Table();
  item::Value ValueFor(const std::string& name);
  item::Item Key(const std::string& table);
  item::Item RandomItem(const std::string& table);
  std::string Condition();
  // Adds the names and values that the expressions use.
  template <typename Request>
  void Bind(Request* request, const std::vector<std::optional<std::string>>& expressions);

  tables::GetRequest MakeGet();
  tables::PutRequest MakePut();
  tables::UpdateRequest MakeUpdate();
  tables::DeleteRequest MakeDelete();
  tables::ConditionCheck MakeCheck();
  tables::TransactAction MakeAction();

  Operation Get();
  Operation Put();
  Operation Update();
  Operation Delete();
  Operation Query();
  Operation Scan();
  Operation BatchGet();
  Operation BatchWrite();
  Operation TransactGet();
  Operation TransactWrite();
  Operation Follow();
  Operation Describe();
  Operation Maintain();
  Operation SetTimeToLive();
  Operation SetStream();
  Operation ChangeIndex();
  Operation Recreate();
  Operation Tag();
  Operation List();

  SeededRandom random_;
  const Clock& clock_;
  std::optional<tables::TransactWriteRequest> last_with_token_;
  bool in_transaction_ = false;
};

}  // namespace tidemark::model
