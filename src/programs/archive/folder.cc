#include "programs/archive/folder.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "servers/api/service_options.h"

namespace tidemark::programs {

ArchiveFolder::ArchiveFolder(Settings settings, api::ArchiveServiceOptions options,
                             std::unique_ptr<embedded::EmbeddedTables> tables)
    : settings_(std::move(settings)),
      options_(std::move(options)),
      tables_(std::move(tables)),
      archive_(options_.archive, tables_.get(), program_.runtime()),
      index_(options_.index, tables_.get(), program_.runtime()),
      ledger_(options_.archive.table, tables_.get()),
      state_(options_.state_table, tables_.get()),
      reader_({.table = options_.archive.table, .deleted = options_.deleted}, tables_.get(),
              &index_, &program_.runtime().clock) {}

namespace {

// The policy of the server that the folder belongs to, when this command's own settings hide
// nothing: they may be in a file that the command does not know.
Result<archive::DeletedPolicy> PolicyOf(const api::ArchiveServiceOptions& options,
                                        tables::Tables* tables) {
  if (options.deleted.text != archive::DeletedText::kShow) return options.deleted;
  archive::State state(options.state_table, tables);
  const auto stored = state.PolicyOf(options.archive.table);
  if (!stored && stored.error().code != ErrorCode::kNotFound) return stored.error();
  return stored && *stored ? **stored : options.deleted;
}

}  // namespace

Result<std::unique_ptr<ArchiveFolder>> ArchiveFolder::Open(const FolderOptions& options, Use use) {
  Settings settings = TRY(LoadSettings(options));
  api::ArchiveServiceOptions archive_options = TRY(api::ReadArchiveOptions(settings));
  auto tables = TRY(OpenDataFolder(options, use));
  archive_options.deleted = TRY(PolicyOf(archive_options, tables.get()));
  std::unique_ptr<ArchiveFolder> folder(
      new ArchiveFolder(std::move(settings), std::move(archive_options), std::move(tables)));
  if (use == Use::kCreate) {
    TRY(folder->archive_.CreateTable());
    TRY(folder->state_.CreateTable());
    return folder;
  }
  const auto table = folder->tables_->DescribeTable(folder->options_.archive.table);
  if (!table && table.error().code == ErrorCode::kNotFound) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("the data folder has no archive (table '{}'): run 'tidemark serve' or "
                             "'tidemark archive import' first",
                             folder->options_.archive.table)};
  }
  if (!table) return table.error();
  return folder;
}

Result<objects::Objects*> ArchiveFolder::OpenFiles() {
  // OpenObjects would create the folder. A command that only reads must not.
  std::error_code error;
  if (!std::filesystem::is_directory(FindObjectsFolder(settings_), error)) return nullptr;
  objects_ = TRY(OpenObjects(settings_, program_.runtime().clock, program_.runtime().random));
  return objects_.get();
}

}  // namespace tidemark::programs
