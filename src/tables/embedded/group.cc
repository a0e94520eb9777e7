#include "tables/embedded/group.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/expiry.h"
#include "item/encoding.h"
#include "item/size.h"
#include "tables/embedded/expiry.h"
#include "tables/embedded/index.h"
#include "tables/embedded/stream_record.h"

namespace tidemark::embedded {

namespace {

constexpr char kTokenPrefix = 'k';

std::string TokenRowKey(const std::string& token) { return kTokenPrefix + token; }

const item::Item* Pointer(const std::optional<item::Item>& item) { return item ? &*item : nullptr; }

tables::ChangeKind KindOf(const ItemChange& change) {
  if (!*change.previous) return tables::ChangeKind::kInsert;
  return change.next ? tables::ChangeKind::kModify : tables::ChangeKind::kRemove;
}

bool ShowsOld(tables::StreamView view) {
  return view == tables::StreamView::kOldImage || view == tables::StreamView::kNewAndOldImages;
}

bool ShowsNew(tables::StreamView view) {
  return view == tables::StreamView::kNewImage || view == tables::StreamView::kNewAndOldImages;
}

// Empty when there is no item; the encoding of an item is never empty.
std::string_view Encoded(const std::optional<item::Item>& item, std::string* buffer) {
  buffer->clear();
  if (item) item::EncodeItem(*item, buffer);
  return *buffer;
}

std::optional<EpochSeconds> TimeToLiveOf(const ExpiryList& expiry,
                                         const std::optional<item::Item>& item) {
  return item ? TimeToLive(expiry, *item) : std::nullopt;
}

}  // namespace

Group::Group(const Store& store, Catalog* catalog, WorkingSet* items, std::chrono::milliseconds now)
    : store_(store),
      catalog_(catalog),
      items_(items),
      now_ms_(now),
      now_(std::chrono::duration_cast<std::chrono::seconds>(now).count()),
      batch_(store.NewBatch()) {}

void Group::Add(ItemChange change) {
  // As in DynamoDB: a write that leaves the item as it was makes no stream record.
  if (*change.previous == change.next) return;
  const Table& table = *change.table;
  const std::string_view next_bytes = Encoded(change.next, &next_bytes_);
  if (change.next) {
    batch_.Put(Family::kRows, change.row_key, next_bytes);
  } else {
    batch_.Delete(Family::kRows, change.row_key);
  }
  for (const Index& index : table.indexes) ChangeIndex(table, index, change);
  if (table.expiry) ChangeExpiry(*table.expiry, change);
  if (table.stream) AddStreamRecord(*table.stream, change, next_bytes);
  Count(table.keyspace, table.counts, Pointer(*change.previous), Pointer(change.next));
  // This comes last, because `previous` points into the working set and this call replaces the item
  // there. Later changes of this group are decided against the new item.
  items_->Set(change.row_key, std::move(change.next));
  touched_.push_back(std::move(change.row_key));
}

void Group::ChangeIndex(const Table& table, const Index& index, const ItemChange& change) {
  std::optional<IndexRow> before;
  std::optional<IndexRow> after;
  if (*change.previous) before = IndexRowOf(table, index, change.key, **change.previous);
  if (change.next) after = IndexRowOf(table, index, change.key, *change.next);
  // While an index is being filled, rows behind `done_to` are written here too, but not counted:
  // the filling will reach them, write them again and count them.
  const bool filled = index.fill.complete || change.row_key <= index.fill.done_to;
  if (before && (!after || after->key != before->key)) batch_.Delete(Family::kRows, before->key);
  if (after && (!before || !(after->key == before->key && after->item == before->item))) {
    PutItem(after->key, after->item);
  }
  if (!filled) return;
  Count(index.keyspace, index.counts, before ? &before->item : nullptr,
        after ? &after->item : nullptr);
}

void Group::ChangeExpiry(const ExpiryList& expiry, const ItemChange& change) {
  const auto before = TimeToLiveOf(expiry, *change.previous);
  const auto after = TimeToLiveOf(expiry, change.next);
  if (before == after) return;
  if (before) {
    batch_.Delete(Family::kRows, ExpiryRowKey(expiry.keyspace, *before, change.row_key));
  }
  if (after) PutExpiryRow(expiry, change.row_key, *after);
}

void Group::PutExpiryRow(const ExpiryList& expiry, const std::string& row_key, EpochSeconds ttl) {
  batch_.Put(Family::kRows, ExpiryRowKey(expiry.keyspace, ttl, row_key), "");
  const auto [place, added] = listed_.try_emplace(expiry.sweep_start, ttl);
  if (!added) place->second = std::min(place->second, ttl);
}

void Group::AddStreamRecord(const Stream& stream, const ItemChange& change,
                            std::string_view next_bytes) {
  NewRecord record{.kind = KindOf(change),
                   .view = stream.view,
                   .created_at = now_,
                   .expired = change.expired,
                   .keys = item::AttributesOfKey(change.key, change.table->keys)};
  if (ShowsOld(stream.view)) record.old_image = Encoded(*change.previous, &previous_bytes_);
  if (ShowsNew(stream.view)) record.new_image = next_bytes;
  buffer_.clear();
  EncodeStreamRecord(record, &buffer_);
  batch_.Put(Family::kStreams, StreamRowKey(stream.id, (*stream.next_sequence)++), buffer_);
}

void Group::AddIndexRow(const Table& table, const Index& index, const item::Key& key,
                        const item::Item& item) {
  const std::optional<IndexRow> row = IndexRowOf(table, index, key, item);
  if (!row) return;
  PutItem(row->key, row->item);
  Count(index.keyspace, index.counts, nullptr, &row->item);
}

void Group::AddExpiryRow(const ExpiryList& expiry, const std::string& row_key,
                         const item::Item& item) {
  if (const auto ttl = TimeToLive(expiry, item)) PutExpiryRow(expiry, row_key, *ttl);
}

void Group::PutItem(const std::string& key, const item::Item& item) {
  buffer_.clear();
  item::EncodeItem(item, &buffer_);
  batch_.Put(Family::kRows, key, buffer_);
}

void Group::Count(Keyspace keyspace, const std::shared_ptr<Counts>& counts,
                  const item::Item* previous, const item::Item* next) {
  // The difference may be negative. Unsigned numbers wrap, so adding it gives the right sum.
  const uint64_t items = uint64_t{next != nullptr} - uint64_t{previous != nullptr};
  const uint64_t bytes = (next != nullptr ? item::SizeBytes(*next) : 0) -
                         (previous != nullptr ? item::SizeBytes(*previous) : 0);
  if (items == 0 && bytes == 0) return;
  counts->items += items;
  counts->bytes += bytes;
  counted_[keyspace] = counts;
}

void Group::Finish() {
  for (const auto& [keyspace, counts] : counted_) Catalog::PutCounts(keyspace, *counts, &batch_);
  counted_.clear();
}

void Group::Committed() {
  for (const auto& [sweep_start, ttl] : listed_) sweep_start->Lower(ttl);
}

Result<std::optional<TokenRecord>> Group::FindToken(const std::string& token) {
  std::optional<TokenRecord> record;
  std::string value;
  // A transaction earlier in this group may have used the token; it is not in the store yet.
  if (auto place = tokens_.find(token); place != tokens_.end()) {
    record = place->second;
  } else if (TRY(store_.Get(Family::kCatalog, TokenRowKey(token), &value))) {
    record = TRY(DecodeToken(value));
  }
  if (record && !IsLive(record->expires, now_)) record.reset();
  return record;
}

void Group::AddToken(const std::string& token, const TokenRecord& record) {
  std::string value;
  AppendFixed64(static_cast<uint64_t>(record.expires), &value);
  value += record.fingerprint;
  batch_.Put(Family::kCatalog, TokenRowKey(token), value);
  tokens_[token] = record;
}

Range TokenRange() { return PrefixRange(std::string(1, kTokenPrefix)); }

Result<TokenRecord> DecodeToken(std::string_view value) {
  Reader reader(value);
  TokenRecord record{.expires = static_cast<EpochSeconds>(reader.Fixed64())};
  if (!reader.ok()) return Error{ErrorCode::kCorrupt, "a token's row is damaged; restore a backup"};
  record.fingerprint = reader.rest();
  return record;
}

}  // namespace tidemark::embedded
