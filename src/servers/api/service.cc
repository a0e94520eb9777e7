#include "servers/api/service.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "http/router.h"
#include "servers/api/claims_routes.h"
#include "servers/api/existence_routes.h"
#include "servers/api/inbox_worker.h"
#include "servers/api/operations_routes.h"
#include "servers/api/slack_events.h"

namespace tidemark::api {

namespace {

// How often the background looks for work, and every how many rounds at the quarantine, which it
// reads whole.
constexpr std::chrono::seconds kRound(1);
constexpr uint64_t kRoundsToRecheck = 10;

gate::FixedTokens TokensOf(const ServiceOptions& options) {
  return gate::FixedTokens(options.bot_token, {});
}

InboxWorkerOptions WorkerOptionsOf(const ServiceOptions& options) {
  InboxWorkerOptions worker{
      .inbox_table = options.inbox.table, .url = options.work_url, .work = options.work};
  if (options.content_advice) {
    worker.contents = {.table = options.claims.table, .window = options.claims.window};
  }
  return worker;
}

}  // namespace

// Members stand in the order in which they need each other, and so go in the opposite one.
class Service::State {
 public:
  State(ServiceOptions options, const ServiceContext& context);

  Status CreateTables();
  Status Listen();
  void StartBackground();
  void Stop(std::chrono::milliseconds patience);
  Status Recheck();
  Status Work() { return worker_.Step(); }

  http::Server& server() { return *server_; }
  const http::Router& router() const { return router_; }

 private:
  void AddRoutes();
  void RunBackground();
  void LogFailure(const Status& status) const;

  const ServiceOptions options_;
  const ServiceContext context_;
  TokenFile api_tokens_;
  slack::WebApi web_api_;
  gate::FixedTokens slack_tokens_;
  gate::Existence existence_;
  gate::Gate gate_;
  gate::Quarantine quarantine_;
  dedup::Claims claims_;
  dedup::Deduplicator dedup_;
  Inbox inbox_;
  SlackEvents events_;
  InboxWorker worker_;
  std::atomic<bool> stopping_ = false;
  WorkerPool workers_;
  http::Router router_;
  std::unique_ptr<http::Server> server_;

  std::mutex background_mutex_;
  std::condition_variable background_wakes_;
  bool background_ends_ = false;
  std::thread background_;
};

Service::State::State(ServiceOptions options, const ServiceContext& context)
    : options_(std::move(options)),
      context_(context),
      api_tokens_(options_.tokens_file, *context.clock),
      web_api_(options_.web_api, context.client, context.clock, context.sleeper, context.metrics),
      slack_tokens_(TokensOf(options_)),
      existence_(options_.existence, context.tables, &web_api_, &slack_tokens_, context.clock,
                 context.logger, context.metrics),
      gate_(options_.gate, slack::SignatureVerifier(options_.signing_secrets), &existence_,
            context.clock, context.logger, context.metrics),
      quarantine_(options_.quarantine, context.tables, context.clock, context.metrics),
      claims_(options_.claims, context.tables, context.clock, context.random, context.sleeper),
      dedup_(options_.dedup, &claims_, context.clock, context.random, context.logger,
             context.metrics),
      inbox_(options_.inbox, context.tables, context.clock),
      events_({.gate = &gate_,
               .quarantine = &quarantine_,
               .dedup = &dedup_,
               .inbox = &inbox_,
               .tables = context.tables,
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
  return inbox_.CreateTable();
}

void Service::State::AddRoutes() {
  router_.Add({.method = http::Method::kPost,
               .pattern = "/slack/events",
               .run = http::Run::kOnWorker,
               .handler = [this](const http::RoutedRequest& routed) {
                 return events_.Receive(routed.request);
               }});
  AddClaimsRoutes(&router_, &dedup_, &claims_, &api_tokens_);
  AddExistenceRoutes(&router_, &existence_, &api_tokens_);
  AddQuarantineRoutes(&router_, &quarantine_, &api_tokens_);
  AddOperationsRoutes(&router_, context_.tables, context_.metrics, &stopping_, &api_tokens_);
}

Status Service::State::Listen() {
  server_ = TRY(http::Server::Start(options_.server, &router_,
                                    {.clock = context_.clock,
                                     .random = context_.random,
                                     .logger = context_.logger,
                                     .metrics = context_.metrics}));
  return Done{};
}

void Service::State::StartBackground() {
  if (options_.background) background_ = std::thread([this] { RunBackground(); });
}

void Service::State::RunBackground() {
  std::unique_lock lock(background_mutex_);
  uint64_t round = 0;
  while (!background_wakes_.wait_for(lock, kRound, [&] { return background_ends_; })) {
    lock.unlock();
    LogFailure(Work());
    if (++round % kRoundsToRecheck == 0) LogFailure(Recheck());
    lock.lock();
  }
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
  if (server_ != nullptr) server_->Stop(patience);
  workers_.Stop();
  {
    const std::lock_guard lock(background_mutex_);
    background_ends_ = true;
  }
  background_wakes_.notify_all();
  if (background_.joinable()) background_.join();
}

Service::Service(std::unique_ptr<State> state) : state_(std::move(state)) {}

Service::~Service() { Stop(std::chrono::milliseconds(0)); }

Result<std::unique_ptr<Service>> Service::Start(ServiceOptions options,
                                                const ServiceContext& context) {
  std::unique_ptr<Service> service(
      new Service(std::make_unique<State>(std::move(options), context)));
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
  return state_->Recheck();
}

}  // namespace tidemark::api
