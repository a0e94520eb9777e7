// A Change is one request that writes, waiting for the committer.
#pragma once

#include "base/result.h"
#include "tables/embedded/group.h"

namespace tidemark::embedded {

class Change {
 public:
  virtual ~Change() = default;

  // Decides against the group, and adds what follows to it. Called once: it may use up what it
  // holds. On an Error, and when the outcome is that nothing is written, it adds nothing. The
  // outcome stays inside until the group is committed.
  virtual Status Evaluate(Group* group) = 0;

  // What is to be seen once the group is committed, such as a new table.
  virtual void Committed(Catalog*) {}

  // Changes of the catalog are committed alone: what follows them is decided by what they made.
  virtual bool alone() const { return false; }
};

}  // namespace tidemark::embedded
