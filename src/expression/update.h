// An Update changes an item: SET, REMOVE, ADD and DELETE clauses.
//
// All right-hand sides read the item as it was before; paths resolve against it too.
// A parsed Update owns all it needs, and may be applied from any thread.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "expression/bindings.h"
#include "expression/path.h"
#include "item/value.h"

namespace tidemark::expression {

struct UpdateTree;

class Update {
 public:
  explicit Update(std::shared_ptr<const UpdateTree> tree);

  // The item after the update. Fails, with DynamoDB's text, when a path has no parent, an
  // operand is missing or of the wrong type, or arithmetic does not fit.
  Result<item::Item> Apply(const item::Item& previous) const;

  // Every path it writes or removes.
  std::vector<Path> Paths() const;

  // Whether it can make an item that was not there: one that only removes cannot.
  bool Creates() const;

 private:
  std::shared_ptr<const UpdateTree> tree_;
};

Result<Update> ParseUpdate(std::string_view text, Bindings* bindings);

}  // namespace tidemark::expression
