#include "servers/api/archive/service.h"

#include <utility>

#include "servers/api/archive/routes.h"

namespace tidemark::api {

namespace {

std::optional<Secret> TokenOf(const gate::Tokens& tokens, const slack::TeamId& team) {
  std::optional<gate::Credential> credential = tokens.Find(team);
  if (!credential) return std::nullopt;
  return std::move(credential->token);
}

}  // namespace

ArchiveService::ArchiveService(ArchiveServiceOptions options, const ServiceContext& context,
                               slack::WebApi* web_api, const gate::Tokens* tokens)
    : options_(std::move(options)),
      context_(context),
      state_(options_.state_table, context.tables),
      archive_(options_.archive, context.tables, context.runtime, context.objects),
      index_(options_.index, context.tables, context.runtime),
      ledger_(options_.archive.table, context.tables),
      reader_({.table = options_.archive.table, .deleted = options_.deleted}, context.tables,
              &index_, &context.runtime.clock),
      downloader_(options_.download, context.client),
      files_(options_.files,
             {.tables = context.tables,
              .objects = context.objects,
              .state = &state_,
              .downloader = &downloader_,
              .web_api = web_api,
              .token = [tokens](const slack::TeamId& team) { return TokenOf(*tokens, team); },
              .runtime = context.runtime}),
      processors_({.table = options_.archive.table, .deleted = options_.deleted},
                  {.tables = context.tables,
                   .state = &state_,
                   .index = &index_,
                   .ledger = &ledger_,
                   .files = options_.fetch_files ? &files_ : nullptr,
                   .objects = context.objects,
                   .runtime = context.runtime}),
      imports_({.folder = options_.imports_folder, .min_free_bytes = options_.files.min_free_bytes},
               {.archive = &archive_,
                .tables = context.tables,
                .ledger = &ledger_,
                .state = &state_,
                .index = &index_,
                .clock = &context_.runtime.clock},
               context.runtime) {}

Status ArchiveService::Start() {
  TRY(archive_.CreateTable());
  TRY(state_.CreateTable());
  TRY(RecordPolicy());
  const auto last_alive = TRY(state_.LastAlive());
  const auto loss = last_alive
                        ? archive::LossByDowntime(*last_alive, context_.runtime.clock.NowSeconds())
                        : std::nullopt;
  if (loss) {
    // The processor that records teams may have stopped before the last rows: let it catch up
    // first.
    TRY(StepRows());
    for (const slack::TeamId& team : TRY(state_.Teams())) TRY(ledger_.Add(team, *loss));
  }
  return Beat();
}

// Commands on the folder follow the policy of the server that ran last.
Status ArchiveService::RecordPolicy() {
  const auto before = TRY(state_.PolicyOf(options_.archive.table));
  const bool shows = options_.deleted.text == archive::DeletedText::kShow;
  if (before && before->text != archive::DeletedText::kShow && shows) {
    context_.runtime.logger.Log(
        LogLevel::kWarning,
        "the last server hid the text of deleted messages, and this one shows it, because "
        "archive.deleted is show: set it to redact or purge to hide the text again");
  }
  return state_.SetPolicy(options_.archive.table, options_.deleted);
}

Status ArchiveService::Beat() { return state_.SetAlive(context_.runtime.clock.NowSeconds()); }

void ArchiveService::AddRoutes(http::Router* router, TokenFile* tokens) {
  AddArchiveRoutes(router,
                   {.reader = &reader_,
                    .index = &index_,
                    .ledger = &ledger_,
                    .state = &state_,
                    .objects = context_.objects,
                    .file_workers = &file_workers_,
                    .read_workers = &read_workers_,
                    .tables = context_.tables,
                    .table = options_.archive.table,
                    .clock = &context_.runtime.clock},
                   tokens);
  imports_.AddRoutes(router, tokens, &file_workers_);
}

}  // namespace tidemark::api
