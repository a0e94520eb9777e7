#include "tables/embedded/embedded_tables.h"

#include <exception>
#include <functional>
#include <mutex>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "base/runtime.h"
#include "base/worker_pool.h"
#include "tables/embedded/catalog.h"
#include "tables/embedded/committer.h"
#include "tables/embedded/definition.h"
#include "tables/embedded/maintenance.h"
#include "tables/embedded/partition_cache.h"
#include "tables/embedded/read.h"
#include "tables/embedded/store.h"
#include "tables/embedded/streams.h"
#include "tables/embedded/transact.h"
#include "tables/embedded/validate.h"
#include "tables/embedded/verify.h"
#include "tables/embedded/walk.h"
#include "tables/embedded/write.h"
#include "tables/limits.h"

namespace tidemark::embedded {

namespace {

constexpr size_t kCopyCacheBytes = 8 << 20;

// Used where the options have a null pointer. The logger writes into a stream that drops
// everything.
struct Defaults {
  SystemClock clock;
  SystemRandom random;
  SystemSleeper sleeper;
  std::ostream nowhere{nullptr};
  Logger logger{{}, clock, &nowhere};
  Metrics metrics;
};

template <typename T>
T& Or(T* given, T& otherwise) {
  return given != nullptr ? *given : otherwise;
}

// The threads for submitted reads, which start with the first such read.
class Readers {
 public:
  Readers(size_t threads, size_t max_waiting)
      : options_{.threads = threads, .max_waiting = max_waiting} {}

  // False: too many are waiting, or the tables are being closed.
  [[nodiscard]] bool Submit(std::function<void()> read) {
    std::call_once(started_, [&] { pool_ = std::make_unique<WorkerPool>(options_); });
    return pool_->Submit(std::move(read));
  }
  void Stop() {
    if (pool_ != nullptr) pool_->Stop();
  }

 private:
  const WorkerPoolOptions options_;
  std::once_flag started_;
  std::unique_ptr<WorkerPool> pool_;
};

bool HasPassed(const std::optional<Deadline>& deadline) {
  return deadline && deadline->HasPassed();
}

Error NobodyWaits() {
  return {ErrorCode::kCancelled,
          "the read was not begun: its deadline had passed, or its caller had cancelled it"};
}

Error CannotRead() {
  return {
      ErrorCode::kUnavailable,
      "too many reads are waiting, or the tables are being closed; nothing was read, try later"};
}

}  // namespace

class EmbeddedTables::Engine {
 public:
  Engine(const Options& given, std::unique_ptr<Store> opened, std::unique_ptr<Catalog> loaded)
      : options(given),
        runtime{.clock = Or<const Clock>(given.clock, defaults.clock),
                .random = Or<Random>(given.random, defaults.random),
                .sleeper = defaults.sleeper,
                .logger = Or<const Logger>(given.logger, defaults.logger),
                .metrics = Or<Metrics>(given.metrics, defaults.metrics)},
        store(std::move(opened)),
        catalog(std::move(loaded)),
        metrics(&runtime.metrics),
        partitions(given.partition_cache_bytes),
        committer(store.get(), catalog.get(), &partitions, runtime.clock,
                  {.durability = given.durability, .working_set_bytes = given.working_set_bytes},
                  &metrics),
        maintenance(store.get(), catalog.get(), &committer, runtime, &metrics) {}

  // The table after a change of the catalog.
  Result<tables::TableDescription> Define(DefinitionChange change) {
    TRY(committer.Commit(&change));
    maintenance.Poke();
    const Definition& definition = change.definition();
    return catalog->Describe(definition.table ? *definition.table : *definition.dropped);
  }

  template <typename Reply, typename ChangeType>
  Later<Reply> Submit(std::unique_ptr<ChangeType> change, std::optional<Deadline> deadline) {
    auto [promise, later] = MakeLater<Reply>(deadline);
    ChangeType* decided = change.get();
    // Shared, because a std::function must be copyable and a Promise is not.
    auto answer = std::make_shared<Promise<Reply>>(std::move(promise));
    committer.Submit(std::move(change), [decided, answer](Status outcome) {
      if (!outcome.has_value()) return answer->Fulfil(std::move(outcome).error());
      answer->Fulfil(decided->TakeReply());
    });
    return std::move(later);
  }

  // Runs `read` on one of these threads.
  template <typename Reply, typename Read>
  Later<Reply> SubmitRead(Readers* threads, Read read, std::optional<Deadline> deadline) {
    auto [promise, later] = MakeLater<Reply>(deadline);
    auto answer = std::make_shared<Promise<Reply>>(std::move(promise));
    const bool taken = threads->Submit([answer, read = std::move(read)] {
      const bool in_time = !answer->cancelled() && !HasPassed(answer->deadline());
      try {
        answer->Fulfil(in_time ? read() : Result<Reply>(NobodyWaits()));
      } catch (const std::exception& exception) {
        // For example, no memory for a large page. This request fails, and the process goes on.
        answer->Fulfil(Error{ErrorCode::kInternal, exception.what()});
      }
    });
    if (!taken) answer->Fulfil(CannotRead());
    return std::move(later);
  }

  const Options options;
  Defaults defaults;
  const Runtime runtime;
  std::unique_ptr<Store> store;
  std::unique_ptr<Catalog> catalog;
  EngineMetrics metrics;
  // Declared so that the readers outlive the committer: while the committer ends, a callback of a
  // write may still submit a read. That read is refused.
  Readers readers{options.reading_threads, options.max_waiting_reads};
  Readers long_readers{options.long_reading_threads, options.max_waiting_reads};
  PartitionCache partitions;
  Committer committer;
  Maintenance maintenance;
};

EmbeddedTables::EmbeddedTables(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

Result<std::unique_ptr<EmbeddedTables>> EmbeddedTables::Open(Options options) {
  TRY(ValidateRegion(options.region));
  std::unique_ptr<Store> store = TRY(Store::Open(options));
  std::unique_ptr<Catalog> catalog = TRY(Catalog::Load(*store, options.region));
  auto engine = std::make_unique<Engine>(options, std::move(store), std::move(catalog));
  if (options.background && options.access == Access::kReadWrite) engine->maintenance.Run();
  return std::unique_ptr<EmbeddedTables>(new EmbeddedTables(std::move(engine)));
}

EmbeddedTables::~EmbeddedTables() {
  engine_->readers.Stop();
  engine_->long_readers.Stop();
  engine_->maintenance.Stop();
  // In the every-second mode, this puts on disk what was acknowledged in the last second. An error
  // is ignored: no caller is left to return it to.
  if (engine_->store->Writable().has_value()) (void)engine_->committer.SyncNow().has_value();
}

// ---- Tables ----

Result<tables::TableDescription> EmbeddedTables::CreateTable(
    const tables::CreateTableRequest& request) {
  return engine_->Define(DefinitionChange([&](Group* group) {
    return embedded::CreateTable(request, &engine_->runtime.random, group);
  }));
}

Result<tables::TableDescription> EmbeddedTables::DescribeTable(const std::string& table) {
  TRY(ValidateTableName(table));
  const TablePtr found = engine_->catalog->Find(table);
  if (found != nullptr) return engine_->catalog->Describe(*found);
  return Error{ErrorCode::kNotFound,
               fmt::format("Requested resource not found: Table: {} not found", table)};
}

Result<tables::TableDescription> EmbeddedTables::UpdateTable(
    const tables::UpdateTableRequest& request) {
  return engine_->Define(
      DefinitionChange([&](Group* group) { return embedded::UpdateTable(request, group); }));
}

Result<tables::TableDescription> EmbeddedTables::DeleteTable(const std::string& table) {
  auto deleted = TRY(engine_->Define(
      DefinitionChange([&](Group* group) { return embedded::DeleteTable(table, group); })));
  deleted.state = tables::TableState::kDeleting;
  return deleted;
}

Status EmbeddedTables::Writable() {
  TRY(engine_->store->Writable());
  return engine_->store->HasSpace();
}

Result<tables::ListTablesReply> EmbeddedTables::ListTables(
    const tables::ListTablesRequest& request) {
  if (request.limit < 1 || request.limit > tables::kMaxListedTables) {
    return Invalid(
        fmt::format("1 validation error detected: Value '{}' at 'limit' failed to satisfy "
                    "constraint: Member must have value between 1 and {}",
                    request.limit, tables::kMaxListedTables));
  }
  tables::ListTablesReply reply;
  for (const TablePtr& table : engine_->catalog->ListTables()) {
    if (request.after && table->name <= *request.after) continue;
    if (reply.tables.size() == request.limit) {
      reply.last = reply.tables.back();
      break;
    }
    reply.tables.push_back(table->name);
  }
  return reply;
}

Status EmbeddedTables::SetTimeToLive(const tables::SetTimeToLiveRequest& request) {
  TRY(engine_->Define(
      DefinitionChange([&](Group* group) { return embedded::SetTimeToLive(request, group); })));
  return Done{};
}

Status EmbeddedTables::Tag(const tables::TagRequest& request) {
  TRY(engine_->Define(
      DefinitionChange([&](Group* group) { return embedded::TagTable(request, group); })));
  return Done{};
}

Result<tables::Tags> EmbeddedTables::ListTags(const std::string& table) {
  TRY(ValidateTableName(table));
  const TablePtr found = TRY(engine_->catalog->Need(table));
  return found->tags;
}

// ---- Items ----

Result<std::optional<item::Item>> EmbeddedTables::Get(const tables::GetRequest& request) {
  return GetItem(*engine_->store, *engine_->catalog, request);
}

Result<tables::WriteReply> EmbeddedTables::Put(const tables::PutRequest& request) {
  WriteChange change(TRY(Prepare(request)));
  TRY(engine_->committer.Commit(&change));
  return change.TakeReply();
}

Result<tables::WriteReply> EmbeddedTables::Update(const tables::UpdateRequest& request) {
  WriteChange change(TRY(Prepare(request)));
  TRY(engine_->committer.Commit(&change));
  return change.TakeReply();
}

Result<tables::WriteReply> EmbeddedTables::Delete(const tables::DeleteRequest& request) {
  WriteChange change(TRY(Prepare(request)));
  TRY(engine_->committer.Commit(&change));
  return change.TakeReply();
}

Later<std::optional<item::Item>> EmbeddedTables::Submit(tables::GetRequest request,
                                                        std::optional<Deadline> deadline) {
  if (!HasPassed(deadline)) {
    // An item that is in memory is read faster than a thread is woken.
    auto item = TRY(GetItemInMemory(*engine_->store, *engine_->catalog, request));
    if (item) return *std::move(item);
  }
  return engine_->SubmitRead<std::optional<item::Item>>(
      &engine_->readers, [this, request = std::move(request)] { return Get(request); }, deadline);
}

Later<tables::Page> EmbeddedTables::Submit(tables::QueryRequest request,
                                           std::optional<Deadline> deadline) {
  if (!HasPassed(deadline)) {
    // The same for a small partition.
    auto page = TRY(QueryMemory(*engine_->store, *engine_->catalog, &engine_->partitions, request));
    if (page) return *std::move(page);
  }
  return engine_->SubmitRead<tables::Page>(
      &engine_->readers, [this, request = std::move(request)] { return Query(request); }, deadline);
}

Later<tables::Page> EmbeddedTables::Submit(tables::ScanRequest request,
                                           std::optional<Deadline> deadline) {
  return engine_->SubmitRead<tables::Page>(
      &engine_->long_readers, [this, request = std::move(request)] { return Scan(request); },
      deadline);
}

Later<tables::BatchGetReply> EmbeddedTables::Submit(tables::BatchGetRequest request,
                                                    std::optional<Deadline> deadline) {
  return engine_->SubmitRead<tables::BatchGetReply>(
      &engine_->long_readers, [this, request = std::move(request)] { return BatchGet(request); },
      deadline);
}

Later<tables::TransactGetReply> EmbeddedTables::Submit(tables::TransactGetRequest request,
                                                       std::optional<Deadline> deadline) {
  return engine_->SubmitRead<tables::TransactGetReply>(
      &engine_->long_readers, [this, request = std::move(request)] { return TransactGet(request); },
      deadline);
}

Later<tables::RecordsReply> EmbeddedTables::Submit(tables::RecordsRequest request,
                                                   std::optional<Deadline> deadline) {
  return engine_->SubmitRead<tables::RecordsReply>(
      &engine_->long_readers, [this, request = std::move(request)] { return GetRecords(request); },
      deadline);
}

Later<tables::WriteReply> EmbeddedTables::Submit(WriteRequest request,
                                                 std::optional<Deadline> deadline) {
  Write write = TRY(std::visit([](auto& one) { return Prepare(std::move(one)); }, request));
  return engine_->Submit<tables::WriteReply>(std::make_unique<WriteChange>(std::move(write)),
                                             deadline);
}

Later<tables::BatchWriteReply> EmbeddedTables::Submit(tables::BatchWriteRequest request,
                                                      std::optional<Deadline> deadline) {
  BatchChange change = TRY(BatchChange::Prepare(request));
  return engine_->Submit<tables::BatchWriteReply>(std::make_unique<BatchChange>(std::move(change)),
                                                  deadline);
}

Later<tables::TransactWriteReply> EmbeddedTables::Submit(tables::TransactWriteRequest request,
                                                         std::optional<Deadline> deadline) {
  TransactChange change = TRY(TransactChange::Prepare(std::move(request)));
  return engine_->Submit<tables::TransactWriteReply>(
      std::make_unique<TransactChange>(std::move(change)), deadline);
}

Result<tables::Page> EmbeddedTables::Query(const tables::QueryRequest& request) {
  return RunQuery(*engine_->store, *engine_->catalog, &engine_->partitions, request);
}

Result<tables::Page> EmbeddedTables::Scan(const tables::ScanRequest& request) {
  return RunScan(*engine_->store, *engine_->catalog, request);
}

Result<tables::BatchGetReply> EmbeddedTables::BatchGet(const tables::BatchGetRequest& request) {
  return BatchGetItems(*engine_->store, *engine_->catalog, request);
}

Result<tables::BatchWriteReply> EmbeddedTables::BatchWrite(
    const tables::BatchWriteRequest& request) {
  BatchChange change = TRY(BatchChange::Prepare(request));
  TRY(engine_->committer.Commit(&change));
  return change.TakeReply();
}

Result<tables::TransactGetReply> EmbeddedTables::TransactGet(
    const tables::TransactGetRequest& request) {
  return TransactGetItems(*engine_->store, *engine_->catalog, request);
}

Result<tables::TransactWriteReply> EmbeddedTables::TransactWrite(
    const tables::TransactWriteRequest& request) {
  TransactChange change = TRY(TransactChange::Prepare(request));
  TRY(engine_->committer.Commit(&change));
  return change.TakeReply();
}

// ---- Streams ----

Result<tables::ListStreamsReply> EmbeddedTables::ListStreams(
    const tables::ListStreamsRequest& request) {
  return embedded::ListStreams(*engine_->catalog, request, engine_->runtime.clock.NowSeconds());
}

Result<tables::StreamDescription> EmbeddedTables::DescribeStream(const std::string& arn) {
  return embedded::DescribeStream(*engine_->store, *engine_->catalog, arn,
                                  engine_->runtime.clock.NowSeconds());
}

Result<std::string> EmbeddedTables::GetShardIterator(const tables::ShardIteratorRequest& request) {
  return MakeShardIterator(*engine_->store, *engine_->catalog, request,
                           engine_->runtime.clock.NowSeconds());
}

Result<tables::RecordsReply> EmbeddedTables::GetRecords(const tables::RecordsRequest& request) {
  return ReadRecords(*engine_->store, *engine_->catalog, request,
                     engine_->runtime.clock.NowSeconds());
}

// ---- The folder ----

FileShape EmbeddedTables::Shape() const { return engine_->store->Shape(); }

Status EmbeddedTables::Maintain() { return engine_->maintenance.RunOnce(); }

Result<VerifyReport> EmbeddedTables::Verify(StopFlag stop) {
  return VerifyAll(*engine_->store, *engine_->catalog, &engine_->committer, stop);
}

Status EmbeddedTables::Backup(const std::string& folder, StopFlag stop) {
  TRY(engine_->store->Checkpoint(folder, stop));
  Options copy = engine_->options;
  copy.folder = folder;
  copy.access = Access::kReadOnly;
  copy.metrics = nullptr;
  // The copy is read once, beside the server's own tables: it needs no cache of their size.
  copy.block_cache_bytes = kCopyCacheBytes;
  auto opened = TRY(Open(copy).WithContext("opening the backup"));
  const VerifyReport report = TRY(opened->Verify(stop).WithContext("verifying the backup"));
  if (report.problems.empty()) return Done{};
  return Error{ErrorCode::kCorrupt,
               fmt::format("the backup in '{}' does not verify ({} problems; the "
                           "first: {}); do not use it",
                           folder, report.problems.size(), report.problems[0])};
}

}  // namespace tidemark::embedded
