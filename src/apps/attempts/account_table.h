// AccountTable is the AccountStore that keeps the rows of all subjects in one table
// (docs/formats/attempts.md): one partition for each subject, one row under each sort key.
//
// May be called from any thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/attempts/account_store.h"
#include "tables/tables.h"

namespace tidemark::attempts {

inline constexpr const char* kDefaultTable = "authentication-attempts";

class AccountTable final : public AccountStore {
 public:
  // The tables outlive this.
  AccountTable(std::string table, tables::Tables* tables)
      : table_(std::move(table)), tables_(*tables) {}

  // Creates the table when it is missing. kInvalid when a table of this name has other keys.
  Status Create();

  Result<std::vector<item::Item>> Load(const Subject& subject) override;
  bool SubmitsWithoutBlocking() const override { return tables_.SubmitsWithoutBlocking(); }
  Later<std::vector<item::Item>> SubmitLoad(const Subject& subject) override;
  Result<bool> Write(const AccountChange& change) override;
  Later<bool> Submit(const AccountChange& change) override;

  // Subjects that may be locked: they have a row of a lock, or failures in a row, or counts.
  struct Candidates {
    std::vector<Subject> subjects;
    std::optional<Subject> last;  // The next page is what comes after it; nullopt: that was all.
  };
  // Looks at the next rows of the table, as many as one call of the store gives.
  Result<Candidates> ListCandidates(const std::optional<Subject>& after);

 private:
  tables::QueryRequest RowsOf(const Subject& subject) const;
  tables::PutRequest PutHead(const AccountChange& change) const;
  tables::TransactWriteRequest Transaction(const AccountChange& change) const;

  const std::string table_;
  tables::Tables& tables_;
};

}  // namespace tidemark::attempts
