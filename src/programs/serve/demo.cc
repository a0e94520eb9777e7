#include "programs/serve/demo.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "base/sleeper.h"
#include "http/client.h"
#include "http/url.h"
#include "programs/output.h"
#include "programs/progress.h"
#include "programs/signals.h"
#include "servers/demo/events.h"
#include "servers/demo/pretend_slack.h"
#include "servers/demo/sender.h"

namespace tidemark::programs {

namespace {

constexpr double kMaxRate = 100'000;
constexpr double kMaxSpeed = 10'000;
// How long and how often to wait for the server to start: ten minutes, because somebody may have to
// copy the command into another terminal first.
constexpr std::chrono::milliseconds kGreetingPause(250);
constexpr int kMaxGreetings = 2'400;

// Where the server of the printed command keeps its data. It has its own folder, so that the demo
// does not use the data of a real server.
constexpr const char* kDemoData = "tidemark-demo-data";

Status Check(const DemoOptions& options) {
  if (!http::SplitUrl(options.to)) {
    return Invalid(
        fmt::format("--to must be a URL such as {}, not '{}'", DemoOptions().to, options.to));
  }
  if (!(options.rate > 0 && options.rate <= kMaxRate)) {
    return Invalid(
        fmt::format("--rate must be above 0 and at most {}, not {}", kMaxRate, options.rate));
  }
  if (!(options.speed >= 1 && options.speed <= kMaxSpeed)) {
    return Invalid(
        fmt::format("--speed must be between 1 and {}, not {}", kMaxSpeed, options.speed));
  }
  return Done{};
}

demo::SenderOptions SenderOptionsOf(const DemoOptions& options) {
  return {.url = options.to,
          .signing_secret = Secret(std::string(kDemoSigningSecret)),
          .events_per_second = options.rate,
          .speed = options.speed,
          .disturbances = {.seed = options.seed,
                           .duplicates = 0.05,
                           .late = 0.01,
                           .late_after = std::chrono::minutes(10),
                           .reorder_window = 4}};
}

// The text in single quotes, for a shell.
std::string QuoteForShell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The path of this program, so that the command also works if `tidemark` is not in the PATH.
std::string OwnProgram() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "tidemark";
  const std::string path = program.string();
  return path.find_first_of(" '\"$`\\&;|<>()*?[]#~") == std::string::npos ? path
                                                                          : QuoteForShell(path);
}

// The --listen option with which a server gets what is sent to this URL. Empty if the URL has a
// name other than localhost: it may be the name of another machine.
std::string ListenFlag(const std::string& to) {
  const auto parts = http::SplitUrl(to);
  if (!parts || parts->scheme != "http") return "";
  const bool is_name = !parts->is_ip_literal;
  if (is_name && parts->host != "localhost") return "";
  return fmt::format(" --listen {}:{}", is_name ? "127.0.0.1" : parts->host, parts->port);
}

// The command works as it is printed: a test runs it.
void Greet(const DemoOptions& options, const demo::PretendSlack& slack) {
  PrintMessage(
      fmt::format("The simulated Slack listens at {} and sends events to {}.\n"
                  "Start a server that uses it, in another terminal, with:\n"
                  "  TIDEMARK_SLACK_API_URL={} SLACK_SIGNING_SECRET={} SLACK_BOT_TOKEN={} "
                  "TIDEMARK_ARCHIVE_CONSENT=true TIDEMARK_ARCHIVE_FILE_ORIGINS=http://{} {} "
                  "serve{} --data {}\n",
                  slack.address(), options.to, slack.api_url(), kDemoSigningSecret, kDemoBotToken,
                  slack.address(), OwnProgram(), ListenFlag(options.to), kDemoData));
}

// Slack verifies a URL before it sends events to it. The server may still be starting.
Status AwaitServer(demo::Sender& sender, Sleeper& sleeper, const std::atomic<bool>& stopped) {
  for (int attempt = 1;; ++attempt) {
    auto verified = sender.VerifyUrl();
    if (verified || verified.error().code != ErrorCode::kUnavailable) return verified;
    if (attempt == kMaxGreetings || stopped) {
      return std::move(verified).WithContext("no server answered the URL verification");
    }
    sleeper.Sleep(kGreetingPause);
  }
}

std::string InWords(const demo::SenderReport& report) {
  return fmt::format(
      "{} events, {} deliveries, {} acknowledged, {} refused, p99 {} ms", report.events,
      report.sent, report.acknowledged, report.refused - report.busy,
      std::chrono::ceil<std::chrono::milliseconds>(report.latencies.Quantile(0.99)).count());
}

std::string ToJson(const demo::SenderReport& report) {
  const std::pair<const char*, uint64_t> counts[] = {
      {"events", report.events},       {"sent", report.sent},
      {"retried", report.retried},     {"duplicates", report.duplicates},
      {"late", report.late},           {"acknowledged", report.acknowledged},
      {"refused", report.refused},     {"timed_out", report.timed_out},
      {"broken", report.broken},       {"given_up", report.given_up},
      {"not_again", report.not_again}, {"busy", report.busy},
  };
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  for (const auto& [name, count] : counts) {
    writer.Key(name);
    writer.Int(static_cast<int64_t>(count));
  }
  for (const auto& [name, share] : {std::pair("p50_us", 0.5), std::pair("p99_us", 0.99)}) {
    writer.Key(name);
    writer.Int(
        std::chrono::ceil<std::chrono::microseconds>(report.latencies.Quantile(share)).count());
  }
  writer.EndObject();
  return text;
}

// Returns the events of the generator, up to --events. The Web API learns of each event before it
// is sent, so that it can answer questions about it.
demo::DeliverySource SourceOf(const DemoOptions& options, demo::EventGenerator* generator,
                              demo::PretendSlack* slack) {
  return
      [&options, generator, slack, given = uint64_t{0}]() mutable -> std::optional<demo::Delivery> {
        if (options.events != 0 && given == options.events) return std::nullopt;
        ++given;
        demo::GeneratedEvent event = generator->Next();
        slack->Apply(event.changes);
        return demo::Delivery{.event_id = std::move(event.event_id), .body = std::move(event.body)};
      };
}

}  // namespace

Result<ExitCode> RunDemo(const DemoOptions& options) {
  TRY(Check(options));
  const StopSignals signals;
  const SystemClock clock;
  SystemRandom random;
  SystemSleeper sleeper;
  http::CurlClient client({}, &clock, &sleeper);
  const demo::Workspace workspace = demo::MakeWorkspace({.seed = options.seed});
  const auto started = demo::PretendSlack::Start({.listen = options.listen,
                                                  .bot_token = Secret(std::string(kDemoBotToken)),
                                                  .calls_a_minute = demo::SlackLimits(),
                                                  .pages = {.largest = 50, .with_empty = true}},
                                                 workspace, {.clock = &clock, .random = &random});
  if (!started) return HeldByAnother(started.error());
  const auto& slack = *started;
  Greet(options, *slack);

  demo::Sender sender(SenderOptionsOf(options), &client, &clock, &sleeper);
  // The signals are blocked in all threads, and this one waits for them. The sender then ends its
  // own loop: a signal handler could not do that safely.
  std::atomic<bool> stopped = false;
  std::thread watcher([&] {
    signals.Wait();
    stopped = true;
    sender.Stop();
  });
  demo::EventGenerator generator(
      {.seed = options.seed,
       .start = clock.NowSeconds(),
       .gap = std::chrono::microseconds(static_cast<int64_t>(1'000'000 / options.rate)),
       .names_channels = true,
       .files_url = slack->files_url()},
      workspace);
  const Status ready = AwaitServer(sender, sleeper, stopped);
  if (ready) {
    const Progress progress(/*asked_for=*/true, [&] { return InWords(sender.report()); });
    sender.Run(SourceOf(options, &generator, slack.get()));
  }
  // If no signal has come, this one ends the watcher's wait.
  if (!stopped) kill(getpid(), SIGTERM);
  watcher.join();
  TRY(Status(ready));
  PrintLine(ToJson(sender.report()));
  return ExitCode::kOk;
}

}  // namespace tidemark::programs
