// Random operations on a few small tables: the same seed gives the same operations. Keys
// come from small ranges, so that operations meet each other; a part of them is wrong on
// purpose.
//
//   Operations operations(seed, clock);
//   Operation operation = operations.Next();
//   if (operation.run(left) != operation.run(right)) ...  // operation.text says what it was
//
// Not for use by two threads at once.
#pragma once

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
  // Where the follower of each table's stream stands.
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
  // Supplies what the expressions mention.
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
