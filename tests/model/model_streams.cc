// Streams of the model. One counter numbers the records of all streams; an iterator is the
// text "arn|position|time it was made".
#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/expiry.h"
#include "tables/limits.h"
#include "tests/model/model_tables.h"

namespace tidemark::model {

namespace {

using item::Item;
using tables::ChangeKind;
using tables::IteratorKind;
using tables::StreamRecord;
using tables::StreamView;

constexpr const char* kShard = "shardId-00000000000000000001-00000001";

std::string SequenceText(uint64_t sequence) { return fmt::format("{:021}", sequence); }

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string LabelOf(std::chrono::milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}", fmt::gmtime(std::time_t{seconds.count()}),
                     (time - seconds).count());
}

bool CarriesOld(StreamView view) {
  return view == StreamView::kOldImage || view == StreamView::kNewAndOldImages;
}

bool CarriesNew(StreamView view) {
  return view == StreamView::kNewImage || view == StreamView::kNewAndOldImages;
}

struct Iterator {
  std::string arn;
  uint64_t position = 0;
  EpochSeconds made_at = 0;
};

std::string Encode(const Iterator& iterator) {
  return fmt::format("{}|{}|{}", iterator.arn, iterator.position, iterator.made_at);
}

Result<Iterator> Decode(const std::string& text) {
  const size_t second = text.rfind('|');
  const size_t first = second == text.npos || second == 0 ? text.npos : text.rfind('|', second - 1);
  if (first == text.npos) return Invalid("Invalid ShardIterator");
  const auto position = ParseNumber(std::string_view(text).substr(first + 1, second - first - 1));
  const auto made_at = ParseNumber(std::string_view(text).substr(second + 1));
  if (!position || !made_at) return Invalid("Invalid ShardIterator");
  return Iterator{text.substr(0, first), *position, static_cast<EpochSeconds>(*made_at)};
}

}  // namespace

void ModelTables::OpenStream(Table* table, StreamView view) {
  // A later stream of the same table has a later label, also within one millisecond and when the
  // clock went back.
  std::chrono::milliseconds time = clock_.Now();
  for (const auto& [arn, other] : streams_) {
    if (other.table != table->name) continue;
    time = std::max(time, other.label_time + std::chrono::milliseconds(1));
  }
  Stream stream{.table = table->name,
                .arn = ArnOf(*table) + "/stream/" + LabelOf(time),
                .label = LabelOf(time),
                .label_time = time,
                .keys = table->keys,
                .view = view,
                .created_at = Now(),
                .first_sequence = next_sequence_++};
  table->latest_stream = stream.arn;
  streams_.emplace(stream.arn, stream);
}

void ModelTables::CloseStream(const Table& table) {
  Stream* stream = LatestStream(table);
  if (stream == nullptr || stream->closed_at) return;
  stream->closed_at = Now();
  stream->last_sequence = next_sequence_++;
}

ModelTables::Stream* ModelTables::LatestStream(const Table& table) {
  return table.latest_stream ? &streams_.at(*table.latest_stream) : nullptr;
}

const ModelTables::Stream* ModelTables::LatestStream(const Table& table) const {
  return table.latest_stream ? &streams_.at(*table.latest_stream) : nullptr;
}

bool ModelTables::IsGone(const Stream& stream) const {
  return stream.closed_at && !IsLive(*stream.closed_at + tables::kStreamRetention.count(), Now());
}

bool ModelTables::IsTrimmed(const StreamRecord& record) const {
  return !IsLive(record.created_at + tables::kStreamRetention.count(), Now());
}

Result<const ModelTables::Stream*> ModelTables::FindStream(const std::string& arn) const {
  auto place = streams_.find(arn);
  if (place == streams_.end() || IsGone(place->second)) {
    return Error{ErrorCode::kNotFound,
                 "Requested resource not found: Stream: " + arn + " not found"};
  }
  return &place->second;
}

void ModelTables::Record(Table* table, const item::Key& key, const std::optional<Item>& previous,
                         const std::optional<Item>& next, bool expired) {
  Stream* stream = LatestStream(*table);
  if (stream == nullptr || stream->closed_at || previous == next) return;
  StreamRecord record{.sequence = SequenceText(next_sequence_++),
                      .view = stream->view,
                      .created_at = Now(),
                      .expired = expired,
                      .keys = item::AttributesOfKey(key, table->keys)};
  record.kind = !previous ? ChangeKind::kInsert : next ? ChangeKind::kModify : ChangeKind::kRemove;
  if (CarriesOld(stream->view)) record.old_image = previous;
  if (CarriesNew(stream->view)) record.new_image = next;
  stream->records.push_back(std::move(record));
}

void ModelTables::Trim() {
  for (auto& [arn, stream] : streams_) {
    auto first = std::find_if(stream.records.begin(), stream.records.end(),
                              [&](const StreamRecord& record) { return !IsTrimmed(record); });
    if (first == stream.records.begin()) continue;
    stream.trimmed_through = *ParseNumber(std::prev(first)->sequence);
    stream.records.erase(stream.records.begin(), first);
  }
  for (auto& [name, table] : tables_) {
    const Stream* latest = LatestStream(table);
    if (latest != nullptr && IsGone(*latest)) table.latest_stream.reset();
  }
  std::erase_if(streams_, [&](const auto& each) { return IsGone(each.second); });
  std::erase_if(tokens_, [&](const auto& each) {
    return !IsLive(each.second.used_at + tables::kTokenLife.count(), Now());
  });
}

Result<tables::ListStreamsReply> ModelTables::ListStreams(
    const tables::ListStreamsRequest& request) {
  const std::lock_guard lock(mutex_);
  if (request.limit < 1 || request.limit > tables::kMaxListedStreams) {
    return Invalid("The limit must be between 1 and 100");
  }
  tables::ListStreamsReply reply;
  for (const auto& [arn, stream] : streams_) {
    if (IsGone(stream) || (request.table && stream.table != *request.table) ||
        (request.after_arn && arn <= *request.after_arn)) {
      continue;
    }
    if (reply.streams.size() == request.limit) {
      reply.last_arn = reply.streams.back().arn;
      break;
    }
    reply.streams.push_back({stream.table, stream.arn, stream.label});
  }
  return reply;
}

Result<tables::StreamDescription> ModelTables::DescribeStream(const std::string& arn) {
  const std::lock_guard lock(mutex_);
  const Stream* stream = TRY(FindStream(arn));
  tables::Shard shard{.id = kShard, .first_sequence = SequenceText(stream->first_sequence)};
  if (stream->closed_at) shard.last_sequence = SequenceText(stream->last_sequence);
  return tables::StreamDescription{.arn = stream->arn,
                                   .label = stream->label,
                                   .table = stream->table,
                                   .keys = stream->keys,
                                   .view = stream->view,
                                   .enabled = !stream->closed_at,
                                   .created_at = stream->created_at,
                                   .shards = {shard}};
}

Result<std::string> ModelTables::GetShardIterator(const tables::ShardIteratorRequest& request) {
  const std::lock_guard lock(mutex_);
  const bool by_sequence =
      request.kind == IteratorKind::kAtSequence || request.kind == IteratorKind::kAfterSequence;
  const auto sequence = request.sequence ? ParseNumber(*request.sequence) : std::nullopt;
  if (by_sequence && !sequence) return Invalid("Invalid SequenceNumber");
  const Stream* stream = TRY(FindStream(request.arn));
  if (request.shard != kShard) {
    return Error{ErrorCode::kNotFound, "Requested resource not found: Shard does not exist"};
  }
  Iterator iterator{.arn = request.arn, .position = next_sequence_, .made_at = Now()};
  if (by_sequence) {
    iterator.position = *sequence + (request.kind == IteratorKind::kAfterSequence ? 1 : 0);
  } else if (request.kind == IteratorKind::kTrimHorizon) {
    auto first = std::find_if(stream->records.begin(), stream->records.end(),
                              [&](const StreamRecord& record) { return !IsTrimmed(record); });
    if (first != stream->records.end()) iterator.position = *ParseNumber(first->sequence);
  }
  return Encode(iterator);
}

Result<tables::RecordsReply> ModelTables::GetRecords(const tables::RecordsRequest& request) {
  const std::lock_guard lock(mutex_);
  if (request.limit < 1 || request.limit > tables::kMaxRecordsPage) {
    return Invalid("The limit must be between 1 and 1000");
  }
  Iterator iterator = TRY(Decode(request.iterator));
  if (!IsLive(iterator.made_at + tables::kIteratorLife.count(), Now())) {
    return tables::RecordsReply{.outcome = tables::RecordsOutcome::kExpired};
  }
  const Stream* stream = TRY(FindStream(iterator.arn));
  if (iterator.position <= stream->trimmed_through) {
    return tables::RecordsReply{.outcome = tables::RecordsOutcome::kTrimmed};
  }
  tables::RecordsReply reply;
  bool more = false;
  for (const StreamRecord& record : stream->records) {
    const uint64_t sequence = *ParseNumber(record.sequence);
    if (sequence < iterator.position) continue;
    if (IsTrimmed(record)) return tables::RecordsReply{.outcome = tables::RecordsOutcome::kTrimmed};
    more = reply.records.size() == request.limit;
    if (more) break;
    reply.records.push_back(record);
    iterator.position = sequence + 1;
  }
  iterator.made_at = Now();
  if (more || !stream->closed_at) reply.next = Encode(iterator);
  return reply;
}

}  // namespace tidemark::model
