// An ImportWriter stores rows of an export, many at a time. Rows that the table does not have are
// put as they are, in large transactions. Every put requires that its row is absent: when another
// writer was faster, the transaction is cancelled and its rows are stored one by one. All other
// rows are joined with what is there, one by one, like events.
//
// May be used from several threads at once.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/archive/archive.h"
#include "apps/archive/import_dry_run.h"
#include "apps/archive/import_row.h"
#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::archive {

struct StoreCounts {
  uint64_t stored_new = 0;
  uint64_t updated = 0;
  uint64_t unchanged = 0;
  uint64_t reactions = 0;  // New ones.
  // Messages that are too large for a row even without their raw event. They are not stored.
  std::vector<slack::Timestamp> too_large = {};

  StoreCounts& operator+=(const StoreCounts& other);
};

// Whether to write, or only to find out what would be written.
enum class ImportMode { kStore, kDryRun };

class ImportWriter {
 public:
  // Both outlive this. With kDryRun they may be null: then there is no archive yet, and all is new.
  ImportWriter(Archive* archive, tables::Tables* tables, ImportMode mode);

  // Messages of one conversation. A dry run needs what it has seen of the conversation so far;
  // otherwise `seen` is null.
  Result<StoreCounts> StoreMessages(const Place& place,
                                    const std::vector<ImportedMessage>& messages, SeenRows* seen);
  // News of any kind, usually each about another row. What was stored counts as updated.
  Result<StoreCounts> StoreNews(const slack::TeamId& team, const std::vector<News>& news);

 private:
  struct Unit;
  class Batch;
  using Keys = std::set<std::string, std::less<>>;

  // The sort keys in this range of the partition; nullopt: too many to hold in memory.
  Result<std::optional<Keys>> KnownKeys(const std::string& partition, const std::string& from,
                                        const std::string& to);
  Result<StoreCounts> StoreFresh(const Place& place, const std::vector<ImportedMessage>& messages);
  Result<StoreCounts> Flush(const Place& place, Batch* batch);
  Result<StoreCounts> StoreUnit(const Place& place, const Unit& unit);
  Result<StoreCounts> JoinMessage(const Place& place, const ImportedMessage& message);
  Result<StoreCounts> PutReaction(const Place& place, const ReactionNews& reaction);
  Result<StoreCounts> CountDryRun(const Place& place, const ImportedMessage& message,
                                  SeenRows* seen);
  Result<StoreCounts> CountReaction(const Place& place, const ReactionNews& reaction,
                                    SeenRows* seen);
  // What storing the message would do, if no other row of the export were about it.
  Result<StoreCounts> CountAlone(const Place& place, const ImportedMessage& message);
  Result<bool> IsThere(const Place& place, const slack::Timestamp& ts);

  Archive* const archive_;
  tables::Tables* const tables_;
  const ImportMode mode_;
};

}  // namespace tidemark::archive
