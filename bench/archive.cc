// Measures the archive: signed events a second from the socket to the disk, their latency while
// files are fetched, an import, and a page of a long channel. The first is compared with plain
// RocksDB that writes the same bytes, synced, from as many threads.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "apps/archive/import.h"
#include "apps/archive/reader.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/sleeper.h"
#include "bench/flags.h"
#include "bench/harness.h"
#include "bench/keep_alive_client.h"
#include "bench/raw_store.h"
#include "http/client.h"
#include "objects/directory/directory_objects.h"
#include "programs/program_runtime.h"
#include "servers/api/service.h"
#include "servers/demo/pretend_slack.h"
#include "slack/signature.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::bench {
namespace {

constexpr int kConnections = 64;
constexpr double kQuietRate = 83;  // 5,000 a minute.
constexpr double kEventsGoal = 10'000;
constexpr double kLatencyGoalMs = 50;
constexpr double kImportGoal = 100'000;
constexpr double kMemoryGoalMb = 300;
constexpr double kPageGoalMs = 10;
constexpr char kSigningSecret[] = "0123456789abcdef0123456789abcdef";
constexpr char kBotToken[] = "xoxb-bench";

constexpr char kHelp[] =
    "The archive: events a second from the socket to the disk, latency while files are fetched,\n"
    "messages imported a second, and a page of a channel of a million messages.\n"
    "\n"
    "  bench_archive                    all of it, a few minutes\n"
    "  bench_archive --seconds 0.5      quicker and rougher\n"
    "  bench_archive --messages 100000  a shorter channel\n"
    "  bench_archive --only events      one part: events, latency, import\n";

// What every part needs: clock, randomness, log and metrics.
struct Surroundings {
  SystemClock clock;
  SystemRandom random;
  SystemSleeper sleeper;
  Metrics metrics;
  Logger logger{{.level = LogLevel::kError}, clock};
  http::CurlClient client{{}, &clock, &sleeper};
};

// The service as `tidemark serve` starts it, without log lines, with a pretend Slack. The gate has
// already verified its few people.
class RunningArchive {
 public:
  RunningArchive(const std::string& folder, Surroundings* around)
      : workspace_(demo::MakeWorkspace({.users = 20, .channels = 12, .archived = 0})) {
    slack_ =
        Must(demo::PretendSlack::Start({.bot_token = Secret(std::string(kBotToken))}, workspace_,
                                       {.clock = &around->clock, .random = &around->random}));
    tables_ = Must(embedded::EmbeddedTables::Open({.folder = folder}));
    objects_ =
        Must(directory::DirectoryObjects::Open(folder + "/objects", around->clock, around->random));
    service_ =
        Must(api::Service::Start(Options(folder), {.tables = tables_.get(),
                                                   .objects = objects_.get(),
                                                   .client = &around->client,
                                                   .runtime = {.clock = around->clock,
                                                               .random = around->random,
                                                               .sleeper = around->sleeper,
                                                               .logger = around->logger,
                                                               .metrics = around->metrics}}));
    for (const demo::Channel& channel : workspace_.channels) {
      if (channel.kind == demo::ChannelKind::kPublic) channels_.push_back(channel.id);
    }
    for (const demo::User& user : workspace_.users) {
      if (user.bot_id.empty() && !user.deactivated && user.id != demo::kSlackbot)
        users_.push_back(user.id);
    }
  }

  KeepAliveClient Connect() const { return KeepAliveClient(service_->address(), "none"); }
  int port() const { return PortOf(service_->address()); }
  const demo::Workspace& workspace() const { return workspace_; }

  // A new message.
  std::string Message(uint64_t number, std::string_view more = "") const {
    return fmt::format(
        R"({{"token":"none","team_id":"{0}","api_app_id":"A0123456789","event":{{"type":"message",)"
        R"("client_msg_id":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","user":"{1}","channel":"{2}",)"
        R"("text":"The evening ferry is late again; berth four stays free until half past {3}",)"
        R"("team":"{0}","blocks":[{{"type":"rich_text","block_id":"b{3}","elements":[{{"type":)"
        R"("rich_text_section","elements":[{{"type":"text","text":"The evening ferry is late )"
        R"(again; berth four stays free until half past {3}"}}]}}]}}],"channel_type":"channel",)"
        R"("ts":"{4}","event_ts":"{4}"{5}}},"type":"event_callback","event_id":"Ev{3:012}",)"
        R"("event_time":1700000000,"authorizations":[{{"team_id":"{0}","user_id":"U0BOT",)"
        R"("is_bot":true}}]}})",
        workspace_.team.id, users_[number % users_.size()], channels_[number % channels_.size()],
        number, fmt::format("{}.{:06}", 1'700'000'000 + number / 1'000'000, number % 1'000'000),
        more);
  }

  // A file of the workspace, as JSON in a message.
  std::string FileField(uint64_t number) const {
    const demo::File& file = workspace_.files[number % workspace_.files.size()];
    return fmt::format(
        R"(,"subtype":"file_share","files":[{{"id":"{0}","name":"{1}","mode":"hosted","size":{2},)"
        R"("mimetype":"{3}","url_private":"{4}/{0}/{1}"}}])",
        file.id, file.name, file.size_bytes, file.mimetype, slack_->files_url());
  }

 private:
  api::ServiceOptions Options(const std::string& folder) const {
    api::ServiceOptions options;
    options.server = {.listen = "127.0.0.1:0"};
    options.tokens_file = folder + "/tokens";
    options.signing_secrets.push_back(
        {.id = "signing-secret", .value = Secret(std::string(kSigningSecret))});
    options.bot_token = Secret(std::string(kBotToken));
    options.web_api.url = slack_->api_url();
    options.web_api.team_info_budget = options.web_api.users_info_budget = 100'000;
    options.web_api.conversations_info_budget = 100'000;
    options.existence.checks_per_team_minute = 0;
    options.archive.emplace();
    options.archive->files.spool = folder + "/spool";
    options.archive->download.origins = {"http://" + slack_->address()};
    return options;
  }

  demo::Workspace workspace_;
  std::vector<std::string> channels_;
  std::vector<std::string> users_;
  std::unique_ptr<demo::PretendSlack> slack_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
  std::unique_ptr<objects::Objects> objects_;
  std::unique_ptr<api::Service> service_;
};

constexpr std::string_view kEventsPath = "/slack/events";

std::string SignatureOf(const std::string& body) {
  static const Secret secret{std::string(kSigningSecret)};
  const std::string timestamp = std::to_string(SystemClock().NowSeconds());
  return fmt::format("X-Slack-Request-Timestamp: {}\r\nX-Slack-Signature: {}\r\n", timestamp,
                     slack::Sign(secret, timestamp, body));
}

void MustBeTaken(const std::string& answer) {
  if (answer.starts_with("HTTP/1.1 200")) return;
  fmt::print(stderr, "bench: an event was not taken: {}\n", answer);
  std::exit(1);
}

void PostSigned(KeepAliveClient* client, const std::string& body) {
  MustBeTaken(client->Post(kEventsPath, body, SignatureOf(body)));
}

bool MeasureEvents(const Settings& settings, const RunningArchive& archive) {
  Folder raw_folder("archive-raw");
  RawStore raw(raw_folder.path());
  std::atomic<uint64_t> next = 0;
  // Makes the gate verify everybody before the measurement.
  KeepAliveClient first = archive.Connect();
  for (int i = 0; i < 1'000; ++i) PostSigned(&first, archive.Message(next++));
  Connections connections(archive.port(), kConnections, IsWholeHttp);
  return Compare(settings,
                 {.name = fmt::format("events, signed, synced, {} connections", kConnections),
                  .unit = "/s",
                  .ours =
                      [&] {
                        return connections.Rate(
                            settings.seconds, [&](size_t, const std::string& answer) {
                              if (!answer.empty()) MustBeTaken(answer);
                              const std::string body = archive.Message(next++);
                              return PostRequest(kEventsPath, "none", body, SignatureOf(body));
                            });
                      },
                  .raw =
                      [&] {
                        return ParallelRate(settings.seconds, kConnections, [&](int) {
                          const uint64_t number = next++;
                          raw.Put(fmt::format("message {}", number), archive.Message(number), true);
                        });
                      },
                  .goal_ours = kEventsGoal});
}

// Sends one event after the other at this rate. The time of each is measured from when it was due,
// so a stall of the server counts for all events that were due during it.
std::vector<double> LatenciesMs(const RunningArchive& archive, double seconds) {
  const auto events = static_cast<uint64_t>(std::max(1'000.0, seconds * 20 * kQuietRate));
  constexpr int kSenders = 8;
  std::vector<std::vector<double>> taken(kSenders);
  std::vector<std::thread> threads;
  const double start = Seconds();
  for (int sender = 0; sender < kSenders; ++sender) {
    threads.emplace_back([&, sender] {
      KeepAliveClient client = archive.Connect();
      for (uint64_t i = static_cast<uint64_t>(sender); i < events; i += kSenders) {
        const double due = start + static_cast<double>(i) / kQuietRate;
        std::this_thread::sleep_for(std::chrono::duration<double>(due - Seconds()));
        // Every tenth message has a file, which is far more than in reality.
        const uint64_t number = 500'000'000 + i;
        PostSigned(&client, archive.Message(number, i % 10 == 0 ? archive.FileField(i) : ""));
        taken[static_cast<size_t>(sender)].push_back((Seconds() - due) * 1'000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<double> all;
  for (const auto& of_sender : taken) all.insert(all.end(), of_sender.begin(), of_sender.end());
  std::sort(all.begin(), all.end());
  return all;
}

bool MeasureLatency(const Settings& settings, const RunningArchive& archive) {
  const std::vector<double> sorted = LatenciesMs(archive, settings.seconds);
  const auto quantile = [&](double share) {
    return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  fmt::print("{:<44} {:>12.1f}\n", "latency at 83 events/s with files, p50, ms", quantile(0.5));
  return Bound("latency at 83 events/s with files, p99.9, ms", "", quantile(0.999), kLatencyGoalMs);
}

// An export of one channel, in day files as Slack writes them.
uint64_t WriteExport(const std::filesystem::path& folder, uint64_t messages) {
  constexpr uint64_t kADay = 2'000;
  std::filesystem::create_directories(folder / "harbour");
  std::ofstream(folder / "channels.json")
      << R"([{"id":"C0HARBOUR","name":"harbour","created":1500000000,"creator":"U0ANN"}])";
  std::ofstream(folder / "users.json") << R"([{"id":"U0ANN","team_id":"T0BENCH","name":"ann"}])";
  for (uint64_t first = 0; first < messages; first += kADay) {
    const EpochSeconds day = 1'500'000'000 + static_cast<EpochSeconds>(first / kADay) * 86'400;
    std::string text = "[";
    for (uint64_t i = 0; i < std::min(kADay, messages - first); ++i) {
      text += fmt::format(
          R"({}{{"type":"message","user":"U0ANN","team":"T0BENCH","ts":"{}.{:06}",)"
          R"("client_msg_id":"0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0","text":"The evening ferry is )"
          R"(late again; berth four stays free until half past {}"}})",
          i == 0 ? "" : ",", day + static_cast<EpochSeconds>(i * 43), i, first + i);
    }
    std::time_t seconds = day;
    std::tm date{};
    gmtime_r(&seconds, &date);
    std::ofstream(
        folder / "harbour" /
        fmt::format("{:04}-{:02}-{:02}.json", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday))
        << text << "]";
  }
  return messages;
}

// The processor time of all threads, in user and kernel mode.
double ProcessorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double PeakMemoryMb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

uint64_t BytesUnder(const std::string& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

// Reads pages that begin at random times of the channel.
std::vector<double> PageMs(archive::Reader* reader, uint64_t messages) {
  const archive::Place place{.team = Must(slack::TeamId::Parse("T0BENCH")),
                             .channel = Must(slack::ChannelId::Parse("C0HARBOUR"))};
  const auto days = static_cast<EpochSeconds>(messages / 2'000);
  std::vector<double> taken;
  SeededRandom random(1);
  for (int i = 0; i < 1'000; ++i) {
    const EpochSeconds at =
        1'500'000'000 +
        static_cast<EpochSeconds>(
            random.Next() % static_cast<uint64_t>(std::max<EpochSeconds>(days - 1, 1) * 86'400));
    const double start = Seconds();
    const auto page =
        Must(reader->Messages(place, {.from = slack::Timestamp::FromSeconds(at), .limit = 100}));
    CHECK(page.messages.size() == 100);
    taken.push_back((Seconds() - start) * 1'000);
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

bool MeasureImport(uint64_t messages, Surroundings* around) {
  Folder export_folder("archive-export");
  Folder folder("archive-import");
  WriteExport(export_folder.path(), messages);
  const double memory_before = PeakMemoryMb();
  auto tables = Must(embedded::EmbeddedTables::Open({.folder = folder.path()}));
  programs::ProgramRuntime program;
  archive::Archive archive({.raw_events = false}, tables.get(), program.runtime());
  archive::State state("tidemark-archive-state", tables.get());
  archive::Ledger ledger("SlackArchive", tables.get());
  archive::ChannelIndex index({}, tables.get(), program.runtime());
  Must(archive.CreateTable());
  Must(state.CreateTable());
  archive::ImportProgress progress;
  const double processor_before = ProcessorSeconds();
  const auto report = Must(archive::ImportExport(export_folder.path(), {},
                                                 {.archive = &archive,
                                                  .tables = tables.get(),
                                                  .ledger = &ledger,
                                                  .state = &state,
                                                  .index = &index,
                                                  .clock = &around->clock},
                                                 &progress));
  const double processor_seconds = ProcessorSeconds() - processor_before;
  CHECK(report.MessageCount() == messages);
  const double rate = static_cast<double>(messages) / report.seconds;
  bool met = rate >= kImportGoal;
  fmt::print("{:<44} {:>12.0f} {:>12} {:>7}  >= {:.0f}: {}\n", "messages imported, /s", rate, "",
             "", kImportGoal, met ? "met" : "MISSED");
  fmt::print("{:<44} {:>12.1f}\n", "  processor time of a message, us",
             processor_seconds * 1e6 / static_cast<double>(messages));
  met &= Bound("memory of the import, MB", "", PeakMemoryMb(), kMemoryGoalMb);
  fmt::print("{:<44} {:>12.1f}\n", "  of it before the import, MB", memory_before);
  archive::Reader reader({}, tables.get(), &index, &around->clock);
  const std::vector<double> pages = PageMs(&reader, messages);
  met &= Bound(fmt::format("page of 100 of {} messages, p99, ms", messages), "",
               pages[pages.size() * 99 / 100], kPageGoalMs);
  fmt::print("{:<44} {:>12.0f}\n", "bytes stored a message",
             static_cast<double>(BytesUnder(folder.path())) / static_cast<double>(messages));
  return met;
}

int Main(int argc, char** argv) {
  const Flags flags(argc, argv, kHelp, {"--seconds", "--rounds", "--messages", "--only"});
  const Settings settings = flags.MeasuredFor();
  const uint64_t messages = flags.Count("--messages", 1'000'000);
  const std::string only = flags.Text("--only");
  Surroundings around;
  bool met = true;
  PrintHead();
  // The import is measured first, while the process has used little memory.
  if (only.empty() || only == "import") met &= MeasureImport(messages, &around);
  if (only != "import") {
    Folder folder("archive");
    const RunningArchive archive(folder.path(), &around);
    if (only.empty() || only == "events") met &= MeasureEvents(settings, archive);
    if (only.empty() || only == "latency") met &= MeasureLatency(settings, archive);
  }
  fmt::print("{}\n", met ? "all goals met" : "some goals MISSED");
  return 0;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
