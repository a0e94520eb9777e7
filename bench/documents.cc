// Measures documents at default settings: a document by its id, the first page of ninety days and
// all of them, in process and over HTTP, many readers and writers at once, puts over HTTP, and the
// memory that pages of large documents take. The reads in process are compared with the same reads
// from the folder of objects, without a cache.
#include "apps/documents/documents.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <latch>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <time.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/descriptor.h"
#include "base/random.h"
#include "base/runtime.h"
#include "bench/connections.h"
#include "bench/flags.h"
#include "bench/harness.h"
#include "bench/keep_alive_client.h"
#include "bench/running_service.h"
#include "objects/directory/directory_objects.h"
#include "objects/directory/file_ops.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::bench {
namespace {

using documents::Document;
using documents::Documents;

constexpr double kGetGoalMs = 1;
constexpr double kPageGoalMs = 5;
constexpr double kRangeGoalMs = 200;
constexpr double kHttpPageGoalMs = 100;
constexpr double kHttpRangeGoalMs = 500;
constexpr double kPutsGoalSeconds = 120;
constexpr double kLargePagesGoalMb = 256;
constexpr size_t kDocumentBytes = 10'000;
constexpr EpochSeconds kNinetyDays = 90 * 86'400;
constexpr int kFillers = 4;
constexpr int kReaders = 1'000;
constexpr int kWriters = 100;
constexpr int kHttpWriters = 32;
constexpr int kLargeDocuments = 60;
constexpr int kLargeReaders = 4;
constexpr size_t kLargeBytes = 10'000'000;

constexpr char kHelp[] =
    "Documents in a folder with the embedded tables as their cache: a get, the first page of "
    "ninety\n"
    "days, all of them, and 1,000 readers beside 100 writers; the same straight from the folder.\n"
    "Then pages, ranges and puts over HTTP, and the memory for large pages.\n"
    "\n"
    "  bench_documents                   27,000 documents of 10 KB, about a minute\n"
    "  bench_documents --documents 1000  fewer of them\n"
    "  bench_documents --seconds 0.5     quicker and rougher\n"
    "  bench_documents --rounds 1        each once\n"
    "  bench_documents --keep FOLDER     fills it unless it is there, and leaves it\n";

// Files without syncs, for filling the store, which is not measured.
class UnsyncedFiles final : public directory::FileOps {
 public:
  explicit UnsyncedFiles(const std::string& folder)
      : root_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    CHECK(root_.is_open());
  }

  Result<Descriptor> Create(const std::string& path) override { return system_.Create(path); }
  Status Write(const Descriptor& file, std::string_view bytes) override {
    return system_.Write(file, bytes);
  }
  Status SetRecord(const Descriptor& file, std::string_view record,
                   std::chrono::milliseconds modified) override {
    return system_.SetRecord(file, record, modified);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    return system_.Rename(from, to);
  }
  Status Remove(const std::string& path) override { return system_.Remove(path); }
  Result<bool> MakeFolder(const std::string& path) override { return system_.MakeFolder(path); }
  Result<bool> RemoveFolder(const std::string& path) override { return system_.RemoveFolder(path); }
  Status Sync(const Descriptor&) override { return Done(); }
  Status SyncFolder(const std::string&) override { return Done(); }
  Status SyncAll() override { return Done(); }

 private:
  const Descriptor root_;
  directory::SystemFileOps system_{&root_};
};

enum class Purpose { kFill, kMeasure };

class Store {
 public:
  Store(const std::string& folder, uint64_t count, Purpose purpose) : count_(count) {
    const bool fills = purpose == Purpose::kFill;
    tables_ = Must(
        embedded::EmbeddedTables::Open({.folder = folder,
                                        .durability = fills ? embedded::Durability::kEverySecond
                                                            : embedded::Durability::kSynced}));
    const std::string objects = folder + "/objects";
    std::filesystem::create_directories(objects);
    if (fills) files_ = std::make_unique<UnsyncedFiles>(objects);
    objects_ = Must(directory::DirectoryObjects::Open(objects, clock_, random_, files_.get()));
    documents_ = Must(Documents::Open(OptionsOfTheProgram(), tables_.get(), objects_.get(),
                                      {.clock = clock_,
                                       .random = random_,
                                       .sleeper = sleeper_,
                                       .logger = logger_,
                                       .metrics = metrics_}));
  }

  static documents::DocumentsOptions OptionsOfTheProgram() { return {.limits_calls = false}; }
  static std::string IdOf(uint64_t number) { return fmt::format("CHG-{:06}", number); }

  // The times of creation are spread over ninety days, less the hours that the benchmark may take.
  Document Make(uint64_t number, int version = 1, size_t size_bytes = kDocumentBytes) const {
    const auto age = static_cast<EpochSeconds>(number % count_) * (kNinetyDays - 4 * 3'600) /
                     static_cast<EpochSeconds>(count_);
    std::string json = fmt::format(
        R"({{"object_type":"change","changeId":"{}","changeTitle":"Replace the pumps of berth {}",)"
        R"("status":"submitted","createdAt":{},"version":{},"customers":["hts"],"plan":")",
        IdOf(number), number % 100, start_ - 3'600 - age, version);
    constexpr std::string_view kPlan = "Drain the basin, lift the old pump, set the new one. ";
    while (json.size() + kPlan.size() + 2 < size_bytes) json += kPlan;
    return Must(Document::Parse(json + R"("})"));
  }

  // Writes through the cache, and then makes the run over all objects that ranges rely on.
  void Fill(size_t size_bytes = kDocumentBytes) {
    std::atomic<uint64_t> next = 0;
    std::vector<std::jthread> threads;
    for (int i = 0; i < kFillers; ++i) {
      threads.emplace_back([&] {
        for (uint64_t number; (number = next++) < count_;) {
          MustSucceed(documents_->Write(Forever(), {.document = Make(number, 1, size_bytes)}));
          if (number % 1'000 == 0) Show("filled", number);
        }
      });
    }
    threads.clear();
    const auto report = MustSucceed(
        documents_->Backfill(Forever(), {.progress = [](const documents::WalkProgress& progress) {
                               Show("checked", progress.checked);
                             }}));
    CHECK(report.marked && report.checked == count_);
    fmt::print(stderr, "\r{:40}\r", "");
  }

  template <typename T>
  static T MustSucceed(Result<T> result) {
    if (!result) {
      fmt::print(stderr, "bench: {}\n", result.error().message);
      std::exit(1);
    }
    return *std::move(result);
  }

  // On the calling thread.
  Result<std::optional<documents::ReadReply>> Read(const std::string& id) {
    const auto run_here = [](const std::function<void()>& work) {
      work();
      return true;
    };
    return documents_->GetLater(Forever(), id, run_here).Wait();
  }

  documents::Context Forever() const {
    return {.deadline = Deadline::After(clock_, std::chrono::hours(1))};
  }
  documents::RangeQuery NinetyDays(size_t limit) const {
    return {.from = start_ - kNinetyDays + 3'600, .to = start_, .limit = limit};
  }
  // The number of documents on all pages.
  size_t ReadRange() {
    documents::RangeQuery query = NinetyDays(documents::kMaxPage);
    for (size_t found = 0;;) {
      const auto page = MustSucceed(documents_->Range(Forever(), query, documents::Beyond::kFlag));
      CHECK(page.coverage.complete);
      found += page.documents.size();
      if (!page.last) return found;
      query.after = page.last;
    }
  }
  // Reads the object, without the cache.
  std::string ReadObject(const std::string& id) {
    const auto object = Must(objects_->Open("archive/" + id + ".json"));
    return Must(object->Read(0, object->info().size));
  }

  uint64_t count() const { return count_; }
  Documents& documents() { return *documents_; }
  objects::Objects& objects() { return *objects_; }
  tables::Tables& tables() { return *tables_; }
  Random& random() { return random_; }

 private:
  static void Show(std::string_view what, uint64_t count) {
    fmt::print(stderr, "\r{} {:>8}", what, count);
  }

  const uint64_t count_;
  SystemClock clock_;
  SystemRandom random_;
  SystemSleeper sleeper_;
  std::ostringstream log_;
  Logger logger_{{.level = LogLevel::kError}, clock_, &log_};
  Metrics metrics_;
  const EpochSeconds start_ = clock_.NowSeconds();
  std::unique_ptr<embedded::EmbeddedTables> tables_;
  std::unique_ptr<UnsyncedFiles> files_;  // Null: the system's.
  std::unique_ptr<objects::Objects> objects_;
  std::unique_ptr<Documents> documents_;
};

// The processor time of this thread, which does not depend on the load of the machine.
double ProcessorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

struct Times {
  double median_ms = 0;
  double p99_ms = 0;
  double processor_ms = 0;  // On average.
};

// Measures calls for at least so many seconds, and at least ten calls.
Times Measure(double seconds, const std::function<void()>& call) {
  std::vector<double> taken;
  const double start = Seconds();
  const double processor_start = ProcessorSeconds();
  while (taken.size() < 10 || Seconds() - start < seconds) {
    const double before = Seconds();
    call();
    taken.push_back((Seconds() - before) * 1'000);
  }
  const double processor_ms = (ProcessorSeconds() - processor_start) * 1'000;
  std::sort(taken.begin(), taken.end());
  return {.median_ms = taken[taken.size() / 2],
          .p99_ms = taken[taken.size() * 99 / 100],
          .processor_ms = processor_ms / static_cast<double>(taken.size())};
}

// Runs both ways in turns. The ratio says how many times faster the cache is.
struct Race {
  std::string name;
  std::function<void()> ours;
  std::function<void()> folder;
  double goal_ms = 0;  // For the 99th percentile.
};

bool Run(const Settings& settings, const Race& race) {
  std::vector<double> medians;
  std::vector<double> percentiles;
  std::vector<double> folders;
  std::vector<double> ratios;
  for (int round = 0; round < settings.rounds; ++round) {
    const Times folder = Measure(settings.seconds, race.folder);
    const Times ours = Measure(settings.seconds, race.ours);
    medians.push_back(ours.median_ms);
    percentiles.push_back(ours.p99_ms);
    folders.push_back(folder.median_ms);
    ratios.push_back(folder.median_ms / ours.median_ms);
  }
  const bool met = Median(percentiles) < race.goal_ms;
  fmt::print("{:<36} {:>9.3f} {:>9.3f} {:>11.3f} {:>7.1f}  p99 < {:.0f}: {}\n", race.name,
             Median(medians), Median(percentiles), Median(folders), Median(ratios), race.goal_ms,
             met ? "met" : "MISSED");
  std::fflush(stdout);
  return met;
}

// Finds a page or a whole range without a cache: every object is read, because only its content has
// the time of creation.
void ScanFolder(Store* store) {
  for (std::string after;;) {
    const auto page = Must(store->objects().List({.prefix = "archive/", .after = after}));
    for (const objects::ObjectInfo& info : page.objects) {
      const auto object = Must(store->objects().Open(info.key));
      const auto document = Document::Parse(Must(object->Read(0, info.size)));
      CHECK(document.has_value());
    }
    if (!page.more) return;
    after = page.objects.back().key;
  }
}

bool MeasureReads(const Settings& settings, Store* store) {
  const auto any = [&] { return Store::IdOf(store->random().Next() % store->count()); };
  bool met = Run(settings,
                 {.name = "get, ms",
                  .ours =
                      [&] {
                        const auto reply = Store::MustSucceed(store->Read(any()));
                        CHECK(reply && reply->source == documents::ReadSource::kCache);
                      },
                  .folder = [&] { CHECK(store->ReadObject(any()).size() > kDocumentBytes - 100); },
                  .goal_ms = kGetGoalMs});
  // One walk over the folder is enough, and it is used for both comparisons.
  const double before = Seconds();
  ScanFolder(store);
  const double scan_ms = (Seconds() - before) * 1'000;
  const auto bound = [&](const std::string& name, double goal, const std::function<void()>& call) {
    const Times times = Measure(settings.seconds * settings.rounds, call);
    const bool held = times.median_ms < goal;
    fmt::print("{:<36} {:>9.3f} {:>9.3f} {:>11.3f} {:>7.1f}  < {:.0f}: {}\n", name, times.median_ms,
               times.p99_ms, scan_ms, scan_ms / times.median_ms, goal, held ? "met" : "MISSED");
    fmt::print("{:<36} {:>9.3f}\n", "  processor time of it", times.processor_ms);
    std::fflush(stdout);
    return held;
  };
  met &= bound("first page of 90 days, ms", kPageGoalMs, [&] {
    const auto page = Store::MustSucceed(store->documents().Range(
        store->Forever(), store->NinetyDays(documents::kDefaultPage), documents::Beyond::kFlag));
    CHECK(page.documents.size() == std::min<size_t>(documents::kDefaultPage, store->count()));
  });
  met &= bound(fmt::format("all {} of 90 days, ms", store->count()), kRangeGoalMs,
               [&] { CHECK(store->ReadRange() == store->count()); });
  return met;
}

// Many threads at once, each with its own document.
bool MeasureCrowd(Store* store) {
  std::atomic<int> failures = 0;
  std::latch start(kReaders + kWriters + 1);
  std::vector<std::jthread> threads;
  for (int i = 0; i < kReaders + kWriters; ++i) {
    threads.emplace_back([&, i] {
      const uint64_t number = static_cast<uint64_t>(i) % store->count();
      const Document document = store->Make(number, 2);
      start.arrive_and_wait();
      const bool is_well =
          i < kReaders
              ? store->Read(Store::IdOf(number))->has_value()
              : store->documents().Write(store->Forever(), {.document = document}).has_value();
      if (!is_well) ++failures;
    });
  }
  start.arrive_and_wait();
  const double before = Seconds();
  threads.clear();
  fmt::print("{:<36} {:>9.1f} {:>9} {:>11} {:>7}  no error: {}\n",
             fmt::format("{} reads beside {} writes, ms", kReaders, kWriters),
             (Seconds() - before) * 1'000, "", "", "", failures == 0 ? "met" : "MISSED");
  return failures == 0;
}

// ---- Over HTTP ----

api::ServiceOptions WithDocuments() {
  api::ServiceOptions options;
  options.documents = Store::OptionsOfTheProgram();
  // Without the comparison at the start, so that ranges come from the cache at once.
  options.background = false;
  return options;
}

// A page of a range, and its cursor; empty at the end.
struct HttpPage {
  size_t bytes = 0;
  std::string cursor;
};

HttpPage ReadPage(KeepAliveClient* client, const documents::RangeQuery& range,
                  const std::string& cursor) {
  constexpr std::string_view kCursor = R"("cursor":")";
  const std::string& answer =
      client->Get(fmt::format("/api/v1/documents?from={}&to={}&limit={}&beyond=flag{}", range.from,
                              range.to, range.limit, cursor.empty() ? "" : "&cursor=" + cursor));
  CHECK(answer.starts_with("HTTP/1.1 200"));
  const size_t at = answer.rfind(kCursor);
  if (at == std::string::npos) return {.bytes = answer.size()};
  const size_t from = at + kCursor.size();
  return {.bytes = answer.size(), .cursor = answer.substr(from, answer.find('"', from) - from)};
}

// The processor time of the whole process, with the client.
double ProcessSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

bool MeasureHttpReads(const Settings& settings, const std::string& folder, Store* store) {
  const RunningService service(folder, &store->tables(), WithDocuments(), &store->objects());
  KeepAliveClient client = service.Connect();
  const documents::RangeQuery range = store->NinetyDays(documents::kMaxPage);
  const auto bound = [&](const std::string& name, double goal, const std::function<void()>& call) {
    const double before = ProcessSeconds();
    int calls = 0;
    const Times times = Measure(settings.seconds * settings.rounds, [&] {
      call();
      ++calls;
    });
    const bool held = times.median_ms < goal;
    fmt::print("{:<36} {:>9.3f} {:>9.3f} {:>11} {:>7}  < {:.0f}: {}\n", name, times.median_ms,
               times.p99_ms, "", "", goal, held ? "met" : "MISSED");
    fmt::print("{:<36} {:>9.3f}\n", "  processor time, with the client",
               (ProcessSeconds() - before) * 1'000 / calls);
    std::fflush(stdout);
    return held;
  };
  bool met = bound("first page of 1000 over HTTP, ms", kHttpPageGoalMs,
                   [&] { CHECK(ReadPage(&client, range, "").bytes > 0); });
  met &= bound(fmt::format("all {} over HTTP, ms", store->count()), kHttpRangeGoalMs, [&] {
    size_t bytes = 0;
    std::string cursor;
    do {
      HttpPage page = ReadPage(&client, range, cursor);
      bytes += page.bytes;
      cursor = std::move(page.cursor);
    } while (!cursor.empty());
    CHECK(bytes > store->count() * (kDocumentBytes - 100));
  });
  return met;
}

// New documents, each durable before it is answered.
bool MeasurePuts(const Settings& settings) {
  const Folder folder("documents-puts");
  Store store(folder.path(), 27'000, Purpose::kMeasure);
  const RunningService service(folder.path(), &store.tables(), WithDocuments(), &store.objects());
  Connections writers(PortOf(service.address()), kHttpWriters, IsWholeHttp);
  uint64_t number = 0;
  const double rate =
      writers.Rate(settings.seconds * settings.rounds, [&](size_t, const std::string& answer) {
        CHECK(answer.empty() || answer.starts_with("HTTP/1.1 200"));
        const Document document = store.Make(number++);
        return fmt::format(
            "PUT /api/v1/documents/{} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n"
            "Content-Length: {}\r\n\r\n{}",
            document.id(), service.token(), document.json().size(), document.json());
      });
  const double seconds = 27'000 / rate;
  const bool met = seconds < kPutsGoalSeconds;
  fmt::print("{:<36} {:>9.1f} {:>9} {:>11} {:>7}  < {:.0f}: {}\n",
             fmt::format("27000 puts over HTTP, s ({:.0f}/s)", rate), seconds, "", "", "",
             kPutsGoalSeconds, met ? "met" : "MISSED");
  return met;
}

// The most memory that the process had since the last call with `reset`.
double PeakMegabytes(bool reset = false) {
  if (reset) std::ofstream("/proc/self/clear_refs") << 5;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) / 1'024;
  }
  return 0;
}

// Several clients read pages of large documents at once. The answer is what the process needs for
// them, with the clients, which have each answer in memory once.
bool MeasureLargePages() {
  const Folder folder("documents-large");
  Store(folder.path(), kLargeDocuments, Purpose::kFill).Fill(kLargeBytes);
  Store store(folder.path(), kLargeDocuments, Purpose::kMeasure);
  const RunningService service(folder.path(), &store.tables(), WithDocuments(), &store.objects());
  const documents::RangeQuery range = store.NinetyDays(documents::kMaxPage);
  const double before = PeakMegabytes(true);
  std::vector<std::jthread> readers;
  for (int i = 0; i < kLargeReaders; ++i) {
    readers.emplace_back([&, client = std::make_shared<KeepAliveClient>(service.Connect())] {
      std::string cursor;
      do {
        cursor = ReadPage(client.get(), range, cursor).cursor;
      } while (!cursor.empty());
    });
  }
  readers.clear();
  const double used = PeakMegabytes() - before;
  const bool met = used < kLargePagesGoalMb;
  fmt::print("{:<36} {:>9.0f} {:>9} {:>11} {:>7}  < {:.0f}: {}\n", "4 x 60 documents of 10 MB, MB",
             used, "", "", "", kLargePagesGoalMb, met ? "met" : "MISSED");
  return met;
}

int Main(int argc, char** argv) {
  const Flags flags(argc, argv, kHelp, {"--seconds", "--rounds", "--keep", "--documents"});
  const Settings settings = flags.MeasuredFor();
  const uint64_t count = flags.Count("--documents", 27'000);
  const std::string kept = flags.Text("--keep");
  const Folder temporary("documents");
  const std::string folder = kept.empty() ? temporary.path() : kept;
  if (!std::filesystem::exists(folder)) Store(folder, count, Purpose::kFill).Fill();
  Store store(folder, count, Purpose::kMeasure);
  fmt::print("{:<36} {:>9} {:>9} {:>11} {:>7}  {}\n", "", "median", "p99", "the folder", "ratio",
             "goal");
  bool met = MeasureReads(settings, &store);
  met &= MeasureCrowd(&store);
  met &= MeasureHttpReads(settings, folder, &store);
  met &= MeasurePuts(settings);
  met &= MeasureLargePages();
  fmt::print("{}\n", met ? "all goals met" : "some goals MISSED");
  return 0;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
