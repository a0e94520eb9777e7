#include "tables/embedded/catalog.h"

#include <functional>

#include <fmt/format.h>

#include "base/bytes.h"
#include "item/encoding.h"
#include "tables/embedded/catalog_encoding.h"
#include "tables/embedded/stream_record.h"

namespace tidemark::embedded {

namespace {

constexpr char kTablePrefix = 't';
constexpr char kStreamPrefix = 's';
constexpr char kCountsPrefix = 'c';
constexpr std::string_view kNextNumberKey = "n";

// The parts of an ARN before and after its region.
constexpr std::string_view kArnService = "arn:aws:dynamodb:";
constexpr std::string_view kArnAccount = ":000000000000:";

std::string TableRowKey(std::string_view table) { return kTablePrefix + std::string(table); }

std::string NumberedRowKey(char prefix, uint32_t number) {
  std::string key(1, prefix);
  AppendFixed32(number, &key);
  return key;
}

// Calls `visit` with each row under the prefix, decoded.
Status ForEachRow(const Store& store, char prefix,
                  const std::function<Status(const item::Item&)>& visit) {
  Cursor cursor = store.Iterate(Family::kCatalog, PrefixRange(std::string(1, prefix)));
  for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
    const item::Item row = TRY(item::DecodeItem(cursor.value()));
    TRY(visit(row));
  }
  return cursor.status();
}

std::string ResourceOf(const Table& table) { return fmt::format("table/{}", table.name); }

std::string ResourceOf(const Stream& stream) {
  return fmt::format("table/{}/stream/{}", stream.table, stream.label);
}

tables::IndexDescription DescribeIndex(const Index& index) {
  return {
      .spec = index.spec,
      .state = index.fill.complete ? tables::IndexState::kActive : tables::IndexState::kCreating,
      .backfilling = !index.fill.complete,
      .item_count = index.counts->items,
      .size_bytes = index.counts->bytes};
}

}  // namespace

std::string_view ResourceOfArn(std::string_view arn) {
  if (!arn.starts_with(kArnService)) return "";
  const size_t region_end = arn.find(':', kArnService.size());
  if (region_end == arn.npos) return "";
  arn.remove_prefix(region_end);
  if (!arn.starts_with(kArnAccount)) return "";
  return arn.substr(kArnAccount.size());
}

std::string Stream::ShardId() const { return fmt::format("shardId-{:020}-00000001", id); }

const Index* Table::FindIndex(std::string_view index) const {
  for (const Index& candidate : indexes) {
    if (candidate.spec.name == index) return &candidate;
  }
  return nullptr;
}

// ---- Describing ----

std::string Catalog::ArnOf(const Table& table) const {
  return fmt::format("{}{}{}{}", kArnService, region_, kArnAccount, ResourceOf(table));
}

std::string Catalog::ArnOf(const Stream& stream) const {
  return fmt::format("{}{}{}{}", kArnService, region_, kArnAccount, ResourceOf(stream));
}

tables::StreamSummary Catalog::Summarize(const Stream& stream) const {
  return {.arn = ArnOf(stream),
          .label = stream.label,
          .view = stream.view,
          .enabled = !stream.closed_at.has_value()};
}

tables::TableDescription Catalog::Describe(const Table& table) const {
  tables::TableDescription description{.name = table.name,
                                       .arn = ArnOf(table),
                                       .id = table.id,
                                       .state = tables::TableState::kActive,
                                       .keys = table.keys,
                                       .throughput = table.throughput,
                                       .deletion_protected = table.deletion_protected,
                                       .table_class = table.table_class,
                                       .encryption = table.encryption,
                                       .created_at = table.created_at,
                                       .item_count = table.counts->items,
                                       .size_bytes = table.counts->bytes};
  for (const Index& index : table.indexes) {
    description.indexes.push_back(DescribeIndex(index));
    description.indexes.back().arn = fmt::format("{}/index/{}", description.arn, index.spec.name);
    if (!index.fill.complete) description.state = tables::TableState::kUpdating;
  }
  if (table.latest_stream) description.latest_stream = Summarize(*table.latest_stream);
  if (table.expiry) description.ttl_attribute = table.expiry->attribute;
  return description;
}

// ---- Loading ----

Result<std::unique_ptr<Catalog>> Catalog::Load(const Store& store, std::string region) {
  auto catalog = std::make_unique<Catalog>(std::move(region));
  std::string number;
  if (TRY(store.Get(Family::kCatalog, kNextNumberKey, &number))) {
    Reader reader(number);
    catalog->next_number_ = reader.Fixed32();
    if (!reader.AtEnd()) return Error{ErrorCode::kCorrupt, "the catalog's next number is damaged"};
  }
  TRY(catalog->LoadStreams(store));
  TRY(catalog->LoadTables(store));
  return catalog;
}

Status Catalog::Reload(const Store& store) {
  const std::unique_ptr<Catalog> loaded = TRY(Load(store, region_));
  std::lock_guard lock(mutex_);
  tables_ = std::move(loaded->tables_);
  streams_ = std::move(loaded->streams_);
  next_number_ = std::max(next_number_, loaded->next_number_);
  return Done{};
}

Status Catalog::LoadStreams(const Store& store) {
  return ForEachRow(store, kStreamPrefix, [&](const item::Item& row) -> Status {
    auto stream = std::make_shared<Stream>(TRY(DecodeStream(row)));
    // When all records were trimmed, only trimmed_through knows the last number. A number must
    // never be used twice, because consumers store it as their position.
    const uint64_t last = TRY(LastSequence(store, stream->id)).value_or(stream->trimmed_through);
    *stream->next_sequence = std::max(last, stream->trimmed_through) + 1;
    streams_[stream->id] = std::move(stream);
    return Done{};
  });
}

Status Catalog::LoadTables(const Store& store) {
  const Snapshot snapshot = store.TakeSnapshot();
  return ForEachRow(store, kTablePrefix, [&](const item::Item& row) -> Status {
    auto table = std::make_shared<Table>(TRY(DecodeTable(row, streams_)));
    TRY(ReadCounts(store, snapshot, table->keyspace, table->counts.get()));
    for (Index& index : table->indexes) {
      TRY(ReadCounts(store, snapshot, index.keyspace, index.counts.get()));
    }
    tables_[table->name] = std::move(table);
    return Done{};
  });
}

Status Catalog::ReadCounts(const Store& store, const Snapshot& snapshot, Keyspace keyspace,
                           Counts* counts) {
  std::string value;
  const std::string key = NumberedRowKey(kCountsPrefix, keyspace);
  if (!TRY(store.Get(Family::kCatalog, key, &value, snapshot))) return Done{};
  Reader reader(value);
  counts->items = reader.Fixed64();
  counts->bytes = reader.Fixed64();
  if (!reader.AtEnd())
    return Error{ErrorCode::kCorrupt, "a row of counts is damaged; restore a backup"};
  return Done{};
}

// ---- Looking up ----

TablePtr Catalog::Find(const std::string& table) const {
  std::lock_guard lock(mutex_);
  auto place = tables_.find(table);
  return place == tables_.end() ? nullptr : place->second;
}

Result<TablePtr> Catalog::Need(const std::string& table) const {
  TablePtr found = Find(table);
  if (found == nullptr) return Error{ErrorCode::kNotFound, "Requested resource not found"};
  return found;
}

std::vector<TablePtr> Catalog::ListTables() const {
  std::lock_guard lock(mutex_);
  std::vector<TablePtr> list;
  for (const auto& [name, table] : tables_) list.push_back(table);
  return list;
}

std::vector<StreamPtr> Catalog::ListStreams() const {
  std::lock_guard lock(mutex_);
  std::vector<StreamPtr> list;
  for (const auto& [id, stream] : streams_) list.push_back(stream);
  return list;
}

StreamPtr Catalog::FindStream(std::string_view arn) const {
  const std::string_view resource = ResourceOfArn(arn);
  for (StreamPtr& stream : ListStreams()) {
    if (ResourceOf(*stream) == resource) return std::move(stream);
  }
  return nullptr;
}

StreamPtr Catalog::FindStream(StreamId id) const {
  std::lock_guard lock(mutex_);
  auto place = streams_.find(id);
  return place == streams_.end() ? nullptr : place->second;
}

// ---- Changing ----

void Catalog::Put(const Table& table, Batch* batch) const {
  std::string value;
  item::EncodeItem(EncodeTable(table), &value);
  batch->Put(Family::kCatalog, TableRowKey(table.name), value);
  std::string number;
  AppendFixed32(next_number_, &number);
  batch->Put(Family::kCatalog, kNextNumberKey, number);
}

void Catalog::Put(const Stream& stream, Batch* batch) const {
  std::string value;
  item::EncodeItem(EncodeStream(stream), &value);
  batch->Put(Family::kCatalog, NumberedRowKey(kStreamPrefix, stream.id), value);
}

void Catalog::Remove(const Table& table, Batch* batch) {
  batch->Delete(Family::kCatalog, TableRowKey(table.name));
  Remove(table.keyspace, batch);
  for (const Index& index : table.indexes) Remove(index.keyspace, batch);
  if (table.expiry) Remove(table.expiry->keyspace, batch);
}

void Catalog::Remove(Keyspace keyspace, Batch* batch) {
  batch->Delete(Family::kCatalog, NumberedRowKey(kCountsPrefix, keyspace));
  batch->DeleteRange(Family::kRows, KeyspaceRange(keyspace));
}

void Catalog::Remove(const Stream& stream, Batch* batch) {
  batch->Delete(Family::kCatalog, NumberedRowKey(kStreamPrefix, stream.id));
  batch->DeleteRange(Family::kStreams, StreamRange(stream.id));
}

void Catalog::PutCounts(Keyspace keyspace, const Counts& counts, Batch* batch) {
  std::string value;
  AppendFixed64(counts.items, &value);
  AppendFixed64(counts.bytes, &value);
  batch->Put(Family::kCatalog, NumberedRowKey(kCountsPrefix, keyspace), value);
}

void Catalog::Publish(TablePtr table) {
  std::lock_guard lock(mutex_);
  std::string name = table->name;
  tables_[std::move(name)] = std::move(table);
}

void Catalog::Publish(StreamPtr stream) {
  std::lock_guard lock(mutex_);
  const StreamId id = stream->id;
  streams_[id] = std::move(stream);
}

void Catalog::Unpublish(const Table& table) {
  std::lock_guard lock(mutex_);
  tables_.erase(table.name);
}

void Catalog::Unpublish(const Stream& stream) {
  std::lock_guard lock(mutex_);
  streams_.erase(stream.id);
}

}  // namespace tidemark::embedded
