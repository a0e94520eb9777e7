#include "tests/simulation/process.h"

#include <utility>

#include "tests/simulation/file_host.h"

namespace tidemark::testing {

// The process can die at each write, before or after it is applied.
class Process::Tables final : public ForwardingTables {
 public:
  explicit Tables(const ProcessParts& parts)
      : ForwardingTables(parts.tables), chances_(*parts.chances), number_(parts.number) {}

  Result<tables::WriteReply> Put(const tables::PutRequest& request) override {
    return Survive(ForwardingTables::Put(request));
  }
  Result<tables::WriteReply> Update(const tables::UpdateRequest& request) override {
    return Survive(ForwardingTables::Update(request));
  }
  Result<tables::WriteReply> Delete(const tables::DeleteRequest& request) override {
    return Survive(ForwardingTables::Delete(request));
  }
  Result<tables::TransactWriteReply> TransactWrite(
      const tables::TransactWriteRequest& request) override {
    return Survive(ForwardingTables::TransactWrite(request));
  }

 protected:
  std::optional<Fault> FaultIn(Operation operation) override {
    // No call has an effect any more, not even calls in destructors.
    if (chances_.IsDead(number_)) return Fault{{ErrorCode::kUnavailable, "the process is dead"}};
    chances_.OnMoment(number_);
    return chances_.FaultIn(number_, operation);
  }

 private:
  template <typename Reply>
  Reply Survive(Reply reply) {
    if (!chances_.IsDead(number_)) chances_.OnMoment(number_);
    return reply;
  }

  Chances& chances_;
  const size_t number_;
};

class Process::Objects final : public objects::Objects {
 public:
  explicit Objects(const ProcessParts& parts)
      : inner_(*parts.objects), chances_(*parts.chances), number_(parts.number) {}

  Result<objects::PutReply> Put(const objects::PutRequest& request) override {
    return Call([&] { return inner_.Put(request); });
  }
  Result<std::optional<objects::ObjectInfo>> Head(const std::string& key) override {
    return Call([&] { return inner_.Head(key); });
  }
  Result<std::unique_ptr<objects::OpenObject>> Open(const std::string& key) override {
    return Call([&] { return inner_.Open(key); });
  }
  Result<objects::DeleteReply> Delete(const objects::DeleteRequest& request) override {
    return Call([&] { return inner_.Delete(request); });
  }
  Result<objects::ListReply> List(const objects::ListRequest& request) override {
    return Call([&] { return inner_.List(request); });
  }

 private:
  template <typename Made>
  auto Call(const Made& made) -> decltype(made()) {
    chances_.OnMoment(number_);
    if (chances_.ObjectsAreAway())
      return Error{ErrorCode::kUnavailable, "the store is not available"};
    auto reply = made();
    chances_.OnMoment(number_);
    return reply;
  }

  objects::Objects& inner_;
  Chances& chances_;
  const size_t number_;
};

// Every user, channel and team exists, when there is an answer.
class Process::Directory final : public slack::Directory {
 public:
  explicit Directory(Chances* chances) : chances_(*chances) {}

  std::vector<slack::LookupReply> LookUp(const Secret& /*token*/,
                                         std::span<const slack::Lookup> lookups,
                                         const Deadline& /*deadline*/) override {
    std::vector<slack::LookupReply> replies;
    for (size_t i = 0; i < lookups.size(); ++i) {
      replies.push_back({.outcome = chances_.LookUp(), .error = "no answer", .attempts = 1});
    }
    return replies;
  }

 private:
  Chances& chances_;
};

// Like api::Service, in the same order.
class Process::Service {
 public:
  Service(const api::ServiceContext& context, slack::Directory* directory, const std::string& spool)
      : web_api_({.url = kApiUrl, .files_info_budget = 100'000}, context.client, context.runtime),
        tokens_(Secret(std::string(kBotToken))),
        existence_({.checks_per_team_minute = 0}, context.tables, directory, &tokens_,
                   context.runtime),
        gate_({},
              slack::SignatureVerifier(
                  {{.id = "signing-secret", .value = Secret(std::string(kSigningSecret))}}),
              &existence_, context.runtime),
        quarantine_({}, context.tables, context.runtime),
        claims_({}, context.tables, context.runtime),
        dedup_({}, &claims_, context.runtime),
        archive_(OptionsOf(spool), context, &web_api_, &tokens_),
        events_({.archive = &archive_.archive(),
                 .ledger = &archive_.ledger(),
                 .gate = &gate_,
                 .quarantine = &quarantine_,
                 .dedup = &dedup_,
                 .tables = context.tables,
                 .workers = &workers_},
                gate::UnknownPolicy::kRefuse, context.runtime) {}

  Status Start() {
    TRY(existence_.CreateTable());
    TRY(quarantine_.CreateTable());
    TRY(claims_.CreateTable());
    return archive_.Start();
  }
  Status Recheck() {
    TRY(quarantine_.Recheck(
        {.check =
             [this](const slack::EventCallback& callback) { return events_.Recheck(callback); },
         .promote =
             [this](const slack::EventCallback& callback, std::string_view body,
                    const gate::Verdict& verdict) {
               return events_.Promote(callback, body, verdict);
             },
         .note_gap =
             [this](const slack::EventCallback& callback) { return events_.NoteGap(callback); }}));
    return Done{};
  }
  api::ArchiveService& archive() { return archive_; }
  api::SlackEvents& events() { return events_; }

 private:
  static api::ArchiveServiceOptions OptionsOf(const std::string& spool) {
    api::ArchiveServiceOptions options;
    options.files.spool = spool;
    return options;
  }

  slack::WebApi web_api_;
  gate::FixedTokens tokens_;
  gate::Existence existence_;
  gate::Gate gate_;
  gate::Quarantine quarantine_;
  dedup::Claims claims_;
  dedup::Deduplicator dedup_;
  api::ArchiveService archive_;
  api::SlackEvents events_;
  WorkerPool workers_{{.threads = 1, .max_waiting = 1}};
};

// What belongs to a process alone is destroyed with it.
struct Process::Own {
  Own(const ProcessParts& parts, uint64_t seed)
      : chances(*parts.chances), number(parts.number), random(seed) {}
  const Chances& chances;
  const size_t number;
  SeededRandom random;
  Metrics metrics;
};

Process::Process(const ProcessParts& parts, uint64_t seed)
    : own_(std::make_unique<Own>(parts, seed)),
      tables_(std::make_unique<Tables>(parts)),
      objects_(std::make_unique<Objects>(parts)),
      directory_(std::make_unique<Directory>(parts.chances)),
      service_(std::make_unique<Service>(api::ServiceContext{.tables = tables_.get(),
                                                             .objects = objects_.get(),
                                                             .client = parts.client,
                                                             .runtime = {.clock = *parts.clock,
                                                                         .random = own_->random,
                                                                         .sleeper = *parts.sleeper,
                                                                         .logger = *parts.logger,
                                                                         .metrics = own_->metrics}},
                                         directory_.get(), parts.spool)) {}

Process::~Process() = default;

Status Process::Start() { return service_->Start(); }
http::Response Process::Receive(const http::Request& request) {
  const http::RoutedRequest routed{.request = request, .parameters = {}};
  auto response = service_->events().Receive(routed).Wait();
  // A Later turns an exception into an error, also the one that stands for the process's death.
  if (own_->chances.IsDead(own_->number)) throw Killed{};
  // The router answers an error with this status, and Slack sends the event again.
  if (!response) return {.status = 500};
  return *std::move(response);
}
Status Process::StepRows() { return service_->archive().StepRows(); }
Status Process::StepFiles() { return service_->archive().StepFiles(); }
Status Process::Recheck() { return service_->Recheck(); }
Status Process::Beat() { return service_->archive().Beat(); }

}  // namespace tidemark::testing
