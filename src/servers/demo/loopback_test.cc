// All parts together over real sockets, as `tidemark demo` uses them.
#include <map>
#include <mutex>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sleeper.h"
#include "http/client.h"
#include "http/server.h"
#include "servers/demo/events.h"
#include "servers/demo/pretend_slack.h"
#include "servers/demo/sender.h"
#include "slack/event.h"
#include "slack/signature.h"
#include "slack/web_api.h"
#include "tests/support/test_runtime.h"

namespace tidemark::demo {
namespace {

using ::testing::IsEmpty;

constexpr char kToken[] = "xoxb-not-a-real-token";
constexpr char kKey[] = "not-a-real-signing-secret";

// A receiver that accepts signed events, and refuses the first delivery of every tenth event.
class Receiver final : public http::Handler {
 public:
  explicit Receiver(const Clock* clock) : clock_(*clock) {}

  void Handle(http::Request request, http::Reply reply) override {
    const slack::SignatureCheck check =
        verifier_.Verify({.timestamps = request.headers.FindAll(slack::kTimestampHeader),
                          .signatures = request.headers.FindAll(slack::kSignatureHeader),
                          .body = request.body},
                         clock_.NowSeconds());
    const Result<slack::Envelope> envelope = slack::ParseEnvelope(request.body);
    if (check.verdict != slack::SignatureVerdict::kValid || !envelope) {
      return reply({.status = 401});
    }
    if (const auto* challenge = std::get_if<slack::UrlVerification>(&*envelope)) {
      return reply(http::Text(200, challenge->challenge));
    }
    reply({.status = Accept(std::get<slack::EventCallback>(*envelope).event_id) ? 200 : 500});
  }

  std::map<std::string, size_t> deliveries() const {
    const std::lock_guard lock(mutex_);
    return deliveries_;
  }

 private:
  bool Accept(const std::string& event_id) {
    const std::lock_guard lock(mutex_);
    const size_t deliveries = ++deliveries_[event_id];
    return deliveries > 1 || deliveries_.size() % 10 != 0;
  }

  const Clock& clock_;
  const slack::SignatureVerifier verifier_{{{.id = "main", .value = Secret(std::string(kKey))}}};
  mutable std::mutex mutex_;
  std::map<std::string, size_t> deliveries_;
};

class LoopbackTest : public ::testing::Test {
 protected:
  Runtime runtime() {
    return {.clock = clock_,
            .random = random_,
            .sleeper = sleeper_,
            .logger = logger_,
            .metrics = metrics_};
  }

  SystemClock clock_;
  SystemSleeper sleeper_;
  SeededRandom random_{7};
  std::ostringstream log_;
  const Logger logger_{{}, clock_, &log_};
  Metrics metrics_;
  const PretendSlack::Context context_{.clock = &clock_, .random = &random_};
  http::CurlClient client_{{}, &clock_, &sleeper_};
};

// Every event arrives, the refused ones again, and every delivery is signed.
TEST_F(LoopbackTest, DeliversEveryEventOverRealSockets) {
  constexpr size_t kEvents = 500;
  Receiver receiver(&clock_);
  testing::TestRuntime test;
  auto server = http::Server::Start({.listen = "127.0.0.1:0"}, &receiver, test.runtime()).value();
  EventGenerator generator({.seed = 7, .start = clock_.NowSeconds()}, MakeWorkspace({.seed = 7}));
  Sender sender({.url = "http://" + server->address() + "/slack/events",
                 .signing_secret = Secret(std::string(kKey)),
                 .concurrency = 8,
                 .disturbances = {.duplicates = 0.2,
                                  .duplicate_within = std::chrono::seconds(0),
                                  .reorder_window = 10}},
                &client_, &clock_, &sleeper_);
  ASSERT_TRUE(sender.VerifyUrl());
  size_t made = 0;
  sender.Run([&]() -> std::optional<Delivery> {
    if (made++ == kEvents) return std::nullopt;
    GeneratedEvent event = generator.Next();
    return Delivery{.event_id = std::move(event.event_id), .body = std::move(event.body)};
  });
  const SenderReport report = sender.report();
  EXPECT_EQ(receiver.deliveries().size(), kEvents);
  EXPECT_EQ(report.events, kEvents);
  EXPECT_EQ(report.sent, report.acknowledged + report.refused);
  EXPECT_GT(report.refused, 0u);
  EXPECT_EQ(report.given_up, 0u);
  EXPECT_GT(report.duplicates, kEvents / 10);
}

// Our own client looks up every user that events name, without breaking the strict rules.
TEST_F(LoopbackTest, AnswersOurClientAboutEverybodyWithoutAFault) {
  const Workspace workspace = MakeWorkspace({.seed = 7});
  auto slack =
      PretendSlack::Start({.bot_token = Secret(std::string(kToken))}, workspace, context_).value();
  constexpr uint32_t kPlenty = 1'000'000;
  slack::WebApi api({.url = slack->api_url(),
                     .call_timeout = std::chrono::seconds(20),
                     .team_info_budget = kPlenty,
                     .conversations_info_budget = kPlenty,
                     .users_info_budget = kPlenty,
                     .files_info_budget = kPlenty},
                    &client_, runtime());
  const Secret token{std::string(kToken)};
  EventGenerator generator({.seed = 7}, workspace);
  for (size_t i = 0; i < 300; ++i) {
    const GeneratedEvent event = generator.Next();
    slack->Apply(event.changes);
    const auto callback = std::get<slack::EventCallback>(slack::ParseEnvelope(event.body).value());
    if (event.name != "message") continue;
    // The manifest does not ask for direct messages, so Slack sends nothing about them.
    const std::string& type = callback.event.channel_type;
    if (type == "im" || type == "mpim") continue;
    const std::vector<slack::Lookup> lookups = {
        {slack::EntityKind::kTeam, callback.team_id},
        {slack::EntityKind::kUser, callback.event.user},
        {slack::EntityKind::kChannel, callback.event.channel}};
    const Deadline deadline = Deadline::After(clock_, std::chrono::seconds(20));
    for (const slack::LookupReply& reply : api.LookUp(token, lookups, deadline)) {
      EXPECT_EQ(reply.outcome, slack::LookupOutcome::kActive) << reply.error << event.body;
    }
  }
  const auto auth = api.TestAuth(token, Deadline::After(clock_, std::chrono::seconds(20)));
  EXPECT_EQ(std::get<slack::AuthTest>(auth).team_id, workspace.team.id);
  EXPECT_EQ(std::get<slack::AuthTest>(auth).scopes, DefaultScopes());
  EXPECT_THAT(slack->faults(), IsEmpty());
}

}  // namespace
}  // namespace tidemark::demo
