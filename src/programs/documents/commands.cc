#include "programs/documents/commands.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "programs/documents/actions.h"
#include "programs/documents/upkeep.h"

namespace tidemark::programs {

namespace {

CLI::Option* AddExpected(CLI::App& command, std::optional<std::string>& expected_etag) {
  return command.add_option("--if-etag", expected_etag,
                            "Replace only the version with this ETag, which `get` shows");
}

void AddPut(CLI::App& parent, Action* action) {
  auto [command, options] =
      AddCommand<PutDocumentOptions>(parent,
                                     {"put", "Store a document, in its object and in the cache",
                                      "tidemark documents put CHG-2025-001.json"},
                                     action, &PutDocument);
  command->add_option("file", options->file, "The document as JSON; - for standard input")
      ->required();
  CLI::Option* expected = AddExpected(*command, options->expected_etag);
  command->add_flag("--new", options->is_new, "Store it only when there is no such document")
      ->excludes(expected);
  AddSource(*command, options->source);
}

void AddId(CLI::App& command, DocumentOptions& options) {
  command.add_option("id", options.id, "The document's id, such as CHG-2025-001")->required();
}

void AddGet(CLI::App& parent, Action* action) {
  auto [command, options] =
      AddCommand<DocumentOptions>(parent,
                                  {"get", "Show a document, its source, and how old that answer is",
                                   "tidemark documents get CHG-2025-001"},
                                  action, &GetDocument);
  AddId(*command, *options);
  AddSource(*command, options->source);
}

void AddDelete(CLI::App& parent, Action* action) {
  auto [command, options] =
      AddCommand<DocumentOptions>(parent,
                                  {"delete", "Delete a draft or a cancelled document",
                                   "tidemark documents delete CHG-2025-001"},
                                  action, &DeleteDocument);
  AddId(*command, *options);
  AddExpected(*command, options->expected_etag);
  AddSource(*command, options->source);
}

void AddQuery(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<QueryDocumentsOptions>(
      parent,
      {"query",
       "Find documents by time, type, customer and status; exit 1 when some may be missing",
       "tidemark documents query --customer hts --status approved --from 2025-10-01"},
      action, &QueryDocuments);
  command->add_option(
      "--from", options->from,
      "Created since: a day, a second or epoch seconds; default: as far back as the cache reaches");
  command->add_option("--to", options->to, "Created until; default: now");
  command->add_option("--type", options->type, "change or announcement");
  command->add_option("--customer", options->customer, "The code of one of its customers");
  command->add_option("--status", options->status,
                      "draft, submitted, approved, completed or cancelled");
  command->add_flag("--cache-only", options->cache_only,
                    "Do not search the objects for documents that the cache does not cover");
  AddOutput(*command, options->output);
  AddSource(*command, options->source);
}

void AddRun(CLI::App& command, DocumentsRunOptions& options) {
  command.add_flag("--dry-run", options.dry_run, "Show what would be done, and change nothing");
  command.add_option("--since", options.since,
                     "Only documents created since: a day, a second or epoch seconds");
  command.add_option("--until", options.until, "Only documents created until then");
  command.add_option("--customer", options.customer, "Only documents of this customer");
  CLI::Option* from = command.add_option(
      "--from", options.from, "Continue from here: the text that the interrupted run printed");
  command
      .add_option("--checkpoint", options.checkpoint_file,
                  "A file that keeps the place of the run: the same command continues from there")
      ->excludes(from);
  AddSource(command, options.source);
  command
      .add_option("--rate", options.rate,
                  "Calls of the table a second, in place of documents.rate; not with --server")
      ->excludes(command.get_option("--server"));
  AddProgress(command, options.source.folder);
  AddOutput(command, options.output);
}

void AddBackfill(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<DocumentsRunOptions>(
      parent,
      {"backfill", "Put all documents of the object store into the cache; exit 1 when one failed",
       "tidemark documents backfill --checkpoint backfill.txt"},
      action, &BackfillDocuments);
  AddRun(*command, *options);
}

void AddFsck(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<DocumentsRunOptions>(
      parent,
      {"fsck",
       "Compare the cache with the objects, show what differs and why, and repair it; exit 1 when "
       "something still differs",
       "tidemark documents fsck --dry-run --since 2025-10-01"},
      action, &CheckDocuments);
  AddRun(*command, *options);
}

void AddStats(CLI::App& parent, Action* action) {
  auto [command, options] = AddCommand<DocumentsStatsOptions>(
      parent,
      {"stats", "Show the state of the cache: its size, what it covers, what is left to do",
       "tidemark documents stats --server http://127.0.0.1:8080"},
      action, &ShowDocumentsStats);
  AddSource(*command, options->source);
  AddOutput(*command, options->output);
}

}  // namespace

void AddDocumentsCommands(CLI::App& program, Action* action) {
  CLI::App* group =
      AddGroup(program, "documents",
               "Store, show, delete and find changes and announcements, and maintain their cache");
  for (auto add : {AddPut, AddGet, AddDelete, AddQuery, AddBackfill, AddFsck, AddStats}) {
    add(*group, action);
  }
}

}  // namespace tidemark::programs
