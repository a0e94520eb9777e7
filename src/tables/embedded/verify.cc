#include "tables/embedded/verify.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "item/encoding.h"
#include "item/size.h"
#include "tables/embedded/expiry.h"
#include "tables/embedded/index.h"
#include "tables/embedded/stream_record.h"

namespace tidemark::embedded {

namespace {

// A longer list of problems would not help anybody.
constexpr size_t kMaxProblems = 100;

// Takes the catalog and a snapshot of the rows at the same moment, between two groups of the
// committer.
class Moment final : public Change {
 public:
  Status Evaluate(Group* group) override {
    snapshot.emplace(group->store().TakeSnapshot());
    tables = group->catalog().ListTables();
    streams = group->catalog().ListStreams();
    return Done{};
  }
  bool alone() const override { return true; }

  std::optional<Snapshot> snapshot;
  std::vector<TablePtr> tables;
  std::vector<StreamPtr> streams;
};

struct Sums {
  uint64_t rows = 0;
  uint64_t bytes = 0;
};

class Verifier {
 public:
  Verifier(const Store& store, const Moment& moment, StopFlag stop)
      : store_(store), moment_(moment), stop_(stop), was_writable_(store.Writable().has_value()) {}

  Result<VerifyReport> Run() {
    TRY(store_.VerifyFiles([this] { return GoOn(); }));
    for (const TablePtr& table : moment_.tables) TRY(VerifyTable(*table));
    for (const StreamPtr& stream : moment_.streams) TRY(VerifyStream(*stream));
    TRY(FindOrphans());
    return std::move(report_);
  }

 private:
  void Problem(std::string problem) {
    if (report_.problems.size() < kMaxProblems) report_.problems.push_back(std::move(problem));
  }

  // Asked for every row. An error ends the verification.
  Status GoOn() const {
    if (stop_ != nullptr && *stop_) {
      return Error{ErrorCode::kCancelled, "the verification was interrupted before its end"};
    }
    // A full disk, perhaps: the store is opened again once there is space, but not while somebody
    // reads a snapshot of it.
    return was_writable_ ? store_.Writable() : Status(Done{});
  }

  Cursor Walk(Family family, const Range& range) const {
    return store_.Iterate(family, range, *moment_.snapshot);
  }

  Status VerifyTable(const Table& table) {
    ++report_.tables;
    known_.insert(table.keyspace);
    Sums sums;
    std::map<Keyspace, Sums> expected;
    Cursor cursor = Walk(Family::kRows, KeyspaceRange(table.keyspace));
    for (cursor.SeekToFirst(); cursor.valid(); cursor.Next()) {
      TRY(GoOn());
      const item::Item item = TRY(item::DecodeItem(cursor.value()));
      ++sums.rows;
      sums.bytes += item::SizeBytes(item);
      TRY(VerifyItem(table, std::string(cursor.key()), item, &expected));
    }
    TRY(cursor.status());
    report_.items += sums.rows;
    TRY(VerifyCounts(table.name, table.keyspace, sums));
    for (const Index& index : table.indexes)
      TRY(VerifyIndex(table, index, expected[index.keyspace]));
    if (table.expiry) TRY(VerifyExpiry(table, expected[table.expiry->keyspace]));
    return Done{};
  }

  Status VerifyItem(const Table& table, const std::string& row_key, const item::Item& item,
                    std::map<Keyspace, Sums>* expected) {
    const Result<item::Key> key = item::KeyOfItem(item, table.keys);
    const Result<item::Key> stored_key = DecodeItemRowKey(row_key, table.keys);
    if (!key.has_value() || !stored_key.has_value() || !(*key == *stored_key)) {
      Problem(fmt::format("table {}: an item does not belong to its row's key", table.name));
      return Done{};
    }
    for (const Index& index : table.indexes) {
      const std::optional<IndexRow> row = IndexRowOf(table, index, *key, item);
      if (!row || !Reached(index.fill, row_key)) continue;
      Sums& sums = (*expected)[index.keyspace];
      ++sums.rows;
      sums.bytes += item::SizeBytes(row->item);
      TRY(ExpectRow(row->key, row->item, table.name + "/" + index.spec.name));
    }
    if (!table.expiry || !Reached(table.expiry->fill, row_key)) return Done{};
    if (const auto ttl = TimeToLive(*table.expiry, item)) {
      ++(*expected)[table.expiry->keyspace].rows;
      std::string value;
      const std::string expiry_key = ExpiryRowKey(table.expiry->keyspace, *ttl, row_key);
      if (!TRY(store_.Get(Family::kRows, expiry_key, &value, *moment_.snapshot))) {
        Problem(fmt::format("table {}: an item with a time to live has no expiry row", table.name));
      }
    }
    return Done{};
  }

  static bool Reached(const Fill& fill, const std::string& row_key) {
    return fill.complete || row_key <= fill.done_to;
  }

  Status ExpectRow(const std::string& key, const item::Item& item, const std::string& where) {
    std::string value;
    if (!TRY(store_.Get(Family::kRows, key, &value, *moment_.snapshot))) {
      Problem(fmt::format("index {}: the row of an item is missing", where));
      return Done{};
    }
    const Result<item::Item> stored = item::DecodeItem(value);
    if (!stored.has_value() || !(*stored == item)) {
      Problem(fmt::format("index {}: a row differs from its item", where));
    }
    return Done{};
  }

  Status VerifyCounts(const std::string& where, Keyspace keyspace, const Sums& sums) {
    Counts counts;
    TRY(Catalog::ReadCounts(store_, *moment_.snapshot, keyspace, &counts));
    if (counts.items != sums.rows || counts.bytes != sums.bytes) {
      Problem(fmt::format("{}: the counts say {} items of {} bytes, there are {} of {}", where,
                          counts.items, counts.bytes, sums.rows, sums.bytes));
    }
    return Done{};
  }

  Result<uint64_t> CountRows(Keyspace keyspace) {
    uint64_t rows = 0;
    Cursor cursor = Walk(Family::kRows, KeyspaceRange(keyspace));
    for (cursor.SeekToFirst(); cursor.valid(); cursor.Next(), ++rows) TRY(GoOn());
    TRY(cursor.status());
    return rows;
  }

  // All expected rows were found. If the index has no other rows, it is exact.
  Status VerifyIndex(const Table& table, const Index& index, const Sums& expected) {
    known_.insert(index.keyspace);
    const std::string where = table.name + "/" + index.spec.name;
    TRY(VerifyCounts(where, index.keyspace, expected));
    const uint64_t rows = TRY(CountRows(index.keyspace));
    report_.index_rows += rows;
    if (index.fill.complete && rows != expected.rows) {
      Problem(fmt::format("index {}: {} rows for {} items", where, rows, expected.rows));
    }
    return Done{};
  }

  Status VerifyExpiry(const Table& table, const Sums& expected) {
    known_.insert(table.expiry->keyspace);
    const uint64_t rows = TRY(CountRows(table.expiry->keyspace));
    if (table.expiry->fill.complete && rows != expected.rows) {
      Problem(fmt::format("table {}: {} expiry rows for {} items with a time to live", table.name,
                          rows, expected.rows));
    }
    return Done{};
  }

  Status VerifyStream(const Stream& stream) {
    uint64_t next = stream.trimmed_through + 1;
    Cursor cursor = Walk(Family::kStreams, StreamRange(stream.id));
    for (cursor.SeekToFirst(); cursor.valid(); cursor.Next(), ++next) {
      TRY(GoOn());
      const uint64_t sequence = TRY(SequenceOfRowKey(cursor.key()));
      TRY(DecodeStreamRecord(cursor.key(), cursor.value()));
      ++report_.stream_records;
      if (sequence == next) continue;
      Problem(fmt::format("stream {} of table {}: record {} follows where {} must", stream.label,
                          stream.table, sequence, next));
      next = sequence;
    }
    return cursor.status();
  }

  // There must be no rows outside the known keyspaces.
  Status FindOrphans() {
    std::string low(4, '\0');
    known_.insert(UINT32_MAX);
    for (Keyspace keyspace : known_) {
      const Range own =
          keyspace == UINT32_MAX ? Range{std::string(4, '\xff'), ""} : KeyspaceRange(keyspace);
      Cursor cursor = Walk(Family::kRows, {low, own.low});
      cursor.SeekToFirst();
      TRY(cursor.status());
      if (cursor.valid()) Problem("there are rows that belong to no table");
      low = own.high;
    }
    return Done{};
  }

  const Store& store_;
  const Moment& moment_;
  const StopFlag stop_;
  const bool was_writable_;
  std::set<Keyspace> known_;
  VerifyReport report_;
};

}  // namespace

Result<VerifyReport> VerifyAll(const Store& store, const Catalog& catalog, Committer* committer,
                               StopFlag stop) {
  Moment moment;
  if (store.Writable().has_value()) {
    TRY(committer->Commit(&moment, Reserve::kUse));
  } else {
    // The folder is open read-only. Nothing writes, so the snapshot may be taken at any time.
    moment.snapshot.emplace(store.TakeSnapshot());
    moment.tables = catalog.ListTables();
    moment.streams = catalog.ListStreams();
  }
  return Verifier(store, moment, stop).Run();
}

}  // namespace tidemark::embedded
