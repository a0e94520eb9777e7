// A Change is one write request on its way through the committer.
#pragma once

#include "base/result.h"
#include "tables/embedded/group.h"

namespace tidemark::embedded {

class Change {
 public:
  virtual ~Change() = default;

  // Decides the request against the items of the group, and adds its writes to the group. It is
  // called once, so it may move from its members. On an error, and when a condition does not hold,
  // it adds nothing. The caller gets the reply only after the group is committed.
  virtual Status Evaluate(Group* group) = 0;

  // Called after the group is committed. Publishes what is not a row, such as a new table.
  virtual void Committed(Catalog*) {}

  // True for changes of the catalog. Each forms a group by itself, because the changes after it
  // must be decided against the new catalog.
  virtual bool alone() const { return false; }
};

}  // namespace tidemark::embedded
