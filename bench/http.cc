// Compares the HTTP server with a bare epoll loop. wrk drives both in turns on the same machine:
//   bench_http                      all comparisons, about four minutes
//   bench_http --seconds 1          quicker and rougher
//   bench_http --serve              only starts ours, prints its address, and waits
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/worker_pool.h"
#include "bench/bare_server.h"
#include "bench/flags.h"
#include "bench/harness.h"
#include "http/reply_writer.h"
#include "http/router.h"
#include "http/server.h"

namespace tidemark::bench {
namespace {

constexpr double kGoal = 0.8;
constexpr size_t kBodyBytes = 2'048;
constexpr std::string_view kScript = "post.lua";

constexpr char kHelp[] =
    "Usage: bench_http [--seconds S] [--rounds N] [--serve]\n\n"
    "Requests a second of the HTTP server beside a bare epoll loop, driven by wrk.\n"
    "  --seconds S   length of one measurement (5)\n"
    "  --rounds N    measurements of each, in turns; the median counts (5)\n"
    "  --serve       start the server alone, print its address, and wait for the end of input\n\n"
    "Example:\n"
    "  bench_http --seconds 1 --rounds 3\n";

// Our server with one route that answers at once, and everything that it needs.
class OurServer {
 public:
  OurServer() : workers_({.threads = 1, .max_waiting = 1}), router_(&workers_, logger_) {
    for (const http::Method method : {http::Method::kGet, http::Method::kPost}) {
      router_.Add({.method = method,
                   .pattern = "/hello",
                   .run = http::Run::kOnLoop,
                   .handler = [](const http::RoutedRequest&) { return Reply(); }});
    }
    server_ = Must(http::Server::Start({.listen = "127.0.0.1:0"}, &router_,
                                       {.clock = clock_,
                                        .random = random_,
                                        .sleeper = sleeper_,
                                        .logger = logger_,
                                        .metrics = metrics_}));
  }

  static http::Response Reply() { return http::Text(200, "hello\n"); }
  uint16_t port() const { return server_->port(); }

 private:
  SystemClock clock_;
  SystemRandom random_;
  SystemSleeper sleeper_;
  const Logger logger_{{.level = LogLevel::kError}, clock_};
  Metrics metrics_;
  WorkerPool workers_;
  http::Router router_;
  std::unique_ptr<http::Server> server_;
};

// The same bytes as our server sends, except for the date and the id.
std::string FixedReply() {
  const http::Response reply = OurServer::Reply();
  std::string bytes;
  http::AppendReplyHead(
      reply, {.date = http::DateText(1'800'000'000), .request_id = "0123456789abcdef"}, &bytes);
  return bytes + reply.body;
}

struct Load {
  int connections = 64;
  bool posts = false;
};

// The processor time of all threads of this process. wrk is another process, so this is the time of
// the servers.
double ProcessorSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Driven {
  double requests = 0;
  double rate = 0;  // Requests a second.
};

// As wrk counts them.
Driven Drive(uint16_t port, const Load& load, double seconds) {
  const std::string script = load.posts ? fmt::format(" -s {}", kScript) : "";
  const int whole_seconds = std::max(1, static_cast<int>(seconds));
  const std::string command = fmt::format("wrk -t1 -c{} -d{}s{} http://127.0.0.1:{}/hello 2>&1",
                                          load.connections, whole_seconds, script, port);
  FILE* output = popen(command.c_str(), "r");
  CHECK(output != nullptr);
  Driven driven;
  char line[256];
  while (std::fgets(line, sizeof line, output) != nullptr) {
    std::sscanf(line, "%lf requests in", &driven.requests);
    std::sscanf(line, "Requests/sec: %lf", &driven.rate);
    const bool is_fault =
        std::strstr(line, "Socket errors") != nullptr || std::strstr(line, "Non-2xx") != nullptr;
    if (is_fault) fmt::print("wrk:{}", line);
  }
  pclose(output);
  return driven;
}

bool HasWrk() {
  return std::system("command -v wrk >/dev/null 2>&1") == 0;  // NOLINT: a fixed text
}

class Script {
 public:
  Script() {
    std::ofstream(std::string(kScript))
        << "wrk.method = \"POST\"\nwrk.headers[\"Content-Type\"] = \"application/json\"\n"
        << "wrk.body = string.rep(\"x\", " << kBodyBytes << ")\n";
  }
  ~Script() { std::remove(std::string(kScript).c_str()); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;
};

// One server under one load: what wrk measured, and what the server spent on it.
struct Measured {
  std::vector<double> microseconds;  // Of processor time a request, by round.

  double Run(uint16_t port, const Load& load, double seconds) {
    const double before = ProcessorSeconds();
    const Driven driven = Drive(port, load, seconds);
    const double spent = ProcessorSeconds() - before;
    microseconds.push_back(spent * 1e6 / std::max(driven.requests, 1.0));
    return driven.rate;
  }
};

// The processor time is compared too, because it is more stable when other programs run.
bool CompareLoad(const Settings& settings, const std::string& name, const Load& load, double goal) {
  const OurServer ours;
  const BareServer bare(FixedReply(), std::max(1U, std::thread::hardware_concurrency()));
  Measured our_cost;
  Measured bare_cost;
  const bool met =
      Compare(settings, {.name = name,
                         .unit = "requests/s",
                         .ours = [&] { return our_cost.Run(ours.port(), load, settings.seconds); },
                         .raw = [&] { return bare_cost.Run(bare.port(), load, settings.seconds); },
                         .goal_ratio = goal});
  const double our_time = Median(our_cost.microseconds);
  const double bare_time = Median(bare_cost.microseconds);
  fmt::print("{:<44} {:>12.1f} {:>12.1f} {:>7.2f}\n", "  processor time a request, us", our_time,
             bare_time, bare_time / our_time);
  return met;
}

int RunAll(const Settings& settings) {
  const Script script;
  fmt::print("{:<44} {:>12} {:>12} {:>7}  {}\n", "", "tidemark", "bare epoll", "ratio", "goal");
  bool met = CompareLoad(settings, "GET, 64 connections", {.connections = 64}, kGoal);
  met &= CompareLoad(settings, "GET, 1 connection", {.connections = 1}, 0);
  met &= CompareLoad(settings, "GET, 512 connections", {.connections = 512}, 0);
  met &=
      CompareLoad(settings, "POST of 2 KB, 64 connections", {.connections = 64, .posts = true}, 0);
  return met ? 0 : 1;
}

int Serve() {
  const OurServer ours;
  fmt::print("http://127.0.0.1:{}/hello\n", ours.port());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}

int Main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--serve") return Serve();
  const Settings settings =
      Flags(argc, argv, kHelp, {"--seconds", "--rounds"}).MeasuredFor({.seconds = 5, .rounds = 5});
  if (!HasWrk()) {
    fmt::print("bench_http needs wrk to drive the servers: install the package wrk\n");
    return 2;
  }
  return RunAll(settings);
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
