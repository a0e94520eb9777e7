#include "tests/simulation/process.h"

#include <utility>

#include "tests/simulation/file_host.h"

namespace tidemark::testing {

// Each write can be the last: before it is applied or after.
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
    // Nothing gets through any more, not even what destructors try.
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
    if (chances_.ObjectsAreAway()) return Error{ErrorCode::kUnavailable, "the store is away"};
    auto reply = made();
    chances_.OnMoment(number_);
    return reply;
  }

  objects::Objects& inner_;
  Chances& chances_;
  const size_t number_;
};

// All that is asked for is there, when there is an answer.
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

// As api::Service makes them, in the same order.
class Process::Service {
 public:
  Service(const api::ServiceContext& context, slack::Directory* directory, const std::string& spool)
      : web_api_({.url = kApiUrl, .files_info_budget = 100'000}, context.client, context.clock,
                 context.sleeper, context.metrics),
        tokens_(Secret(std::string(kBotToken)), {}),
        existence_({.checks_per_team_minute = 0}, context.tables, directory, &tokens_,
                   context.clock, context.logger, context.metrics),
        gate_({},
              slack::SignatureVerifier(
                  {{.id = "signing-secret", .value = Secret(std::string(kSigningSecret))}}),
              &existence_, context.clock, context.logger, context.metrics),
        quarantine_({}, context.tables, context.clock, context.metrics),
        claims_({}, context.tables, context.clock, context.random, context.sleeper),
        dedup_({}, &claims_, context.clock, context.random, context.logger, context.metrics),
        archive_(OptionsOf(spool), context, &web_api_, &tokens_),
        events_({.archive = &archive_.archive(),
                 .ledger = &archive_.ledger(),
                 .gate = &gate_,
                 .quarantine = &quarantine_,
                 .dedup = &dedup_,
                 .tables = context.tables,
                 .random = context.random,
                 .logger = context.logger,
                 .metrics = context.metrics},
                gate::UnknownPolicy::kRefuse) {}

  Status Start() {
    TRY(existence_.CreateTable());
    TRY(quarantine_.CreateTable());
    TRY(claims_.CreateTable());
    return archive_.Start();
  }
  Status Recheck() {
    TRY(quarantine_.Recheck(
        [this](const slack::EventCallback& callback) { return events_.Recheck(callback); },
        [this](const slack::EventCallback& callback, std::string_view body) {
          return events_.Promote(callback, body);
        }));
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
};

// What a process has for itself goes with it.
struct Process::Own {
  explicit Own(uint64_t seed) : random(seed) {}
  SeededRandom random;
  Metrics metrics;
};

Process::Process(const ProcessParts& parts, uint64_t seed)
    : own_(std::make_unique<Own>(seed)),
      tables_(std::make_unique<Tables>(parts)),
      objects_(std::make_unique<Objects>(parts)),
      directory_(std::make_unique<Directory>(parts.chances)),
      service_(std::make_unique<Service>(api::ServiceContext{.tables = tables_.get(),
                                                             .objects = objects_.get(),
                                                             .client = parts.client,
                                                             .clock = parts.clock,
                                                             .random = &own_->random,
                                                             .sleeper = parts.sleeper,
                                                             .logger = parts.logger,
                                                             .metrics = &own_->metrics},
                                         directory_.get(), parts.spool)) {}

Process::~Process() = default;

Status Process::Start() { return service_->Start(); }
http::Response Process::Receive(const http::Request& request) {
  http::Response response;
  // These tables answer at once, so it has ended on return.
  service_->events().Receive(
      std::make_shared<http::RoutedRequest>(http::RoutedRequest{.request = request}),
      [&](std::variant<http::Response, http::Rest> end) {
        auto* ready = std::get_if<http::Response>(&end);
        response = ready != nullptr ? std::move(*ready) : std::get<http::Rest>(end)();
      });
  return response;
}
Status Process::StepRows() { return service_->archive().StepRows(); }
Status Process::StepFiles() { return service_->archive().StepFiles(); }
Status Process::Recheck() { return service_->Recheck(); }
Status Process::Beat() { return service_->archive().Beat(); }

}  // namespace tidemark::testing
