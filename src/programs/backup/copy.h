// Copies of all tables and objects. A backup is a data folder: its objects are in the folder
// "objects" in it.
//
// The order matters. Deletes are observed first, then the tables are copied as of one moment, then
// the objects. Writers put an object before the row that names it, so every object that a row of
// the copy names was there at that moment. If it is deleted before it is copied, the delete copies
// it first. An object that is replaced meanwhile is copied as it was at that moment or later; the
// documents compare rows with objects when a server starts.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "objects/observed_deletes.h"
#include "servers/api/backup/backup_maker.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::programs {

// Everything outlives the maker.
struct BackupStores {
  embedded::EmbeddedTables* tables = nullptr;
  objects::ObservedDeletes* objects = nullptr;
  std::string objects_folder;  // Of the same objects.
};

class FolderBackup final : public api::BackupMaker {
 public:
  explicit FolderBackup(BackupStores stores) : stores_(std::move(stores)) {}

  Result<api::BackupReport> Make(const std::string& folder, api::BackupProgress* progress) override;

 private:
  Result<api::BackupReport> MakeIn(const std::string& partial, api::BackupProgress* progress);

  const BackupStores stores_;
};

// Removes what backups that were killed left in the folder. Returns how many there were. What
// another process is making now stays.
Result<size_t> RemoveInterruptedBackups(const std::string& folder);

struct RestorePlaces {
  std::string backup;
  std::string data;     // Missing or empty.
  std::string objects;  // The same. It may be inside of `data`.
};

struct RestoreReport {
  embedded::VerifyReport tables;
  api::BackupReport objects;
};

// Copies a backup into a new data folder and a new folder of objects, and verifies both. They
// appear complete or not at all, the data folder last.
Result<RestoreReport> Restore(const RestorePlaces& places, api::BackupProgress* progress);

}  // namespace tidemark::programs
