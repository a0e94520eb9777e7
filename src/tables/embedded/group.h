// A Group is the content of one commit: the changes of many requests in one batch. Each change of
// an item adds everything that must become visible at the same moment: the item, its index rows,
// its expiry row, its stream record and the counts.
//
// Only the committer uses it.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "item/key.h"
#include "tables/embedded/catalog.h"
#include "tables/embedded/store.h"
#include "tables/embedded/working_set.h"
#include "tables/requests.h"

namespace tidemark::embedded {

// The change of one item: how it was and how it will be.
struct ItemChange {
  TablePtr table;
  item::Key key;
  std::string row_key;
  const std::optional<item::Item>* previous = nullptr;  // As Group::Find returned it for the row.
  std::optional<item::Item> next;
  bool expired = false;  // Removed by the sweeper.
};

// What a transaction's token was used for.
struct TokenRecord {
  EpochSeconds expires = 0;
  std::string fingerprint;
};

class Group {
 public:
  Group(const Store& store, Catalog* catalog, WorkingSet* items, std::chrono::milliseconds now);

  const Catalog& catalog() const { return *catalog_; }
  Catalog& catalog() { return *catalog_; }
  const Store& store() const { return store_; }
  EpochSeconds now() const { return now_; }
  std::chrono::milliseconds now_ms() const { return now_ms_; }

  // The item as of the changes added so far.
  Result<const std::optional<item::Item>*> Find(const std::string& row_key) {
    return items_->Find(row_key);
  }
  // Adds the change and all rows that depend on it. A change that leaves the item as it was adds
  // nothing.
  void Add(ItemChange change);

  // Adds the row of an index or expiry list for an item that is already stored.
  void AddIndexRow(const Table& table, const Index& index, const item::Key& key,
                   const item::Item& item);
  void AddExpiryRow(const ExpiryList& expiry, const std::string& row_key, const item::Item& item);

  // nullopt when the token was not used, or was used so long ago that it has expired.
  Result<std::optional<TokenRecord>> FindToken(const std::string& token);
  void AddToken(const std::string& token, const TokenRecord& record);

  Batch& batch() { return batch_; }
  // Adds the counts that changed. The batch is complete after that.
  void Finish();
  // The keys of the item rows that change, some of them several times.
  const std::vector<std::string>& touched() const { return touched_; }
  // Called after the batch was written: tells the sweeper of the new expiry rows.
  void Committed();

 private:
  void ChangeIndex(const Table& table, const Index& index, const ItemChange& change);
  void ChangeExpiry(const ExpiryList& expiry, const ItemChange& change);
  void PutExpiryRow(const ExpiryList& expiry, const std::string& row_key, EpochSeconds ttl);
  void AddStreamRecord(const Stream& stream, const ItemChange& change, std::string_view next_bytes);
  void PutItem(const std::string& key, const item::Item& item);
  void Count(Keyspace keyspace, const std::shared_ptr<Counts>& counts, const item::Item* previous,
             const item::Item* next);

  const Store& store_;
  Catalog* catalog_;
  WorkingSet* items_;
  const std::chrono::milliseconds now_ms_;
  const EpochSeconds now_;
  Batch batch_;
  std::map<Keyspace, std::shared_ptr<Counts>> counted_;
  std::map<std::string, TokenRecord> tokens_;
  // The earliest time of the rows that were added to each expiry list.
  std::map<std::shared_ptr<SweepStart>, EpochSeconds> listed_;
  std::vector<std::string> touched_;
  // Reused by every change, to save allocations.
  std::string buffer_;
  std::string previous_bytes_;
  std::string next_bytes_;
};

// The rows of all tokens, for the sweeper.
Range TokenRange();
Result<TokenRecord> DecodeToken(std::string_view value);

}  // namespace tidemark::embedded
