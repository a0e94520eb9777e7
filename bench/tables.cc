// Compares the embedded tables with plain RocksDB that does the same work without their semantics:
//   bench_tables                    all comparisons, about two minutes
//   bench_tables --grow 1000000     the cost as a table grows, up to that many items
//   bench_tables --seconds 0.2      quicker and rougher
#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/random.h"
#include "bench/flags.h"
#include "bench/harness.h"
#include "bench/raw_store.h"
#include "item/encoding.h"
#include "tables/embedded/embedded_tables.h"
#include "tables/embedded/row_key.h"

namespace tidemark::bench {
namespace {

using embedded::Durability;
using embedded::EmbeddedTables;
using item::Item;
using item::Number;
using item::String;
using item::Type;

constexpr int kInFlight = 64;
// At the largest size of --grow.
constexpr int kGetsGoal = 120'000;
constexpr int kIncrementsGoal = 50'000;
constexpr int kSmallItems = 100'000;
constexpr int kLargeItems = 27'000;
constexpr size_t kLargeBytes = 10'000;

std::unique_ptr<EmbeddedTables> OpenTables(const std::string& folder, Durability durability) {
  return Must(EmbeddedTables::Open({.folder = folder, .durability = durability}));
}

void CreateTable(EmbeddedTables* tables, const std::string& name) {
  Must(tables->CreateTable({.table = name,
                            .keys = {.partition = {"id", Type::kString},
                                     .sort = item::KeyAttribute{"at", Type::kNumber}}}));
}

Item KeyOf(uint64_t id, int64_t at) {
  return {{"id", fmt::format("user-{:08}", id)}, {"at", Number::FromInt(at)}};
}

Item SmallItem(uint64_t id, int64_t at) {
  Item item = KeyOf(id, at);
  item.Set("name", fmt::format("name of user {}", id));
  item.Set("count", Number::FromInt(static_cast<int64_t>(id % 1000)));
  item.Set("active", true);
  return item;
}

std::string RawKey(const Item& item) {
  const item::Key key{.partition = *item.Find("id"), .sort = *item.Find("at")};
  return embedded::ItemRowKey(1, key);
}

std::string RawValue(const Item& item) {
  std::string value;
  item::EncodeItem(item, &value);
  return value;
}

// ---- Counters ----

tables::UpdateRequest Increment(int client) {
  return {.table = "counts",
          .key = KeyOf(static_cast<uint64_t>(client), 0),
          .update = "ADD n :one",
          .values = {{":one", Number::FromInt(1)}}};
}

// Reads, changes and writes the same bytes directly.
void RawIncrement(RawStore* store, uint64_t client, rocksdb::WriteBatch* batch) {
  const Item key = KeyOf(client, 0);
  const std::string row = RawKey(key);
  std::string value;
  int64_t count = 0;
  if (store->Get(row, &value)) std::memcpy(&count, value.data(), sizeof count);
  ++count;
  value.assign(64, '\0');
  std::memcpy(value.data(), &count, sizeof count);
  CHECK(batch->Put(row, value).ok());
}

Work RawIncrements(RawStore* store, int batch_size, bool sync) {
  return [=] {
    rocksdb::WriteBatch batch;
    for (int i = 0; i < batch_size; ++i) RawIncrement(store, static_cast<uint64_t>(i), &batch);
    store->Write(&batch, sync);
    return static_cast<uint64_t>(batch_size);
  };
}

std::function<double()> Blocking(EmbeddedTables* tables, const Settings& settings, int clients) {
  return [=] {
    return ParallelRate(settings.seconds, clients,
                        [=](int client) { Must(tables->Update(Increment(client))); });
  };
}

// 64 updates are submitted, and each that ends is followed by the next.
double InFlightUpdates(EmbeddedTables* tables, double seconds,
                       const std::function<tables::UpdateRequest(uint64_t number)>& next) {
  return InFlightRate(seconds, kInFlight, [&](uint64_t number, std::function<void()> done) {
    tables->Submit(next(number), std::nullopt)
        .Then([done = std::move(done)](Result<tables::WriteReply> reply) {
          Must(std::move(reply));
          done();
        });
  });
}

std::function<double()> InFlight(EmbeddedTables* tables, const Settings& settings) {
  std::vector<tables::UpdateRequest> requests;
  for (int client = 0; client < kInFlight; ++client) requests.push_back(Increment(client));
  return [=] {
    return InFlightUpdates(tables, settings.seconds,
                           [&](uint64_t number) { return requests[number % kInFlight]; });
  };
}

bool CompareCounters(const Settings& settings) {
  Folder raw_folder("raw");
  Folder synced_folder("synced");
  Folder relaxed_folder("relaxed");
  RawStore raw(raw_folder.path());
  auto synced = OpenTables(synced_folder.path(), Durability::kSynced);
  auto relaxed = OpenTables(relaxed_folder.path(), Durability::kEverySecond);
  CreateTable(synced.get(), "counts");
  CreateTable(relaxed.get(), "counts");
  const auto by_hand = [&](int batch_size, bool sync) {
    return [&raw, &settings, batch_size, sync] {
      return Rate(settings.seconds, RawIncrements(&raw, batch_size, sync));
    };
  };
  bool met = Compare(settings, {.name = "increment, synced, 1 in flight",
                                .unit = "a second",
                                .ours = Blocking(synced.get(), settings, 1),
                                .raw = by_hand(1, true)});
  met &= Compare(settings, {.name = "increment, synced, 64 in flight",
                            .unit = "a second",
                            .ours = InFlight(synced.get(), settings),
                            .raw = by_hand(kInFlight, true),
                            .goal_ratio = 0.7});
  met &= Compare(settings, {.name = "increment, synced, 64 threads",
                            .unit = "a second",
                            .ours = Blocking(synced.get(), settings, kInFlight),
                            .raw = by_hand(kInFlight, true)});
  met &= Compare(settings, {.name = "increment, every second, 1 in flight",
                            .unit = "a second",
                            .ours = Blocking(relaxed.get(), settings, 1),
                            .raw = by_hand(1, false)});
  met &= Compare(settings, {.name = "increment, every second, 64 in flight",
                            .unit = "a second",
                            .ours = InFlight(relaxed.get(), settings),
                            .raw = by_hand(kInFlight, false),
                            .goal_ours = 200'000});
  return met;
}

// ---- Small items ----

void Load(EmbeddedTables* tables, const std::string& table, uint64_t from, uint64_t to) {
  constexpr uint64_t kBatch = 25;
  for (uint64_t first = from; first < to; first += kBatch) {
    tables::BatchWriteRequest request;
    auto& actions = request.tables[table];
    for (uint64_t i = first; i < std::min(to, first + kBatch); ++i) {
      actions.push_back(
          tables::BatchWriteRequest::Put{SmallItem(i / 10, static_cast<int64_t>(i % 10))});
    }
    Must(tables->BatchWrite(request));
  }
}

Work ConditionalPuts(EmbeddedTables* tables, uint64_t* next) {
  return [=] {
    Must(tables->Put({.table = "items",
                      .item = SmallItem((*next)++, 0),
                      .condition = "attribute_not_exists(id)"}));
    return uint64_t{1};
  };
}

Work RawConditionalPuts(RawStore* store, uint64_t* next) {
  return [=] {
    const Item item = SmallItem((*next)++, 0);
    const std::string key = RawKey(item);
    std::string value;
    if (!store->Get(key, &value)) store->Put(key, RawValue(item), false);
    return uint64_t{1};
  };
}

Work Gets(EmbeddedTables* tables, Random* random) {
  return [=] {
    const uint64_t i = random->Below(kSmallItems);
    auto item =
        Must(tables->Get({.table = "items", .key = KeyOf(i / 10, static_cast<int64_t>(i % 10))}));
    CHECK(item.has_value());
    return uint64_t{1};
  };
}

Work RawGets(RawStore* store, Random* random) {
  return [=] {
    const uint64_t i = random->Below(kSmallItems);
    std::string value;
    CHECK(store->Get(RawKey(KeyOf(i / 10, static_cast<int64_t>(i % 10))), &value));
    return uint64_t{1};
  };
}

Work Queries(EmbeddedTables* tables, Random* random) {
  return [=] {
    const Item key = KeyOf(random->Below(kSmallItems / 10), 0);
    const auto page = Must(tables->Query(
        {.table = "items", .key_condition = "id = :id", .values = {{":id", *key.Find("id")}}}));
    CHECK(page.count == 10);
    return uint64_t{1};
  };
}

Work RawQueries(RawStore* store, Random* random) {
  return [=] {
    const std::string first = RawKey(KeyOf(random->Below(kSmallItems / 10), 0));
    const std::unique_ptr<rocksdb::Iterator> rows(store->database().NewIterator({}));
    size_t bytes = 0;
    int count = 0;
    for (rows->Seek(first); rows->Valid() && count < 10; rows->Next(), ++count) {
      bytes += rows->value().size();
    }
    CHECK(count == 10 && bytes > 0);
    return uint64_t{1};
  };
}

bool CompareSmallItems(const Settings& settings) {
  Folder raw_folder("raw");
  Folder folder("small");
  RawStore raw(raw_folder.path());
  auto tables = OpenTables(folder.path(), Durability::kEverySecond);
  CreateTable(tables.get(), "items");
  Load(tables.get(), "items", 0, kSmallItems);
  for (uint64_t i = 0; i < kSmallItems; ++i) {
    const Item item = SmallItem(i / 10, static_cast<int64_t>(i % 10));
    raw.Put(RawKey(item), RawValue(item), false);
  }
  SeededRandom random(1);
  const auto rate = [&](const Work& work) {
    return [&settings, work] { return Rate(settings.seconds, work); };
  };
  bool met = Compare(settings, {.name = "get",
                                .unit = "a second",
                                .ours = rate(Gets(tables.get(), &random)),
                                .raw = rate(RawGets(&raw, &random)),
                                .goal_ratio = 0.5});
  met &= Compare(settings, {.name = "query of 10",
                            .unit = "a second",
                            .ours = rate(Queries(tables.get(), &random)),
                            .raw = rate(RawQueries(&raw, &random))});
  uint64_t next_ours = kSmallItems;
  uint64_t next_raw = kSmallItems;
  met &= Compare(settings, {.name = "conditional put, every second",
                            .unit = "a second",
                            .ours = rate(ConditionalPuts(tables.get(), &next_ours)),
                            .raw = rate(RawConditionalPuts(&raw, &next_raw))});
  return met;
}

// ---- Large items ----

uint64_t ScanSegment(EmbeddedTables* tables, uint32_t segment, uint32_t total) {
  tables::ScanRequest request{.table = "items", .segment = segment, .total_segments = total};
  uint64_t count = 0;
  do {
    tables::Page page = Must(tables->Scan(request));
    count += page.count;
    request.start_after = std::move(page.last);
  } while (request.start_after);
  return count;
}

double ScanMilliseconds(EmbeddedTables* tables, uint32_t segments) {
  const double start = Seconds();
  std::atomic<uint64_t> count = 0;
  std::vector<std::thread> threads;
  for (uint32_t segment = 1; segment < segments; ++segment) {
    threads.emplace_back([&, segment] { count += ScanSegment(tables, segment, segments); });
  }
  count += ScanSegment(tables, 0, segments);
  for (std::thread& thread : threads) thread.join();
  CHECK(count == kLargeItems);
  return (Seconds() - start) * 1e3;
}

double RawScanMilliseconds(RawStore* store) {
  const double start = Seconds();
  rocksdb::ReadOptions read;
  read.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> rows(store->database().NewIterator(read));
  std::string copy;
  int count = 0;
  for (rows->SeekToFirst(); rows->Valid(); rows->Next(), ++count) copy = rows->value().ToString();
  CHECK(count == kLargeItems);
  return (Seconds() - start) * 1e3;
}

bool CompareScan(const Settings& settings) {
  Folder raw_folder("raw");
  Folder folder("large");
  {
    RawStore raw(raw_folder.path());
    auto tables = OpenTables(folder.path(), Durability::kEverySecond);
    CreateTable(tables.get(), "items");
    SeededRandom random(2);
    for (uint64_t i = 0; i < kLargeItems; ++i) {
      Item item = KeyOf(i, 0);
      item.Set("body", random.Hex(kLargeBytes / 2));
      Must(tables->Put({.table = "items", .item = item}));
      raw.Put(RawKey(item), RawValue(item), false);
    }
  }
  // After reopening, all data is in files, and the files are in the page cache.
  RawStore raw(raw_folder.path());
  auto tables = OpenTables(folder.path(), Durability::kEverySecond);
  std::vector<double> by_hand;
  std::vector<double> serial;
  std::vector<double> parallel;
  for (int round = 0; round < 2 * settings.rounds + 1; ++round) {
    by_hand.push_back(RawScanMilliseconds(&raw));
    serial.push_back(ScanMilliseconds(tables.get(), 1));
    parallel.push_back(ScanMilliseconds(tables.get(), 2));
  }
  fmt::print("{:<44} {:>12.1f} {:>12.1f} {:>7.2f}\n", "scan of 27,000 items of 10 KB, ms",
             Median(serial), Median(by_hand), Median(by_hand) / Median(serial));
  return Bound("the same in 2 segments", "ms", Median(parallel), 150);
}

// ---- The process ----

double ResidentMegabytes() {
  std::ifstream file("/proc/self/statm");
  double total_pages = 0;
  double resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * 4096 / 1e6;
}

bool MeasureProcess() {
  Folder folder("idle");
  OpenTables(folder.path(), Durability::kSynced).reset();
  const double start = Seconds();
  auto tables = OpenTables(folder.path(), Durability::kSynced);
  const double opened_ms = (Seconds() - start) * 1e3;
  CreateTable(tables.get(), "items");
  const bool met = Bound("open of an empty folder", "ms", opened_ms, 50);
  return Bound("idle memory with one table", "MB", ResidentMegabytes(), 40) && met;
}

// ---- Growth ----

// Right after a bulk load RocksDB is still merging files. Returns the number of sorted runs when it
// has ended.
uint64_t AwaitCompaction(const EmbeddedTables& tables) {
  while (!tables.Shape().settled) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return tables.Shape().sorted_runs;
}

// The rates of one size of the table, at items chosen at random.
class SizedTable {
 public:
  SizedTable(EmbeddedTables* tables, uint64_t items, double seconds)
      : tables_(tables), items_(items), seconds_(seconds) {}

  double Gets() {
    return Rate(seconds_, [&] {
      Must(tables_->Get({.table = "items", .key = AnyKey()}));
      return uint64_t{1};
    });
  }
  double QueriesOfTen() {
    return Rate(seconds_, [&] {
      Must(tables_->Query({.table = "items",
                           .key_condition = "id = :id",
                           .values = {{":id", *AnyKey().Find("id")}}}));
      return uint64_t{1};
    });
  }
  double IncrementsOneByOne() {
    return Rate(seconds_, [&] {
      Must(tables_->Update(AnyIncrement()));
      return uint64_t{1};
    });
  }
  double IncrementsInFlight() {
    return InFlightUpdates(tables_, seconds_, [&](uint64_t) { return AnyIncrement(); });
  }
  // The same few partitions again and again, as for people who sign in.
  double Partitions() {
    return Rate(seconds_, [&] {
      const Item key = KeyOf(random_.Below(1'000), 0);
      Must(tables_->Query({.table = "items", .partition = item::Attribute{"id", *key.Find("id")}}));
      return uint64_t{1};
    });
  }

 private:
  Item AnyKey() {
    const uint64_t i = random_.Below(items_);
    return KeyOf(i / 10, static_cast<int64_t>(i % 10));
  }
  tables::UpdateRequest AnyIncrement() {
    return {.table = "items",
            .key = AnyKey(),
            .update = "ADD n :one",
            .values = {{":one", Number::FromInt(1)}}};
  }

  EmbeddedTables* const tables_;
  const uint64_t items_;
  const double seconds_;
  SeededRandom random_{3};
};

bool PrintCurve(const Settings& settings, uint64_t most) {
  Folder folder("growing");
  auto tables = OpenTables(folder.path(), Durability::kEverySecond);
  CreateTable(tables.get(), "items");
  fmt::print("{:>10} {:>10} {:>10} {:>14} {:>12} {:>16} {:>13} {:>12}\n", "items", "load/s",
             "get/s", "query of 10/s", "increment/s", "64 in flight/s", "partition/s",
             "sorted runs");
  uint64_t loaded = 0;
  bool met = true;
  for (uint64_t items = 10'000; items <= most; items *= 10) {
    const double start = Seconds();
    Load(tables.get(), "items", loaded, items);
    const double load_rate = static_cast<double>(items - loaded) / (Seconds() - start);
    loaded = items;
    const uint64_t sorted_runs = AwaitCompaction(*tables);
    SizedTable table(tables.get(), items, settings.seconds);
    const auto median = [&](auto measure) {
      std::vector<double> rates;
      for (int round = 0; round < settings.rounds; ++round) rates.push_back(measure());
      return Median(std::move(rates));
    };
    const double gets = median([&] { return table.Gets(); });
    const double queries = table.QueriesOfTen();
    const double one_by_one = table.IncrementsOneByOne();
    const double in_flight = median([&] { return table.IncrementsInFlight(); });
    fmt::print("{:>10} {:>10.0f} {:>10.0f} {:>14.0f} {:>12.0f} {:>16.0f} {:>13.0f} {:>12}\n", items,
               load_rate, gets, queries, one_by_one, in_flight, table.Partitions(), sorted_runs);
    std::fflush(stdout);
    met = gets >= kGetsGoal && in_flight >= kIncrementsGoal;
  }
  fmt::print("get >= {}/s and increments, 64 in flight, >= {}/s at the largest size: {}\n",
             kGetsGoal, kIncrementsGoal, met ? "met" : "MISSED");
  return met;
}

constexpr char kHelp[] =
    "usage: bench_tables [--seconds S] [--grow N]\n"
    "  --seconds S   how long each measurement takes (default 2)\n"
    "  --grow N      instead, the cost at 10,000, 100,000, … up to N items\n"
    "  example: bench_tables --grow 1000000\n"
    "Data goes to folders bench-data-* below the current one, removed at the end.\n";

int Main(int argc, char** argv) {
  const Flags flags(argc, argv, kHelp, {"--seconds", "--rounds", "--grow"});
  const Settings settings = flags.MeasuredFor();
  if (const uint64_t grow = flags.Count("--grow", 0); grow > 0) {
    return PrintCurve(settings, grow) ? 0 : 1;
  }
  PrintHead();
  // This is measured first, while the process is still small.
  bool met = MeasureProcess();
  met &= CompareCounters(settings);
  met &= CompareSmallItems(settings);
  met &= CompareScan(settings);
  fmt::print("{}\n", met ? "all goals met" : "some goals MISSED");
  return 0;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
