// The read-modify-write of one item. Put, Update, Delete and a transaction's ConditionCheck take
// the same steps: find the item, check the condition, apply, check the result. They differ only in
// a pure function from the previous item to the next.
//
// Preparing runs on the caller's thread: it parses the expressions and makes all checks that need
// no table. Evaluating runs in the committer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "expression/condition.h"
#include "expression/path.h"
#include "tables/embedded/change.h"
#include "tables/requests.h"

namespace tidemark::embedded {

struct Write {
  std::string table;
  item::Item source;  // Has the key: an item's key attributes, or the whole item of a put.
  bool whole_item = false;
  std::optional<expression::Condition> condition;
  // From the previous item to the next; nullopt is no item. `source` is this write's.
  std::function<Result<std::optional<item::Item>>(const std::optional<item::Item>& previous,
                                                  item::Item source)>
      apply;
  std::vector<expression::Path> updated;  // The paths that an update touches.
  bool checks_only = false;               // Leaves the item as it is, however old it is.
  bool nests = false;                     // Writes inside a value, so the result may nest deeper.
  std::string_view too_large;             // The error text for an item over the limit.
  tables::ReturnValues return_values = tables::ReturnValues::kNone;
  tables::OnConditionFailure on_failure = tables::OnConditionFailure::kNone;
  tables::Measure measure = tables::Measure::kNone;
  tables::Collections collections = tables::Collections::kNone;
};

Result<Write> Prepare(const tables::PutRequest& request);
Result<Write> Prepare(const tables::UpdateRequest& request);
Result<Write> Prepare(const tables::DeleteRequest& request);
Result<Write> Prepare(const tables::ConditionCheck& request);
// Takes the item out of the request instead of copying it.
Result<Write> Prepare(tables::PutRequest&& request);

// The target of a write: the table as it is now, and the row.
struct Target {
  TablePtr table;
  item::Key key;
  std::string row_key;
};
Result<Target> FindTarget(const Write& write, const Catalog& catalog);

struct Decision {
  tables::WriteReply reply;
  std::optional<ItemChange> change;  // nullopt when the condition did not hold.
};
// Fails when the request does not fit the stored item. Takes the write by value: the item of a put
// is moved into the store without a copy.
Result<Decision> Decide(Write write, Target target, Group* group);

// A single Put, Update or Delete on its way through the committer.
class WriteChange final : public Change {
 public:
  explicit WriteChange(Write write) : write_(std::move(write)) {}
  Status Evaluate(Group* group) override;
  tables::WriteReply TakeReply() { return std::move(reply_); }

 private:
  Write write_;
  tables::WriteReply reply_;
};

}  // namespace tidemark::embedded
