// Measures whether requests that wait delay others: 1,000 reads of documents wait for their objects
// and 1,000 events of an unknown channel wait for Slack, while claims and known events are
// answered. The same is measured without the waiting ones.
#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/connections.h"
#include "bench/flags.h"
#include "bench/harness.h"
#include "bench/keep_alive_client.h"
#include "bench/running_service.h"
#include "objects/directory/directory_objects.h"
#include "servers/demo/pretend_slack.h"
#include "servers/demo/workspace.h"
#include "slack/signature.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::bench {
namespace {

constexpr double kGoalMs = 50;
constexpr int kReaders = 1'000;
constexpr int kEvents = 1'000;
constexpr std::string_view kSigningSecret = "0123456789abcdef0123456789abcdef";
constexpr std::string_view kBotToken = "xoxb-bench";

constexpr char kHelp[] =
    "Usage: bench_crowd [--seconds S]\n\n"
    "How long claims and known events take while 1,000 reads of documents and 1,000 events of an\n"
    "unknown channel wait. The 99th percentile counts.\n"
    "  --seconds S   length of each measurement (10)\n\n"
    "Example:\n"
    "  bench_crowd --seconds 5\n";

// Opens no object before it is released.
class HangingObjects final : public objects::Objects {
 public:
  explicit HangingObjects(objects::Objects* inner) : inner_(*inner) {}
  ~HangingObjects() override { Release(); }

  void Release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

  Result<objects::PutReply> Put(const objects::PutRequest& request) override {
    return inner_.Put(request);
  }
  Result<std::optional<objects::ObjectInfo>> Head(const std::string& key) override {
    return inner_.Head(key);
  }
  Result<std::unique_ptr<objects::OpenObject>> Open(const std::string& key) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return released_; });
    return inner_.Open(key);
  }
  Result<objects::DeleteReply> Delete(const objects::DeleteRequest& request) override {
    return inner_.Delete(request);
  }
  Result<objects::ListReply> List(const objects::ListRequest& request) override {
    return inner_.List(request);
  }

 private:
  objects::Objects& inner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool released_ = false;
};

// The real ids of the pretend workspace.
struct Ids {
  std::string team;
  std::string user;
  std::string channel;
};

Ids IdsOf(const demo::Workspace& workspace) {
  Ids ids{.team = workspace.team.id, .user = {}, .channel = {}};
  for (const demo::User& user : workspace.users) {
    if (!user.deactivated && user.bot_id.empty() && user.id != demo::kSlackbot) ids.user = user.id;
  }
  for (const demo::Channel& channel : workspace.channels) {
    if (!channel.archived && channel.kind == demo::ChannelKind::kPublic) ids.channel = channel.id;
  }
  return ids;
}

std::string EventRequest(const std::string& event_id, const Ids& ids) {
  const std::string now = std::to_string(SystemClock().NowSeconds());
  const std::string body = fmt::format(
      R"({{"type":"event_callback","team_id":"{}","api_app_id":"A1","event_id":"{}",)"
      R"("event_time":{},"event":{{"type":"message","channel":"{}","channel_type":"channel",)"
      R"("user":"{}","text":"hello","ts":"{}.000100","event_ts":"{}.000100"}}}})",
      ids.team, event_id, now, ids.channel, ids.user, now, now);
  const std::string signature = slack::Sign(Secret(std::string(kSigningSecret)), now, body);
  return fmt::format(
      "POST /slack/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "{}: {}\r\n{}: {}\r\nContent-Length: {}\r\n\r\n{}",
      slack::kTimestampHeader, now, slack::kSignatureHeader, signature, body.size(), body);
}

// Connections on which a request was sent and no answer has come.
class Waiting {
 public:
  explicit Waiting(int port) : port_(port) {}
  ~Waiting() {
    for (const int socket : sockets_) ::close(socket);
  }
  void Add(const std::string& request) {
    sockets_.push_back(ConnectTo(port_));
    CHECK(::send(sockets_.back(), request.data(), request.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(request.size()));
  }
  size_t CountAnswered() const {
    size_t count = 0;
    for (const int socket : sockets_) {
      char byte = 0;
      count += ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0 ? 1 : 0;
    }
    return count;
  }

 private:
  const int port_;
  std::vector<int> sockets_;
};

// One client that sends a claim and a known event in turns.
class Clients {
 public:
  Clients(const RunningService* service, Ids ids) : service_(*service), ids_(std::move(ids)) {}

  // The times in milliseconds within which 99 % of the requests of each kind were answered.
  struct Times {
    double claims = 0;
    double events = 0;
  };
  Times Percentile99(double seconds) {
    KeepAliveClient client = service_.Connect();
    std::vector<double> of_claims;
    std::vector<double> of_events;
    const double start = Seconds();
    while (Seconds() - start < seconds) {
      const bool claims = of_claims.size() == of_events.size();
      const std::string request = claims ? PostRequest("/api/v1/claims", service_.token(),
                                                       fmt::format(R"({{"key":"k{}"}})", next_++))
                                         : EventRequest(fmt::format("EvKnown{}", next_++), ids_);
      const double before = Seconds();
      CHECK(client.Ask(request).starts_with("HTTP/1.1 200"));
      (claims ? of_claims : of_events).push_back((Seconds() - before) * 1'000);
    }
    return {.claims = SlowestOf99(std::move(of_claims)),
            .events = SlowestOf99(std::move(of_events))};
  }

 private:
  static double SlowestOf99(std::vector<double> taken) {
    CHECK(!taken.empty());
    std::ranges::sort(taken);
    return taken[taken.size() * 99 / 100];
  }

  const RunningService& service_;
  const Ids ids_;
  uint64_t next_ = 0;
};

void Print(std::string_view kind, double alone, double beside) {
  fmt::print("{:<20} {:>9.2f} {:>9.2f}  < {:.0f}: {}\n", kind, alone, beside, kGoalMs,
             beside < kGoalMs ? "met" : "MISSED");
}

int Main(int argc, char** argv) {
  const Flags flags(argc, argv, kHelp, {"--seconds"});
  const double seconds = flags.Number("--seconds", 10);
  const rlimit descriptors{.rlim_cur = 20'000, .rlim_max = 20'000};
  (void)setrlimit(RLIMIT_NOFILE, &descriptors);
  SystemClock clock;
  SystemRandom random;
  const demo::Workspace workspace = demo::MakeWorkspace({});
  const auto slack =
      Must(demo::PretendSlack::Start({.bot_token = Secret(std::string(kBotToken))}, workspace,
                                     {.clock = &clock, .random = &random}));
  const Folder folder("crowd");
  const auto tables = Must(embedded::EmbeddedTables::Open({.folder = folder.path() + "/data"}));
  const auto stored =
      Must(directory::DirectoryObjects::Open(folder.path() + "/objects", clock, random));
  HangingObjects objects(stored.get());
  api::ServiceOptions options;
  options.documents.emplace().limits_calls = false;
  options.background = false;
  options.signing_secrets.push_back({.id = "s", .value = Secret(std::string(kSigningSecret))});
  options.bot_token = Secret(std::string(kBotToken));
  options.web_api.url = slack->api_url();
  // The waiting requests wait until the end, and all have one address.
  options.web_api.call_timeout = options.existence.deadline = std::chrono::hours(1);
  options.documents->deadline = std::chrono::hours(1);
  options.server.limits.max_connections_per_address = 3 * (kReaders + kEvents);
  const RunningService service(folder.path(), tables.get(), std::move(options), &objects);
  const Ids known = IdsOf(workspace);
  Clients clients(&service, known);

  const Clients::Times alone = clients.Percentile99(seconds);
  Waiting waiting(PortOf(service.address()));
  slack->Fail("conversations.info", {.kind = demo::FailureKind::kHang});
  for (int i = 0; i < kReaders; ++i) {
    waiting.Add(GetRequest(fmt::format("/api/v1/documents/CHG-{}", i / 2), service.token()));
  }
  Ids unknown = known;
  unknown.channel = "C0UNKNOWN";
  for (int i = 0; i < kEvents; ++i) {
    waiting.Add(EventRequest(fmt::format("EvUnknown{}", i), unknown));
  }
  slack->AwaitHanging(1);
  const Clients::Times beside = clients.Percentile99(seconds);
  CHECK(waiting.CountAnswered() == 0);
  fmt::print("p99 in ms: alone, and beside {} waiting reads and {} waiting events\n", kReaders,
             kEvents);
  Print("claims", alone.claims, beside.claims);
  Print("known events", alone.events, beside.events);
  objects.Release();
  slack->Release();
  return 0;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
