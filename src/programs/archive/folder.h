// The archive in a data folder, for commands that work without a server. Used by one thread.
#pragma once

#include <memory>
#include <string>

#include "apps/archive/archive.h"
#include "apps/archive/channel_index.h"
#include "apps/archive/coverage.h"
#include "apps/archive/reader.h"
#include "apps/archive/state.h"
#include "base/clock.h"
#include "base/result.h"
#include "objects/objects.h"
#include "programs/data_folder.h"
#include "programs/program_runtime.h"
#include "servers/api/archive/service.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::programs {

class ArchiveFolder {
 public:
  // Fails like OpenDataFolder. With Use::kCreate the archive's tables are created. Otherwise
  // kNotFound when the folder has no archive.
  static Result<std::unique_ptr<ArchiveFolder>> Open(const FolderOptions& options, Use use);

  // Opens the objects beside the tables; nullptr when there are none.
  Result<objects::Objects*> OpenFiles();
  // Closes the tables. Everything is on disk then.
  void Close() { tables_.reset(); }

  const api::ArchiveServiceOptions& options() const { return options_; }
  tables::Tables& tables() { return *tables_; }
  archive::Archive& archive() { return archive_; }
  archive::ChannelIndex& index() { return index_; }
  archive::Ledger& ledger() { return ledger_; }
  archive::State& state() { return state_; }
  archive::Reader& reader() { return reader_; }
  const Clock& clock() { return program_.runtime().clock; }

 private:
  ArchiveFolder(Settings settings, api::ArchiveServiceOptions options,
                std::unique_ptr<embedded::EmbeddedTables> tables);

  const Settings settings_;
  const api::ArchiveServiceOptions options_;
  // Commands print what they have to say themselves: only errors are logged.
  ProgramRuntime program_{LogOptions{.level = LogLevel::kError}};
  std::unique_ptr<embedded::EmbeddedTables> tables_;
  std::unique_ptr<objects::Objects> objects_;
  archive::Archive archive_;
  archive::ChannelIndex index_;
  archive::Ledger ledger_;
  archive::State state_;
  archive::Reader reader_;
};

}  // namespace tidemark::programs
