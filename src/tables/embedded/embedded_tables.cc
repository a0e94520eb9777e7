#include "tables/embedded/embedded_tables.h"

#include <fmt/format.h>

#include "tables/embedded/catalog.h"
#include "tables/embedded/committer.h"
#include "tables/embedded/definition.h"
#include "tables/embedded/maintenance.h"
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

SystemClock& TheSystemClock() {
  static SystemClock clock;
  return clock;
}

SystemRandom& TheSystemRandom() {
  static SystemRandom random;
  return random;
}

}  // namespace

class EmbeddedTables::Engine {
 public:
  Engine(const Options& given, std::unique_ptr<Store> opened, std::unique_ptr<Catalog> loaded)
      : options(given),
        clock(given.clock != nullptr ? *given.clock : TheSystemClock()),
        random(given.random != nullptr ? *given.random : TheSystemRandom()),
        store(std::move(opened)),
        catalog(std::move(loaded)),
        metrics(given.metrics != nullptr ? given.metrics : &own_metrics),
        committer(store.get(), catalog.get(), clock, given.durability, &metrics),
        maintenance(store.get(), catalog.get(), &committer, clock, &metrics, given.logger) {}

  // The table after a change of the catalog.
  Result<tables::TableDescription> Define(DefinitionChange change) {
    TRY(committer.Commit(&change));
    maintenance.Poke();
    const Definition& definition = change.definition();
    return catalog->Describe(definition.table ? *definition.table : *definition.dropped);
  }

  template <typename ChangeType, typename Reply>
  void Submit(std::unique_ptr<ChangeType> change, std::function<void(Result<Reply>)> done) {
    ChangeType* decided = change.get();
    committer.Submit(std::move(change), [decided, done = std::move(done)](Status outcome) {
      if (!outcome.has_value()) return done(std::move(outcome).error());
      done(decided->TakeReply());
    });
  }

  const Options options;
  const Clock& clock;
  Random& random;
  std::unique_ptr<Store> store;
  std::unique_ptr<Catalog> catalog;
  Metrics own_metrics;  // For when nobody asks.
  EngineMetrics metrics;
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
  engine_->maintenance.Stop();
  // In the every-second mode this is what the last second acknowledged. When the disk has
  // failed there is nobody left to tell.
  if (engine_->store->Writable().has_value()) (void)engine_->committer.SyncNow().has_value();
}

// ---- Tables ----

Result<tables::TableDescription> EmbeddedTables::CreateTable(
    const tables::CreateTableRequest& request) {
  return engine_->Define(DefinitionChange(
      [&](Group* group) { return embedded::CreateTable(request, &engine_->random, group); }));
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

void EmbeddedTables::Submit(const WriteRequest& request,
                            std::function<void(Result<tables::WriteReply>)> done) {
  Result<Write> write = std::visit([](const auto& one) { return Prepare(one); }, request);
  if (!write.has_value()) return done(std::move(write).error());
  engine_->Submit(std::make_unique<WriteChange>(*std::move(write)), std::move(done));
}

void EmbeddedTables::Submit(const tables::TransactWriteRequest& request,
                            std::function<void(Result<tables::TransactWriteReply>)> done) {
  Result<TransactChange> change = TransactChange::Prepare(request);
  if (!change.has_value()) return done(std::move(change).error());
  engine_->Submit(std::make_unique<TransactChange>(*std::move(change)), std::move(done));
}

Result<tables::Page> EmbeddedTables::Query(const tables::QueryRequest& request) {
  return RunQuery(*engine_->store, *engine_->catalog, request);
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
  return tables::BatchWriteReply{};
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
  return embedded::ListStreams(*engine_->catalog, request, engine_->clock.NowSeconds());
}

Result<tables::StreamDescription> EmbeddedTables::DescribeStream(const std::string& arn) {
  return embedded::DescribeStream(*engine_->store, *engine_->catalog, arn,
                                  engine_->clock.NowSeconds());
}

Result<std::string> EmbeddedTables::GetShardIterator(const tables::ShardIteratorRequest& request) {
  return MakeShardIterator(*engine_->store, *engine_->catalog, request,
                           engine_->clock.NowSeconds());
}

Result<tables::RecordsReply> EmbeddedTables::GetRecords(const tables::RecordsRequest& request) {
  return ReadRecords(*engine_->store, *engine_->catalog, request, engine_->clock.NowSeconds());
}

// ---- The folder ----

Status EmbeddedTables::Maintain() { return engine_->maintenance.RunOnce(); }

Result<VerifyReport> EmbeddedTables::Verify() {
  return VerifyAll(*engine_->store, *engine_->catalog, &engine_->committer);
}

Status EmbeddedTables::Backup(const std::string& folder) {
  TRY(engine_->store->Checkpoint(folder));
  Options copy = engine_->options;
  copy.folder = folder;
  copy.access = Access::kReadOnly;
  copy.metrics = nullptr;
  auto opened = TRY(Open(copy).WithContext("opening the backup"));
  const VerifyReport report = TRY(opened->Verify().WithContext("verifying the backup"));
  if (report.problems.empty()) return Done{};
  return Error{ErrorCode::kCorrupt,
               fmt::format("the backup in '{}' does not verify ({} problems; the "
                           "first: {}); do not use it",
                           folder, report.problems.size(), report.problems[0])};
}

}  // namespace tidemark::embedded
