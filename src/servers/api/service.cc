#include "servers/api/service.h"

#include <atomic>
#include <optional>
#include <utility>

#include "apps/documents/limits.h"
#include "http/router.h"
#include "servers/api/archive_service.h"
#include "servers/api/attempts_routes.h"
#include "servers/api/background.h"
#include "servers/api/claims_routes.h"
#include "servers/api/documents_routes.h"
#include "servers/api/documents_service.h"
#include "servers/api/existence_routes.h"
#include "servers/api/inbox_worker.h"
#include "servers/api/operations_routes.h"
#include "servers/api/slack_events.h"

namespace tidemark::api {

namespace {

// How often the background looks for work, at the token's age, at the quarantine, which it reads
// whole, and notes that it is alive. Each has a thread of its own: a receiver of work or a Slack
// that is slow must hold up none of the others.
constexpr std::chrono::seconds kWorkRound(1);
constexpr std::chrono::seconds kRotationRound(1);
constexpr std::chrono::seconds kQuarantineRound(10);
constexpr std::chrono::seconds kBeatRound(10);
// What hangs on the archive's stream is looked for more often: people wait for it.
constexpr std::chrono::milliseconds kArchiveRound(200);
// What writers of documents left is settled by its readers too, and so may wait.
constexpr std::chrono::seconds kDocumentsRound(30);

// What speaks to Slack, and with which token.
struct SlackSide {
  std::unique_ptr<slack::WebApi> web_api;
  std::unique_ptr<gate::Tokens> tokens;
  gate::RotatingTokens* rotating = nullptr;  // One of the above, or nobody rotates.
};

Result<SlackSide> OpenSlackSide(const ServiceOptions& options, const ServiceContext& context) {
  SlackSide side;
  side.web_api = std::make_unique<slack::WebApi>(options.web_api, context.client, context.clock,
                                                 context.sleeper, context.metrics);
  if (options.rotation) {
    auto rotating = TRY(gate::RotatingTokens::Open(*options.rotation, side.web_api.get(),
                                                   context.clock, context.logger));
    side.rotating = rotating.get();
    side.tokens = std::move(rotating);
  } else if (!options.bot_token_file.empty()) {
    side.tokens =
        TRY(gate::FileTokens::Open(options.bot_token_file, context.clock, context.logger));
  } else {
    side.tokens =
        std::make_unique<gate::FixedTokens>(options.bot_token, std::map<std::string, Secret>());
  }
  return side;
}

InboxWorkerOptions WorkerOptionsOf(const ServiceOptions& options) {
  InboxWorkerOptions worker{
      .inbox_table = options.inbox.table, .url = options.work_url, .work = options.work};
  if (options.content_advice) {
    worker.contents = {.table = options.claims.table, .window = options.claims.window};
  }
  return worker;
}

// Who reads the inbox is who asked for it; without the archive it is all that there is.
bool UsesInbox(const ServiceOptions& options) {
  return !options.archive || !options.work_url.empty() || options.content_advice;
}

}  // namespace

// Members stand in the order in which they need each other, and so go in the opposite one.
class Service::State {
 public:
  State(ServiceOptions options, const ServiceContext& context, SlackSide slack,
        std::unique_ptr<DocumentsService> documents);

  Status CreateTables();
  Status Listen();
  void StartBackground();
  void Stop(std::chrono::milliseconds patience);
  Status Recheck();
  Status Work();
  Status Archive();
  Status KeepDocuments();
  Status SampleDocuments();

  http::Server& server() { return *server_; }
  const http::Router& router() const { return router_; }

 private:
  void AddRoutes();
  void LogFailure(const Status& status) const;

  const ServiceOptions options_;
  const ServiceContext context_;
  TokenFile api_tokens_;
  const SlackSide slack_;
  gate::Existence existence_;
  gate::Gate gate_;
  gate::Quarantine quarantine_;
  dedup::Claims claims_;
  dedup::Deduplicator dedup_;
  const std::unique_ptr<ArchiveService> archive_;      // Null: nothing is archived.
  const std::unique_ptr<AttemptsService> attempts_;    // Null: none are counted.
  const std::unique_ptr<DocumentsService> documents_;  // Null: there are none.
  Inbox inbox_;
  SlackEvents events_;
  InboxWorker worker_;
  std::atomic<bool> stopping_ = false;
  WorkerPool workers_;
  http::Router router_;
  std::unique_ptr<http::Server> server_;

  std::optional<Background> work_;
  std::optional<Background> rotation_;
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
      api_tokens_(options_.tokens_file, *context.clock),
      slack_(std::move(slack)),
      existence_(options_.existence, context.tables, slack_.web_api.get(), slack_.tokens.get(),
                 context.clock, context.logger, context.metrics),
      gate_(options_.gate, slack::SignatureVerifier(options_.signing_secrets), &existence_,
            context.clock, context.logger, context.metrics),
      quarantine_(options_.quarantine, context.tables, context.clock, context.metrics),
      claims_(options_.claims, context.tables, context.clock, context.random, context.sleeper),
      dedup_(options_.dedup, &claims_, context.clock, context.random, context.logger,
             context.metrics),
      archive_(options_.archive
                   ? std::make_unique<ArchiveService>(*options_.archive, context,
                                                      slack_.web_api.get(), slack_.tokens.get())
                   : nullptr),
      attempts_(options_.attempts ? std::make_unique<AttemptsService>(*options_.attempts, context)
                                  : nullptr),
      documents_(std::move(documents)),
      inbox_(options_.inbox, context.tables, context.clock),
      events_({.archive = archive_ ? &archive_->archive() : nullptr,
               .ledger = archive_ ? &archive_->ledger() : nullptr,
               .inbox = UsesInbox(options_) ? &inbox_ : nullptr,
               .gate = &gate_,
               .quarantine = &quarantine_,
               .dedup = &dedup_,
               .tables = context.tables,
               .random = context.random,
               .logger = context.logger,
               .metrics = context.metrics},
              options_.unknown),
      worker_(WorkerOptionsOf(options_), {.dedup = &dedup_,
                                          .tables = context.tables,
                                          .client = context.client,
                                          .clock = context.clock,
                                          .random = context.random,
                                          .logger = context.logger,
                                          .metrics = context.metrics}),
      workers_({.threads = options_.workers, .max_waiting = http::kMaxWaitingWork}),
      router_(&workers_, context.logger) {
  AddRoutes();
}

Status Service::State::CreateTables() {
  if (!options_.existence.table.empty()) TRY(existence_.CreateTable());
  TRY(quarantine_.CreateTable());
  TRY(claims_.CreateTable());
  if (archive_) TRY(archive_->Start());
  if (attempts_) TRY(attempts_->Start());
  return UsesInbox(options_) ? inbox_.CreateTable() : Status(Done{});
}

void Service::State::AddRoutes() {
  router_.Add(
      {.method = http::Method::kPost,
       .pattern = "/slack/events",
       .run = http::Run::kOnWorker,
       .begin = [this](std::shared_ptr<const http::RoutedRequest> routed, http::Finish finish) {
         events_.Receive(routed, std::move(finish));
       }});
  AddClaimsRoutes(&router_, &dedup_, &claims_, &api_tokens_);
  AddExistenceRoutes(&router_, &existence_, &api_tokens_);
  AddQuarantineRoutes(&router_, &quarantine_, &api_tokens_);
  if (archive_) archive_->AddRoutes(&router_, &api_tokens_);
  if (attempts_) attempts_->AddRoutes(&router_, &api_tokens_);
  if (documents_) documents_->AddRoutes(&router_, &api_tokens_);
  AddOperationsRoutes(&router_, context_.tables, context_.metrics, &stopping_, &api_tokens_);
}

Status Service::State::Listen() {
  http::ServerOptions options = options_.server;
  if (documents_) {
    options.limits.large_body_prefix = kDocumentsPrefix;
    options.limits.max_large_body_bytes = documents::kMaxDocumentBytes;
  }
  server_ = TRY(http::Server::Start(options, &router_,
                                    {.clock = context_.clock,
                                     .random = context_.random,
                                     .logger = context_.logger,
                                     .path_for_log = PathWithoutSubject,
                                     .metrics = context_.metrics}));
  return Done{};
}

void Service::State::StartBackground() {
  if (!options_.background) return;
  work_.emplace(kWorkRound, [this] { LogFailure(Work()); });
  quarantine_rounds_.emplace(kQuarantineRound, [this] { LogFailure(Recheck()); });
  if (slack_.rotating != nullptr) {
    rotation_.emplace(kRotationRound, [this] { slack_.rotating->Step(); });
  }
  if (documents_) {
    documents_->Watch();
    documents_rounds_.emplace(kDocumentsRound, [this] { LogFailure(KeepDocuments()); });
    documents_samples_.emplace(options_.documents->sample_every,
                               [this] { LogFailure(SampleDocuments()); });
  }
  if (!archive_) return;
  beats_.emplace(kBeatRound, [this] { LogFailure(archive_->Beat()); });
  archive_rows_.emplace(kArchiveRound, [this] { LogFailure(archive_->StepRows()); });
  archive_files_.emplace(kArchiveRound, [this] { LogFailure(archive_->StepFiles()); });
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

void Service::State::LogFailure(const Status& status) const {
  if (status) return;
  context_.logger->Log(LogLevel::kWarning, "work in the background failed; it goes on",
                       {{"error", status.error().message}});
}

Status Service::State::Recheck() {
  TRY(quarantine_.Recheck(
      [this](const slack::EventCallback& callback) { return events_.Recheck(callback); },
      [this](const slack::EventCallback& callback, std::string_view body) {
        return events_.Promote(callback, body);
      }));
  return Done{};
}

void Service::State::Stop(std::chrono::milliseconds patience) {
  stopping_ = true;
  // First, so that rounds under way come to their ends while requests do.
  worker_.Stop();
  quarantine_.Stop();
  if (attempts_) attempts_->Stop();
  if (archive_) archive_->Stop();
  if (server_ != nullptr) server_->Stop(patience);
  if (documents_) documents_->Stop();
  workers_.Stop();
  documents_rounds_.reset();
  documents_samples_.reset();
  archive_files_.reset();
  archive_rows_.reset();
  beats_.reset();
  rotation_.reset();
  quarantine_rounds_.reset();
  work_.reset();
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
  return state_->Recheck();
}

}  // namespace tidemark::api
