// Changes of the catalog: creating, altering and deleting tables. A function computes each change
// from the present catalog. Each change is committed alone.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "tables/embedded/change.h"
#include "tables/requests.h"

namespace tidemark::embedded {

// What a change does to the catalog.
struct Definition {
  TablePtr table;                           // Made or altered.
  TablePtr dropped;                         // Deleted, with all its rows.
  std::vector<Keyspace> dropped_keyspaces;  // Indexes and expiry lists, deleted with all rows.
  std::vector<StreamPtr> streams;           // Made or altered.
  std::vector<StreamPtr> dropped_streams;   // Deleted, with all their records.
};

class DefinitionChange final : public Change {
 public:
  // May also add rows to the group's batch.
  using Decide = std::function<Result<Definition>(Group*)>;
  explicit DefinitionChange(Decide decide) : decide_(std::move(decide)) {}

  Status Evaluate(Group* group) override;
  void Committed(Catalog* catalog) override;
  bool alone() const override { return true; }
  const Definition& definition() const { return definition_; }

 private:
  Decide decide_;
  Definition definition_;
};

Result<Definition> CreateTable(const tables::CreateTableRequest& request, Random* random,
                               Group* group);
Result<Definition> UpdateTable(const tables::UpdateTableRequest& request, Group* group);
Result<Definition> DeleteTable(const std::string& table, Group* group);
Result<Definition> SetTimeToLive(const tables::SetTimeToLiveRequest& request, Group* group);
Result<Definition> TagTable(const tables::TagRequest& request, Group* group);

}  // namespace tidemark::embedded
