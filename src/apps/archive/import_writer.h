// An ImportWriter stores rows of an export, many at a time. Where the table holds nothing yet, it
// writes them as they are, in large transactions that are cancelled when somebody else wrote
// meanwhile; all others are joined with what is there, one by one, as the listener does it.
//
// May be used from several threads at once.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/archive/archive.h"
#include "apps/archive/import_row.h"
#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct StoreCounts {
  uint64_t stored_new = 0;
  uint64_t updated = 0;
  uint64_t unchanged = 0;
  uint64_t reactions = 0;  // New ones.

  StoreCounts& operator+=(const StoreCounts& other);
};

// Whether anything is written, or only found out what would be.
enum class ImportMode { kStore, kDryRun };

class ImportWriter {
 public:
  // Both outlive this. With kDryRun they may be null: there is no archive yet, and all is new.
  ImportWriter(Archive* archive, tables::Tables* tables, ImportMode mode);

  // Messages of one conversation.
  Result<StoreCounts> StoreMessages(const Place& place,
                                    const std::vector<ImportedMessage>& messages);
  // News of any kind, each about another row as a rule; those that were stored count as updated.
  Result<StoreCounts> StoreNews(const slack::TeamId& team, const std::vector<News>& news);

 private:
  struct Unit;
  class Batch;
  using Keys = std::set<std::string, std::less<>>;

  // The sort keys that are there; nullopt: too many to look at.
  Result<std::optional<Keys>> KnownKeys(const std::string& partition, const std::string& from,
                                        const std::string& to);
  Result<StoreCounts> StoreFresh(const Place& place, const std::vector<ImportedMessage>& messages);
  Result<StoreCounts> Flush(const Place& place, Batch* batch);
  Result<StoreCounts> StoreUnit(const Place& place, const Unit& unit);
  Result<StoreCounts> JoinMessage(const Place& place, const ImportedMessage& message);
  Result<StoreCounts> PutReaction(const Place& place, const ReactionNews& reaction);
  Result<StoreCounts> Foresee(const Place& place, const ImportedMessage& message);
  Result<bool> IsThere(const Place& place, const slack::Timestamp& ts);
  // False: cancelled, nothing was written.
  Result<bool> Write(const tables::TransactWriteRequest& request);

  Archive* const archive_;
  tables::Tables* const tables_;
  const ImportMode mode_;
};

}  // namespace tidemark::archive
