// An Update changes an item: SET, REMOVE, ADD and DELETE clauses.
//
// All values and paths refer to the item before the update. An Update keeps nothing of the request,
// and any thread may apply it.
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

  // Whether it creates an item that does not exist. An update that only removes does not.
  bool Creates() const;

 private:
  std::shared_ptr<const UpdateTree> tree_;
};

Result<Update> ParseUpdate(std::string_view text, Bindings* bindings);

}  // namespace tidemark::expression
