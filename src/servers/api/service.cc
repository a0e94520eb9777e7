#include "servers/api/service.h"

#include <atomic>
#include <optional>
#include <utility>

#include "apps/documents/limits.h"
#include "base/failure_log.h"
#include "http/router.h"
#include "servers/api/archive/service.h"
#include "servers/api/attempts/routes.h"
#include "servers/api/background.h"
#include "servers/api/backup/backup_service.h"
#include "servers/api/dedup/routes.h"
#include "servers/api/documents/routes.h"
#include "servers/api/documents/service.h"
#include "servers/api/front_door/inbox_worker.h"
#include "servers/api/front_door/slack_events.h"
#include "servers/api/gate/routes.h"
#include "servers/api/operations_routes.h"
#include "servers/api/respond.h"
#include "servers/api/slack_lists.h"
#include "servers/api/tables/routes.h"
#include "servers/api/tables/verify_service.h"

namespace tidemark::api {

namespace {

// The pauses of the background threads: posting work, refreshing the bot token, rechecking the
// quarantine (which reads the whole table), and noting that this process is alive. Each has a
// thread of its own, so that a slow receiver or a slow Slack does not delay the others.
constexpr std::chrono::seconds kWorkRound(1);
constexpr std::chrono::seconds kRotationRound(1);
constexpr std::chrono::seconds kQuarantineRound(10);
constexpr std::chrono::seconds kBeatRound(10);
// A new token is used soon after it was made.
constexpr std::chrono::milliseconds kTokensRound(100);
// A page of each of Slack's lists a second; the budget allows twenty a minute.
constexpr std::chrono::seconds kListsRound(1);
// Longer than a call for a page may take. For callers that read the lists themselves.
constexpr std::chrono::seconds kLongestListCall(10);
// The archive's stream is processed more often, because people wait for its results.
constexpr std::chrono::milliseconds kArchiveRound(200);
// Readers also finish interrupted writes of documents, so this may wait longer.
constexpr std::chrono::seconds kDocumentsRound(30);

// The client of Slack's Web API and its tokens.
struct SlackSide {
  std::unique_ptr<slack::WebApi> web_api;
  std::unique_ptr<gate::Tokens> tokens;
  gate::RotatingTokens* rotating = nullptr;  // One of the `tokens`; null without rotation.
};

Result<SlackSide> OpenSlackSide(const ServiceOptions& options, const ServiceContext& context) {
  SlackSide side;
  side.web_api = std::make_unique<slack::WebApi>(options.web_api, context.client, context.runtime);
  if (options.rotation) {
    auto rotating =
        TRY(gate::RotatingTokens::Open(*options.rotation, side.web_api.get(), context.runtime));
    side.rotating = rotating.get();
    side.tokens = std::move(rotating);
  } else if (!options.bot_token_file.empty()) {
    side.tokens = TRY(gate::FileTokens::Open(options.bot_token_file, context.runtime));
  } else {
    side.tokens = std::make_unique<gate::FixedTokens>(options.bot_token);
  }
  if (!options.team_tokens.empty()) {
    side.tokens = std::make_unique<gate::TeamTokens>(options.team_tokens, std::move(side.tokens));
  }
  return side;
}

InboxWorkerOptions WorkerOptionsOf(const ServiceOptions& options) {
  InboxWorkerOptions worker{.inbox_table = options.inbox.table,
                            .url = options.work_url,
                            .secret = options.work_secret,
                            .first_wait = options.work_first_wait,
                            .max_failures = options.marks.max_failures,
                            .work = options.work};
  if (options.content_advice) {
    worker.contents = {.table = options.marks.table, .window = options.marks.window};
  }
  return worker;
}

// The inbox is written when something reads it, and when there is no archive to store events in.
bool UsesInbox(const ServiceOptions& options) {
  return !options.archive || !options.work_url.empty() || options.content_advice;
}

}  // namespace

// Each member uses only members that are declared before it, because members are destroyed in
// reverse order.
class Service::State {
 public:
  State(ServiceOptions options, const ServiceContext& context, SlackSide slack,
        std::unique_ptr<DocumentsService> documents);

  Status CreateTables();
  // Before Listen: the first request must not trust a cache that was not compared.
  void WatchDocuments();
  Status Listen();
  void StartBackground();
  void Stop(std::chrono::milliseconds patience);
  Status Recheck();
  Status Work();
  Status Archive();
  Status KeepDocuments();
  Status SampleDocuments();
  void ReadLists();

  http::Server& server() { return *server_; }
  const http::Router& router() const { return router_; }

 private:
  void AddRoutes();
  // Calls `work` again and again, and logs its failures.
  void Repeat(std::optional<Background>* background, std::string_view name,
              std::chrono::milliseconds pause, std::function<Status()> work);

  const ServiceOptions options_;
  const ServiceContext context_;
  TokenFile api_tokens_;
  const SlackSide slack_;
  gate::Roster roster_;
  gate::Existence existence_;
  gate::Gate gate_;
  gate::Quarantine quarantine_;
  dedup::Claims claims_;
  dedup::Deduplicator dedup_;
  // Of the front door and its work. Callers of the API cannot reach them.
  dedup::Claims marks_;
  dedup::Deduplicator marked_;
  // Null when the settings turn the app off.
  const std::unique_ptr<ArchiveService> archive_;
  const std::unique_ptr<AttemptsService> attempts_;
  const std::unique_ptr<DocumentsService> documents_;
  SlackLists lists_;
  Inbox inbox_;
  SlackEvents events_;
  InboxWorker worker_;
  BackupService backups_;
  VerifyService verification_;
  std::atomic<bool> stopping_ = false;
  WorkerPool workers_;
  http::Router router_;
  std::unique_ptr<http::Server> server_;

  std::optional<Background> token_rounds_;
  std::optional<Background> work_;
  std::optional<Background> rotation_;
  std::optional<Background> lists_rounds_;
  std::optional<Background> quarantine_rounds_;
  std::optional<Background> beats_;
  std::optional<Background> archive_rows_;
  std::optional<Background> archive_files_;
  std::optional<Background> documents_rounds_;
  std::optional<Background> documents_samples_;
};

Service::State::State(ServiceOptions options, const ServiceContext& context, SlackSide slack,
                      std::unique_ptr<DocumentsService> documents)
    : options_(std::move(options)),
      context_(context),
      api_tokens_(options_.tokens_file, context.runtime.clock, context.runtime.logger),
      slack_(std::move(slack)),
      roster_(&context.runtime.clock),
      existence_(options_.existence, context.tables, slack_.web_api.get(), slack_.tokens.get(),
                 context.runtime, &roster_),
      gate_(options_.gate, slack::SignatureVerifier(options_.signing_secrets), &existence_,
            context.runtime),
      quarantine_(options_.quarantine, context.tables, context.runtime),
      claims_(options_.claims, context.tables, context.runtime),
      dedup_(options_.dedup, &claims_, context.runtime),
      marks_(options_.marks, context.tables, context.runtime),
      marked_(options_.dedup, &marks_, context.runtime),
      archive_(options_.archive
                   ? std::make_unique<ArchiveService>(*options_.archive, context,
                                                      slack_.web_api.get(), slack_.tokens.get())
                   : nullptr),
      attempts_(options_.attempts ? std::make_unique<AttemptsService>(*options_.attempts, context)
                                  : nullptr),
      documents_(std::move(documents)),
      lists_({.web_api = slack_.web_api.get(),
              .tokens = slack_.tokens.get(),
              .roster = &roster_,
              .existence = &existence_,
              .names = archive_ ? std::optional(archive_->names()) : std::nullopt},
             context.runtime),
      inbox_(options_.inbox, context.tables, &context.runtime.clock),
      events_({.archive = archive_ ? &archive_->archive() : nullptr,
               .ledger = archive_ ? &archive_->ledger() : nullptr,
               .inbox = UsesInbox(options_) ? &inbox_ : nullptr,
               .gate = &gate_,
               .quarantine = &quarantine_,
               .dedup = &marked_,
               .tables = context.tables,
               .workers = &workers_},
              options_.unknown, context.runtime),
      worker_(WorkerOptionsOf(options_),
              {.dedup = &marked_, .tables = context.tables, .client = context.client},
              context.runtime),
      backups_(options_.backups_folder, context.backup_maker, context.runtime.logger),
      verification_(context.verify_tables),
      workers_({.threads = options_.workers, .max_waiting = http::kMaxWaitingWork}),
      router_(&workers_, context.runtime.logger) {
  AddRoutes();
}

Status Service::State::CreateTables() {
  if (!options_.existence.table.empty()) TRY(existence_.CreateTable());
  TRY(quarantine_.CreateTable());
  TRY(claims_.CreateTable());
  TRY(marks_.CreateTable());
  if (archive_) TRY(archive_->Start());
  if (attempts_) TRY(attempts_->Start());
  return UsesInbox(options_) ? inbox_.CreateTable() : Status(Done{});
}

void Service::State::AddRoutes() {
  router_.SetHeadCheck(
      [this](const http::Request& head) { return RefuseWithoutToken(&api_tokens_, head); });
  router_.Add(
      {.method = http::Method::kPost,
       .pattern = "/slack/events",
       .run = http::Run::kOnWorker,
       .handler = [this](const http::RoutedRequest& routed) { return events_.Receive(routed); }});
  AddClaimsRoutes(&router_, {.dedup = &dedup_, .claims = &claims_, .events = &marked_},
                  &api_tokens_);
  AddExistenceRoutes(&router_, &existence_, &api_tokens_);
  AddQuarantineRoutes(&router_, &quarantine_, &api_tokens_);
  if (archive_) archive_->AddRoutes(&router_, &api_tokens_);
  if (attempts_) attempts_->AddRoutes(&router_, &api_tokens_);
  if (documents_) documents_->AddRoutes(&router_, &api_tokens_);
  backups_.AddRoutes(&router_, &api_tokens_);
  verification_.AddRoutes(&router_, &api_tokens_);
  AddKeyRoutes(&router_, context_.keys, &api_tokens_, context_.runtime.logger);
  AddTablesRoutes(&router_, context_.tables, OwnTables(options_), &api_tokens_);
  AddOperationsRoutes(&router_, context_.tables, &context_.runtime.metrics, &stopping_,
                      &api_tokens_);
}

Status Service::State::Listen() {
  http::ServerOptions options = options_.server;
  options.limits.large_body_prefixes = {kTablesPrefix};
  options.limits.max_large_body_bytes = kMaxTablesBodyBytes;
  if (documents_) {
    static_assert(documents::kMaxDocumentBytes == kMaxTablesBodyBytes);
    options.limits.large_body_prefixes.emplace_back(kDocumentsPrefix);
  }
  options.path_for_log = PathWithoutSubject;
  server_ = TRY(http::Server::Start(options, &router_, context_.runtime));
  return Done{};
}

void Service::State::WatchDocuments() {
  if (documents_ && options_.background) documents_->Watch();
}

void Service::State::StartBackground() {
  if (!options_.background) return;
  // At once, so that no loop reads the file.
  api_tokens_.Refresh();
  token_rounds_.emplace(kTokensRound, context_.runtime.logger, [this] { api_tokens_.Refresh(); });
  Repeat(&work_, "work on events", kWorkRound, [this] { return Work(); });
  Repeat(&quarantine_rounds_, "checking events in quarantine again", kQuarantineRound,
         [this] { return Recheck(); });
  if (slack_.rotating != nullptr) {
    rotation_.emplace(kRotationRound, context_.runtime.logger, [this] { slack_.rotating->Step(); });
  }
  if (options_.lists) {
    lists_rounds_.emplace(kListsRound, context_.runtime.logger,
                          [this] { lists_.Step(kListsRound); });
  }
  if (documents_) {
    Repeat(&documents_rounds_, "housekeeping of documents", kDocumentsRound,
           [this] { return KeepDocuments(); });
    Repeat(&documents_samples_, "sampling of documents", options_.documents->sample_every,
           [this] { return SampleDocuments(); });
  }
  if (!archive_) return;
  Repeat(&beats_, "recording that the archive runs", kBeatRound,
         [this] { return archive_->Beat(); });
  Repeat(&archive_rows_, "processing of archived rows", kArchiveRound,
         [this] { return archive_->StepRows(); });
  Repeat(&archive_files_, "fetching of files", kArchiveRound,
         [this] { return archive_->StepFiles(); });
}

void Service::State::Repeat(std::optional<Background>* background, std::string_view name,
                            std::chrono::milliseconds pause, std::function<Status()> work) {
  auto failures = std::make_shared<FailureLog>(
      FailureLogOptions{.level = LogLevel::kWarning, .work = std::string(name)}, context_.runtime);
  background->emplace(pause, context_.runtime.logger,
                      [failures, work = std::move(work)] { failures->Note(work()); });
}

Status Service::State::Work() { return UsesInbox(options_) ? worker_.Step() : Status(Done{}); }

Status Service::State::Archive() {
  if (!archive_) return Done{};
  TRY(archive_->StepRows());
  return archive_->StepFiles();
}

Status Service::State::KeepDocuments() {
  return documents_ ? documents_->Housekeep() : Status(Done{});
}

Status Service::State::SampleDocuments() {
  return documents_ ? documents_->Sample() : Status(Done{});
}

void Service::State::ReadLists() {
  if (options_.lists) lists_.Step(kLongestListCall);
}

Status Service::State::Recheck() {
  TRY(quarantine_.Recheck(
      {.check = [this](const slack::EventCallback& callback) { return events_.Recheck(callback); },
       .promote =
           [this](const slack::EventCallback& callback, std::string_view body,
                  const gate::Verdict& verdict) {
             return events_.Promote(callback, body, verdict);
           },
       .note_gap =
           [this](const slack::EventCallback& callback) { return events_.NoteGap(callback); }}));
  return Done{};
}

void Service::State::Stop(std::chrono::milliseconds patience) {
  stopping_ = true;
  // First, so that running background rounds end while the server waits for running requests.
  worker_.Stop();
  quarantine_.Stop();
  lists_.Stop();
  if (attempts_) attempts_->Stop();
  if (archive_) archive_->Stop();
  // A verification is a running request, which may take hours.
  backups_.Stop();
  verification_.Stop();
  if (server_ != nullptr) server_->Stop(patience);
  if (documents_) documents_->Stop();
  workers_.Stop();
  documents_rounds_.reset();
  documents_samples_.reset();
  archive_files_.reset();
  archive_rows_.reset();
  beats_.reset();
  rotation_.reset();
  lists_rounds_.reset();
  quarantine_rounds_.reset();
  work_.reset();
  token_rounds_.reset();
}

Service::Service(std::unique_ptr<State> state) : state_(std::move(state)) {}

Service::~Service() { Stop(std::chrono::milliseconds(0)); }

Result<std::unique_ptr<Service>> Service::Start(ServiceOptions options,
                                                const ServiceContext& context) {
  SlackSide slack = TRY(OpenSlackSide(options, context));
  std::unique_ptr<DocumentsService> documents;
  if (options.documents) documents = TRY(DocumentsService::Start(*options.documents, context));
  std::unique_ptr<Service> service(new Service(std::make_unique<State>(
      std::move(options), context, std::move(slack), std::move(documents))));
  TRY(service->state_->CreateTables());
  service->state_->WatchDocuments();
  TRY(service->state_->Listen());
  service->state_->StartBackground();
  return service;
}

const std::string& Service::address() const { return state_->server().address(); }

std::vector<std::string> Service::Routes() const { return state_->router().List(); }

void Service::Stop(std::chrono::milliseconds patience) { state_->Stop(patience); }

Status Service::ReloadCertificate() { return state_->server().ReloadCertificate(); }

Status Service::WorkOnce() {
  TRY(state_->Work());
  TRY(state_->Archive());
  TRY(state_->KeepDocuments());
  TRY(state_->SampleDocuments());
  state_->ReadLists();
  return state_->Recheck();
}

}  // namespace tidemark::api
