// `tidemark demo` and `tidemark serve` together: every acknowledged event is stored exactly once,
// even if the server is killed.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "servers/demo/events.h"
#include "servers/demo/pretend_slack.h"
#include "servers/demo/sender.h"
#include "slack/event.h"
#include "tests/programs/serve_fixture.h"

namespace tidemark::testing {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using Ids = std::set<std::string>;

// The inbox is used because content advice is switched on.
constexpr char kInbox[] = "tidemark-inbox";
constexpr char kQuarantine[] = "tidemark-quarantine";

// A client that records the result of each event.
class RecordingClient final : public http::Client {
 public:
  explicit RecordingClient(http::Client* client) : client_(*client) {}

  std::vector<http::Exchange> SendAll(std::span<const http::OutgoingRequest> requests,
                                      const Deadline& deadline) override {
    std::vector<http::Exchange> exchanges = client_.SendAll(requests, deadline);
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < requests.size(); ++i) Record(requests[i], exchanges[i]);
    changed_.notify_all();
    return exchanges;
  }

  // Waits until `count` more events are acknowledged. False when that takes too long.
  [[nodiscard]] bool AwaitMoreAcknowledged(size_t count) {
    std::unique_lock lock(mutex_);
    const size_t target = acknowledged_.size() + count;
    return changed_.wait_for(lock, std::chrono::minutes(5),
                             [&] { return acknowledged_.size() >= target; });
  }

  Ids acknowledged() const { return Get(acknowledged_); }
  // Events that were refused and must not be sent again.
  Ids refused() const { return Get(refused_); }

 private:
  void Record(const http::OutgoingRequest& request, const http::Exchange& exchange) {
    const auto envelope = slack::ParseEnvelope(request.body);
    const auto* callback = envelope ? std::get_if<slack::EventCallback>(&*envelope) : nullptr;
    if (callback == nullptr || exchange.outcome != http::Outcome::kAnswered) return;
    // Nothing of a conversation that was never public is kept. Events about reactions and members
    // do not name its type; there the letter of the id tells it.
    const slack::Event& event = callback->event;
    const std::string& type = event.channel_type;
    if (type == "im" || type == "mpim" || type == "group") return;
    if (event.channel.starts_with('D') || event.channel.starts_with('G')) return;
    if (exchange.response.status == 200) acknowledged_.insert(callback->event_id);
    if (exchange.response.status == 403) refused_.insert(callback->event_id);
  }
  Ids Get(const Ids& ids) const {
    const std::lock_guard lock(mutex_);
    return ids;
  }

  http::Client& client_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Ids acknowledged_;
  Ids refused_;
};

class DemoCommandTest : public ServeFixture {
 protected:
  // Finds a free port for the server, so that demo and server can be given each other's address
  // before they start.
  void FindPort() {
    Serve();
    ASSERT_EQ(StopServer(), kOk);
  }

  std::unique_ptr<BackgroundProgram> StartDemo(const Words& more) {
    Words arguments = {"demo", "--listen", own_host_ + ":0", "--to", url() + "/slack/events"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<BackgroundProgram>(
        BackgroundRun{.arguments = std::move(arguments), .folder = folder_.path()});
  }

  // Starts the server as the demo says.
  void ServeAsTold(BackgroundProgram* demo) {
    const auto api_url = demo->AwaitError("TIDEMARK_SLACK_API_URL=");
    ASSERT_TRUE(api_url) << demo->err();
    Serve({"--dedup-content", "true"}, SlackAt(*api_url));
  }

  // How often each event was put into the inbox, and how often changed there.
  std::map<std::string, int> InboxWrites() const {
    std::map<std::string, int> writes;
    for (const std::string& line : LinesOf(Do({"tables", "streams", "tail", kInbox}))) {
      ++writes[TextAt(line, {"keys", "event_key", "S"})];
    }
    return writes;
  }

  // A pretend Slack in this process, so that a test can control it.
  std::unique_ptr<demo::PretendSlack> StartPretendSlack() {
    return demo::PretendSlack::Start({.bot_token = Secret(std::string(kDemoToken))}, workspace_,
                                     {.clock = &clock_, .random = &random_})
        .value();
  }
  demo::SenderOptions SenderOptions() const {
    return {.url = url() + "/slack/events", .signing_secret = Secret(std::string(kDemoSecret))};
  }

  const demo::Workspace workspace_ = demo::MakeWorkspace({.seed = 1});
};

Ids Together(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  Ids ids(left.begin(), left.end());
  ids.insert(right.begin(), right.end());
  return ids;
}

Ids Missing(const Ids& wanted, const Ids& there) {
  Ids missing;
  std::ranges::set_difference(wanted, there, std::inserter(missing, missing.end()));
  return missing;
}

// The demo as the documentation describes it. Its waits are divided, so that retries after minutes
// come within seconds.
TEST_F(DemoCommandTest, SendsEventsThatAreAllStoredOnce) {
  FindPort();
  const auto demo = StartDemo({"--events", "100", "--rate", "500", "--speed", "300"});
  ServeAsTold(demo.get());
  ASSERT_EQ(demo->AwaitExit(), kOk) << demo->err();
  const std::string report = demo->out();
  EXPECT_EQ(NumberAt(report, "events"), 100);
  EXPECT_GE(NumberAt(report, "acknowledged") + NumberAt(report, "not_again"), 100);
  EXPECT_EQ(NumberAt(report, "given_up"), 0);
  EXPECT_EQ(NumberAt(report, "sent"),
            NumberAt(report, "acknowledged") + NumberAt(report, "refused") +
                NumberAt(report, "timed_out") + NumberAt(report, "broken"));
  const std::string metrics = Ask("/metrics", CreateToken("ci")).body;
  EXPECT_EQ(StopServer(), kOk);

  const std::vector<std::string> inbox = EventIds(kInbox);
  EXPECT_THAT(metrics, HasSubstr(fmt::format("tidemark_events_total{{result=\"accepted\"}} {}\n",
                                             inbox.size())));
  // An event of a conversation that was never public is counted at each delivery, and never stored.
  const size_t kept = Together(inbox, EventIds(kQuarantine)).size();
  EXPECT_LE(kept, 100u);
  const std::string not_public = "tidemark_events_total{result=\"not_public\"} ";
  const size_t at = metrics.find(not_public);
  ASSERT_NE(at, std::string::npos);
  EXPECT_GE(kept + std::stoul(metrics.substr(at + not_public.size())), 100u);
  const auto writes = InboxWrites();
  EXPECT_EQ(writes.size(), inbox.size());
  EXPECT_THAT(writes, Each(Pair(::testing::_, 1)));
}

// A newcomer types what the demo prints, as it is printed, and sees the demo's workspace.
TEST_F(DemoCommandTest, ThePrintedCommandStartsAServer) {
  FindPort();
  const auto demo = StartDemo({"--events", "60", "--rate", "500", "--speed", "300"});
  ASSERT_TRUE(demo->AwaitError("--data")) << demo->err();
  const auto lines = LinesOf(demo->err());
  const auto printed = std::ranges::find_if(
      lines, [](const std::string& line) { return line.find(" serve --") != std::string::npos; });
  ASSERT_NE(printed, lines.end()) << demo->err();
  server_ = std::make_unique<BackgroundProgram>(
      BackgroundRun{.arguments = {}, .folder = folder_.path(), .line = *printed});
  ASSERT_EQ(demo->AwaitExit(), kOk) << demo->err() << server_->err();
  EXPECT_EQ(NumberAt(demo->out(), "events"), 60);
  EXPECT_THAT(Ask("/api/v1/teams", CreateToken("me")).body, HasSubstr(workspace_.team.id));
  EXPECT_EQ(StopServer(), kOk);
  // Not in the folder of a real server.
  EXPECT_THAT(Do({"tables", "list", "--data", "tidemark-demo-data"}), HasSubstr("SlackArchive"));
}

TEST_F(DemoCommandTest, RefusesATextThatIsNotAUrl) {
  const Outcome outcome = Run({"demo", "--to", "127.0.0.1:8080"});
  EXPECT_EQ(outcome.exit_code, kInvalid);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("--to"), HasSubstr("127.0.0.1:8080")));
}

// A demo that is stopped by a signal prints its totals too.
TEST_F(DemoCommandTest, ReportsWhenItIsStopped) {
  FindPort();
  const auto demo = StartDemo({"--rate", "50"});
  ServeAsTold(demo.get());
  ASSERT_TRUE(server_->AwaitError("path=/slack/events", 3));
  demo->Send(SIGINT);
  EXPECT_EQ(demo->AwaitExit(), kOk) << demo->err();
  EXPECT_THAT(NumberAt(demo->out(), "events"), Gt(0));
}

// A common mistake of new users is reported at once, not as an endless list of refused events.
TEST_F(DemoCommandTest, ReportsWhyAServerCannotAcceptItsEvents) {
  Serve();
  const Outcome secret =
      Run({"demo", "--listen", own_host_ + ":0", "--to", url() + "/slack/events"});
  EXPECT_EQ(secret.exit_code, kInvalid);
  EXPECT_THAT(secret.err, AllOf(HasSubstr("status 401"), HasSubstr("is the signing secret")));
  const Outcome rate = Run({"demo", "--rate", "0"});
  EXPECT_EQ(rate.exit_code, kInvalid);
  EXPECT_THAT(rate.err, HasSubstr("--rate must be above 0"));
  const Outcome speed = Run({"demo", "--speed", "0"});
  EXPECT_EQ(speed.exit_code, kInvalid);
  EXPECT_THAT(speed.err, HasSubstr("--speed must be between 1 and"));
}

// An acknowledged event must be stored, because Slack never sends it again. A kill loses everything
// that was not given to the kernel. tests/crash tests power cuts.
TEST_F(DemoCommandTest, KeepsAcknowledgedEventsWhenItIsKilled) {
  constexpr size_t kAcknowledgedBetweenKills = 40;
  const auto slack = StartPretendSlack();
  Serve({"--dedup-content", "true"}, SlackAt(slack->api_url()));
  RecordingClient client(&client_);
  demo::SenderOptions options = SenderOptions();
  options.events_per_second = 150;
  options.speed = 120;
  options.disturbances = {.duplicates = 0.3, .reorder_window = 4};
  demo::Sender sender(options, &client, &clock_, &sleeper_);
  demo::EventGenerator generator({.start = clock_.NowSeconds(), .files_url = slack->files_url()},
                                 workspace_);
  std::atomic<bool> enough = false;
  std::map<std::string, std::string> bodies;
  std::thread sending([&] {
    sender.Run([&]() -> std::optional<demo::Delivery> {
      if (enough) return std::nullopt;
      demo::GeneratedEvent event = generator.Next();
      slack->Apply(event.changes);
      bodies[event.event_id] = event.body;
      return demo::Delivery{.event_id = event.event_id, .body = event.body};
    });
  });
  bool is_acknowledging = client.AwaitMoreAcknowledged(kAcknowledgedBetweenKills);
  for (int kill = 0; kill < 3 && is_acknowledging; ++kill) {
    KillServer();
    Serve();
    is_acknowledging = client.AwaitMoreAcknowledged(kAcknowledgedBetweenKills);
  }
  enough = true;
  sending.join();
  ASSERT_TRUE(is_acknowledging) << "the server acknowledges no more events";
  EXPECT_EQ(StopServer(), kOk);

  const std::vector<std::string> inbox = EventIds(kInbox);
  // Nothing is stored of private channels, and of the end of a channel that is not known: Slack
  // cannot be asked about it any more.
  const auto is_private = [&](const std::string& body) {
    for (const char* type : {R"("type":"channel_archive")", R"("type":"channel_deleted")"}) {
      if (body.find(type) != std::string::npos) return true;
    }
    return std::ranges::any_of(workspace_.channels, [&](const demo::Channel& channel) {
      return channel.kind != demo::ChannelKind::kPublic &&
             body.find(channel.id) != std::string::npos;
    });
  };
  for (const auto& id : Missing(client.acknowledged(), Together(inbox, EventIds(kQuarantine)))) {
    EXPECT_TRUE(is_private(bodies[id])) << "acknowledged and not stored: " << bodies[id];
  }
  // An event that is refused without a retry must be stored too, in quarantine.
  EXPECT_THAT(Missing(client.refused(), Together(inbox, EventIds(kQuarantine))), IsEmpty());
  const auto writes = InboxWrites();
  EXPECT_EQ(writes.size(), inbox.size());
  EXPECT_THAT(writes, Each(Pair(::testing::_, 1)));
  EXPECT_THAT(Do({"tables", "verify"}), HasSubstr("\"sound\":true"));
}

// A request that is in progress when the server stops is answered, and its result is stored.
TEST_F(DemoCommandTest, AnswersRequestsInProgressBeforeItStops) {
  const auto slack = StartPretendSlack();
  Serve({"--dedup-content", "true", "--gate-deadline", "2800ms"}, SlackAt(slack->api_url()));
  demo::EventGenerator generator({.start = clock_.NowSeconds(), .files_url = slack->files_url()},
                                 workspace_);
  const demo::GeneratedEvent event = generator.Next();
  slack->Apply(event.changes);
  slack->Fail("team.info", {.kind = demo::FailureKind::kHang});
  http::Exchange exchange;
  std::thread sending([&] {
    exchange = client_.Send(demo::MakeDelivery(SenderOptions(), event.body,
                                               {.timestamp = std::to_string(clock_.NowSeconds())}),
                            Deadline::After(clock_, seconds(30)));
  });
  slack->AwaitHanging(1);
  server_->Send(SIGTERM);
  ASSERT_TRUE(server_->AwaitError("stopping"));
  slack->Release();
  sending.join();
  EXPECT_EQ(server_->AwaitExit(), kOk);
  // Allowed; or refused, if the machine is so slow that Slack's answer came too late. It is stored
  // in both cases.
  EXPECT_THAT(exchange.response.status, ::testing::AnyOf(200, 403)) << exchange.detail;
  EXPECT_EQ(Together(EventIds(kInbox), EventIds(kQuarantine)), Ids{event.event_id});
}

}  // namespace
}  // namespace tidemark::testing
