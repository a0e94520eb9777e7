// Measures DynamoDB's protocol over HTTP, beside the most similar commands of Redis, and beside
// another server with the same protocol when one is given. All are on the same disk and driven by
// the same generator (bench/connections.h: one thread, many connections), in turns and in one run.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "aws/signature.h"
#include "bench/connections.h"
#include "bench/flags.h"
#include "bench/harness.h"
#include "bench/redis_peer.h"
#include "programs/program_runtime.h"
#include "servers/dynamodb/access_keys.h"
#include "servers/dynamodb/service.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::bench {
namespace {

constexpr char kHelp[] =
    "Requests of DynamoDB's protocol a second, beside Redis.\n"
    "\n"
    "  bench_wire                     all comparisons, about six minutes\n"
    "  bench_wire --seconds 0.5       quicker and rougher\n"
    "  bench_wire --only synced       one part: synced, signed, relaxed, beside\n"
    "  bench_wire --kind GetItem      one kind of request: UpdateItem, PutItem, GetItem\n"
    "  bench_wire --connections 64    only with so many connections: 1, 64 or 256\n"
    "  bench_wire --beside COMMAND    beside another server with this protocol, such as\n"
    "                                 'dynoxide serve -p {port} --db-path {folder}/data.db' or\n"
    "                                 'npx dynalite --port {port} --path {folder}'\n"
    "  bench_wire --json FILE         adds a line of JSON for each comparison\n";

// Items that are there before the reads.
constexpr uint64_t kItems = 10'000;
constexpr int kMany = 64;
// An answer takes at most three times as long as one of Redis (99 % of them).
constexpr double kLatencyGoal = 3;

// ---- Requests ----

struct Call {
  std::string operation;
  std::string body;
};

std::string_view Value() {
  static const std::string value(100, 'v');
  return value;
}

uint64_t NextNumber() {
  static std::atomic<uint64_t> next = 0;
  return next++;
}

std::string NewItem(std::string_view id) {
  return fmt::format(R"({{"id":{{"S":"{}"}},"sk":{{"N":"0"}},"v":{{"S":"{}"}}}})", id, Value());
}

Call CreateTable() {
  return {
      "CreateTable",
      R"({"TableName":"items","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[)"
      R"({"AttributeName":"id","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"}],)"
      R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"},)"
      R"({"AttributeName":"sk","KeyType":"RANGE"}]})"};
}
Call Increment(size_t connection) {
  return {"UpdateItem",
          fmt::format(R"({{"TableName":"items","Key":{{"id":{{"S":"c{}"}},"sk":{{"N":"0"}}}},)"
                      R"("UpdateExpression":"ADD n :one",)"
                      R"("ExpressionAttributeValues":{{":one":{{"N":"1"}}}}}})",
                      connection)};
}
Call PutNew() {
  return {"PutItem", fmt::format(R"({{"TableName":"items","Item":{},)"
                                 R"_("ConditionExpression":"attribute_not_exists(id)"}})_",
                                 NewItem(fmt::format("new-{:012}", NextNumber())))};
}
Call GetOne() {
  return {"GetItem",
          fmt::format(R"({{"TableName":"items","Key":{{"id":{{"S":"p{}"}},"sk":{{"N":"{}"}}}}}})",
                      NextNumber() * 7919 % (kItems / 10), NextNumber() % 10)};
}
Call QueryTen() {
  return {"Query", fmt::format(R"({{"TableName":"items","KeyConditionExpression":"id = :id",)"
                               R"("ExpressionAttributeValues":{{":id":{{"S":"p{}"}}}}}})",
                               NextNumber() * 7919 % (kItems / 10))};
}
Call Write25(const std::vector<std::string>& items) {
  std::string body = R"({"RequestItems":{"items":[)";
  for (size_t i = 0; i < items.size(); ++i) {
    body += fmt::format(R"({}{{"PutRequest":{{"Item":{}}}}})", i == 0 ? "" : ",", items[i]);
  }
  return {"BatchWriteItem", body + "]}}"};
}
Call WriteNew25() {
  std::vector<std::string> items;
  for (int i = 0; i < 25; ++i) items.push_back(NewItem(fmt::format("batch-{}", NextNumber())));
  return Write25(items);
}

// A request as a client sends it. Without credentials it has a signature that nobody checks.
class Sender {
 public:
  Sender() = default;
  Sender(aws::Credentials credentials, EpochSeconds now)
      : credentials_(std::move(credentials)), now_(now) {
    const std::string time = aws::BasicTime(now);
    scope_ = {.date = time.substr(0, 8), .region = "us-east-1", .service = "dynamodb"};
  }

  std::string Text(const Call& call) const {
    http::Headers headers = {{"Host", "localhost"},
                             {"Content-Type", "application/x-amz-json-1.0"},
                             {"X-Amz-Date", aws::BasicTime(now_)},
                             {"X-Amz-Target", "DynamoDB_20120810." + call.operation}};
    const std::string authorization = AuthorizationFor(headers, call.body);
    std::string text = "POST / HTTP/1.1\r\n";
    for (const http::Header& header : headers) {
      text += fmt::format("{}: {}\r\n", header.name, header.value);
    }
    return text + fmt::format("Authorization: {}\r\nContent-Length: {}\r\n\r\n{}", authorization,
                              call.body.size(), call.body);
  }

 private:
  std::string AuthorizationFor(const http::Headers& headers, const std::string& body) const {
    if (!credentials_) {
      return "AWS4-HMAC-SHA256 Credential=a/20231114/us-east-1/dynamodb/aws4_request, "
             "SignedHeaders=host, Signature=b";
    }
    const aws::Signable signable{.path = "/", .query = "", .headers = headers, .body = body};
    return aws::AuthorizationFor(*credentials_, scope_, now_, signable);
  }

  std::optional<aws::Credentials> credentials_;
  aws::Scope scope_;
  EpochSeconds now_ = 0;
};

// ---- Servers ----

// The port as `tidemark serve --dynamodb` starts it.
class Port {
 public:
  enum class Entry { kOpen, kSigned };

  Port(const std::string& folder, embedded::Durability durability, Entry entry)
      : tables_(
            Must(embedded::EmbeddedTables::Open({.folder = folder, .durability = durability}))) {
    dynamodb::ServiceOptions options;
    options.server.listen = "127.0.0.1:0";
    options.door.open = entry == Entry::kOpen;
    if (entry == Entry::kSigned) MakeKey(folder);
    service_ =
        Must(dynamodb::Service::Start(options, tables_.get(), keys_.get(), program_.runtime()));
  }

  int port() const { return PortOf(service_->address()); }
  const Sender& sender() const { return sender_; }

 private:
  void MakeKey(const std::string& folder) {
    const std::string seal_key = folder + ".key";
    keys_ = Must(dynamodb::AccessKeys::Open(tables_.get(), seal_key, program_.runtime()));
    std::filesystem::remove(seal_key);
    dynamodb::NewAccessKey made = Must(keys_->Create("bench", {}));
    sender_ = Sender({.access_key = made.id, .secret = std::move(made.secret)},
                     program_.runtime().clock.NowSeconds());
  }

  programs::ProgramRuntime program_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
  std::unique_ptr<dynamodb::AccessKeys> keys_;
  Sender sender_;
  std::unique_ptr<dynamodb::Service> service_;
};

// Starts a command that is another server with this protocol. The destructor ends it.
class OtherServer {
 public:
  OtherServer(const std::string& command, const std::string& folder) : port_(FreePort()) {
    std::filesystem::create_directories(folder);
    const std::string line = "exec " + fmt::format(fmt::runtime(command), fmt::arg("port", port_),
                                                   fmt::arg("folder", folder));
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // Also when the benchmark ends early.
      ::execlp("sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(1);
    }
    for (int i = 0; i < 200 && !IsListening(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    if (!IsListening()) Give(command + " did not start");
  }
  ~OtherServer() {
    ::kill(process_, SIGTERM);
    ::waitpid(process_, nullptr, 0);
  }
  OtherServer(const OtherServer&) = delete;
  OtherServer& operator=(const OtherServer&) = delete;
  int port() const { return port_; }

 private:
  bool IsListening() const { return RedisClient(port_).connected(); }

  const int port_;
  pid_t process_ = -1;
};

// HTTP in lower or upper case: servers differ in how they write their headers.
bool IsWholeAnswer(const std::string& answer) {
  const size_t head = answer.find("\r\n\r\n");
  if (head == std::string::npos) return false;
  size_t length = answer.find("ontent-");
  while (length < head && !answer.substr(length + 7, 6).ends_with("ength")) {
    length = answer.find("ontent-", length + 1);
  }
  CHECK(length < head);
  return answer.size() == head + 4 + std::strtoul(&answer[length + 14], nullptr, 10);
}

// ---- Rates ----

// What makes the next request of a connection.
using Maker = std::function<std::string(size_t connection)>;

void CheckHttp(const std::string& answer) {
  if (answer.empty() || answer.starts_with("HTTP/1.1 200")) return;
  Give("the server answered: " + answer);
}
void CheckRedis(const std::string& answer) {
  if (answer.starts_with("-")) Give("Redis answered: " + answer);
}

// Rates of one kind of request on many connections, and the time in which 99 % were answered.
class Load {
 public:
  Load(int port, int connections, bool (*is_whole)(const std::string&),
       void (*check)(const std::string&), Maker next)
      : connections_(port, connections, is_whole), check_(check), next_(std::move(next)) {}

  double Rate(double seconds) {
    const double rate = connections_.Rate(seconds, [&](size_t connection, const std::string& text) {
      check_(text);
      return next_(connection);
    });
    p99s_.push_back(connections_.p99_ms());
    return rate;
  }
  double p99_ms() const { return Median(p99s_); }

 private:
  Connections connections_;
  void (*const check_)(const std::string&);
  const Maker next_;
  std::vector<double> p99s_;
};

// What is left out.
struct Chosen {
  std::string kind;     // Empty: every kind.
  int connections = 0;  // 0: all numbers of connections.
};

// Requests of a kind, and the command of Redis that does the most similar thing.
struct Kind {
  std::string name;
  std::function<Call(size_t connection)> call;
  std::function<std::vector<std::string>(size_t connection)> redis;  // Unset: nothing is similar.
  double goal_ratio = 0;  // With many connections; 0: none.
};

std::vector<Kind> Kinds(double write_goal, double read_goal) {
  return {
      {"UpdateItem", Increment,
       [](size_t connection) {
         return std::vector<std::string>{"INCR", fmt::format("c{}", connection)};
       },
       write_goal},
      {"PutItem", [](size_t) { return PutNew(); },
       [](size_t) {
         return std::vector<std::string>{
             "SET",  fmt::format("new-{:012}", NextNumber()), std::string(Value()), "NX", "EX",
             "21600"};
       },
       write_goal},
      {"GetItem", [](size_t) { return GetOne(); },
       [](size_t) {
         return std::vector<std::string>{"GET", fmt::format("p{}", NextNumber() * 7919 % kItems)};
       },
       read_goal},
      {"Query of 10", [](size_t) { return QueryTen(); }, nullptr},
      {"BatchWriteItem of 25", [](size_t) { return WriteNew25(); }, nullptr},
  };
}

void SendOnce(int port, const std::string& request) {
  Connections connections(port, 1, IsWholeAnswer);
  bool sent = false;
  connections.Rate(0, [&](size_t, const std::string& answer) {
    CheckHttp(answer);
    return std::exchange(sent, true) ? "" : request;
  });
}

void Fill(int port, const Sender& sender) {
  SendOnce(port, sender.Text(CreateTable()));
  for (uint64_t i = 0; i < kItems; i += 25) {
    std::vector<std::string> items;
    for (uint64_t j = i; j < i + 25; ++j) {
      items.push_back(fmt::format(R"({{"id":{{"S":"p{}"}},"sk":{{"N":"{}"}},"v":{{"S":"{}"}}}})",
                                  j / 10, j % 10, Value()));
    }
    SendOnce(port, sender.Text(Write25(items)));
  }
}

void FillRedis(int port) {
  RedisClient redis(port);
  for (uint64_t i = 0; i < kItems; ++i) {
    CHECK(redis.Run({"SET", fmt::format("p{}", i), std::string(Value())}));
  }
}

// Requests that were made before the measurement, so that their texts and signatures cost the
// generator nothing. There are enough for all rounds; the first are sent again when there are not,
// which only reads and counters may.
class MadeAhead {
 public:
  template <typename Make>
  MadeAhead(const Settings& settings, int connections, const Make& make) {
    const double seconds = settings.seconds * settings.rounds;
    const auto count = static_cast<size_t>(seconds * kMostASecond) + 2 * connections;
    requests_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      requests_.push_back(make(i % static_cast<size_t>(connections)));
    }
  }
  const std::string& Next() { return requests_[next_++ % requests_.size()]; }

 private:
  static constexpr double kMostASecond = 120'000;

  std::vector<std::string> requests_;
  size_t next_ = 0;
};

bool CompareLatency(const std::string& name, const Load& ours, const Load& redis, bool has_goal) {
  const double ratio = ours.p99_ms() / redis.p99_ms();
  const bool met = !has_goal || ratio < kLatencyGoal;
  fmt::print(
      "{:<44} {:>12.2f} {:>12.2f} {:>7.2f}  {}\n", name + ", p99 in ms", ours.p99_ms(),
      redis.p99_ms(), ratio,
      has_goal ? fmt::format("ratio < {:.0f}: {}", kLatencyGoal, met ? "met" : "MISSED") : "");
  return met;
}

// All kinds on so many connections.
bool CompareWithRedis(const Settings& settings, const Port& port, int redis_port,
                      const std::string& mode, const std::vector<Kind>& kinds, int connections) {
  bool met = true;
  for (const Kind& kind : kinds) {
    if (!kind.redis) continue;
    MadeAhead requests(settings, connections, [&](size_t connection) {
      return port.sender().Text(kind.call(connection));
    });
    MadeAhead commands(settings, connections,
                       [&](size_t connection) { return RedisCommand(kind.redis(connection)); });
    Load ours(port.port(), connections, IsWholeHttp, CheckHttp,
              [&](size_t) { return requests.Next(); });
    Load redis(redis_port, connections, IsWholeRedis, CheckRedis,
               [&](size_t) { return commands.Next(); });
    const std::string name = fmt::format("{}, {}, {}", kind.name, mode, connections);
    const bool has_goal = connections == kMany && kind.goal_ratio > 0;
    met &= Compare(settings, {.name = name,
                              .unit = "/s",
                              .ours = [&] { return ours.Rate(settings.seconds); },
                              .raw = [&] { return redis.Rate(settings.seconds); },
                              .goal_ratio = has_goal ? kind.goal_ratio : 0});
    met &= CompareLatency(name, ours, redis, has_goal);
  }
  return met;
}

bool CompareWithOther(const Settings& settings, const Port& port, int other_port) {
  bool met = true;
  for (const Kind& kind : Kinds(15, 6)) {
    const auto load = [&](int at) {
      return std::make_unique<Load>(at, kMany, IsWholeAnswer, CheckHttp, [&](size_t connection) {
        return port.sender().Text(kind.call(connection));
      });
    };
    const auto ours = load(port.port());
    const auto other = load(other_port);
    met &= Compare(settings, {.name = fmt::format("{}, beside another, {}", kind.name, kMany),
                              .unit = "/s",
                              .ours = [&] { return ours->Rate(settings.seconds); },
                              .raw = [&] { return other->Rate(settings.seconds); },
                              .goal_ratio = kind.goal_ratio});
  }
  return met;
}

bool MeasureMode(const Settings& settings, const Chosen& chosen, const std::string& mode,
                 embedded::Durability durability, Port::Entry entry, std::vector<Kind> kinds) {
  std::erase_if(kinds,
                [&](const Kind& kind) { return !chosen.kind.empty() && kind.name != chosen.kind; });
  Folder folder("wire");
  Folder redis_folder("redis");
  const Port port(folder.path(), durability, entry);
  const bool is_synced = durability == embedded::Durability::kSynced;
  const RedisServer redis(redis_folder.path(), is_synced ? "always" : "everysec");
  Fill(port.port(), port.sender());
  FillRedis(redis.port());
  bool met = true;
  for (const int connections : {1, kMany, 256}) {
    if (chosen.connections != 0 && connections != chosen.connections) continue;
    met &= CompareWithRedis(settings, port, redis.port(), mode, kinds, connections);
  }
  return met;
}

bool MeasureBeside(const Settings& settings, const std::string& command) {
  Folder folder("wire");
  Folder other_folder("other");
  const Port port(folder.path(), embedded::Durability::kSynced, Port::Entry::kOpen);
  const OtherServer other(command, other_folder.path());
  Fill(port.port(), port.sender());
  Fill(other.port(), port.sender());
  return CompareWithOther(settings, port, other.port());
}

int Main(int argc, char** argv) {
  const Flags flags(
      argc, argv, kHelp,
      {"--seconds", "--rounds", "--only", "--kind", "--connections", "--json", "--beside"});
  const Settings settings = flags.MeasuredFor();
  const Chosen chosen{.kind = flags.Text("--kind"),
                      .connections = std::atoi(flags.Text("--connections").c_str())};
  const auto has = [only = flags.Text("--only")](std::string_view part) {
    return only.empty() || only == part;
  };
  using embedded::Durability;
  fmt::print("{:<44} {:>12} {:>12} {:>7}  {}\n", "", "tidemark", "peer", "ratio", "goal");
  bool met = true;
  if (has("synced")) {
    met &= MeasureMode(settings, chosen, "synced", Durability::kSynced, Port::Entry::kOpen,
                       Kinds(0.7, 0.8));
  }
  if (has("signed")) {
    met &= MeasureMode(settings, chosen, "signed", Durability::kSynced, Port::Entry::kSigned,
                       Kinds(0.55, 0));
  }
  if (has("relaxed")) {
    met &= MeasureMode(settings, chosen, "every second", Durability::kEverySecond,
                       Port::Entry::kOpen, Kinds(0.8, 0));
  }
  if (has("beside") && !flags.Text("--beside").empty()) {
    met &= MeasureBeside(settings, flags.Text("--beside"));
  }
  fmt::print("{}\n", met ? "all goals met" : "some goals MISSED");
  return 0;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
