#include "tables/embedded/streams.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/expiry.h"
#include "item/size.h"
#include "tables/embedded/stream_record.h"
#include "tables/limits.h"

namespace tidemark::embedded {

namespace {

using tables::IteratorKind;

// The place of the next record, as text: "arn|1|stream/sequence/expires". As in DynamoDB, it begins
// with the ARN of the stream, so that a server sees which table it is about. Whoever writes another
// ARN there gets no records.
struct Iterator {
  std::string_view arn = {};
  StreamId stream = 0;
  uint64_t sequence = 0;
  EpochSeconds expires = 0;
};
constexpr std::string_view kAfterArn = "|1|";

std::string EncodeIterator(const std::string& arn, const Iterator& iterator) {
  return fmt::format("{}{}{}/{}/{}", arn, kAfterArn, iterator.stream, iterator.sequence,
                     iterator.expires);
}

template <typename Integer>
bool TakeInteger(std::string_view* text, Integer* value) {
  const char* end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, *value);
  if (error != std::errc()) return false;
  text->remove_prefix(static_cast<size_t>(rest - text->data()));
  if (!text->empty() && text->front() == '/') text->remove_prefix(1);
  return true;
}

Error WrongIterator() {
  return Invalid("Invalid ShardIterator: it is not one that GetShardIterator gave");
}

// The iterator refers to the text.
Result<Iterator> ParseIterator(std::string_view text) {
  const size_t arn_end = std::min(text.find(kAfterArn), text.size());
  Iterator iterator{.arn = text.substr(0, arn_end)};
  text.remove_prefix(std::min(arn_end + kAfterArn.size(), text.size()));
  const bool parsed = TakeInteger(&text, &iterator.stream) &&
                      TakeInteger(&text, &iterator.sequence) &&
                      TakeInteger(&text, &iterator.expires) && text.empty();
  if (!parsed) return WrongIterator();
  return iterator;
}

Error NoSuchStream(const std::string& arn) {
  return {ErrorCode::kNotFound,
          fmt::format("Requested resource not found: Stream: {} not found", arn)};
}

Result<StreamPtr> NeedStream(const Catalog& catalog, const std::string& arn, EpochSeconds now) {
  StreamPtr stream = catalog.FindStream(arn);
  if (stream == nullptr || IsOver(*stream, now)) return NoSuchStream(arn);
  return stream;
}

// The number after the last record. In a closed stream there will be no record with this number.
Result<uint64_t> NextSequence(const Store& store, const Stream& stream) {
  const std::optional<uint64_t> last = TRY(LastSequence(store, stream.id));
  return std::max(last.value_or(0), stream.trimmed_through) + 1;
}

Result<uint64_t> RequestedSequence(const tables::ShardIteratorRequest& request) {
  const std::optional<uint64_t> sequence =
      request.sequence ? ParseSequence(*request.sequence) : std::nullopt;
  if (!sequence) {
    return Invalid(
        "Invalid SequenceNumber: give the 21 digits of a record, for "
        "AT_SEQUENCE_NUMBER and AFTER_SEQUENCE_NUMBER");
  }
  return *sequence + (request.kind == IteratorKind::kAfterSequence ? 1 : 0);
}

Result<uint64_t> StartOf(const Store& store, const Stream& stream,
                         const tables::ShardIteratorRequest& request, EpochSeconds now) {
  if (request.kind == IteratorKind::kTrimHorizon) return Horizon(store, stream, now);
  if (request.kind == IteratorKind::kLatest) return NextSequence(store, stream);
  return RequestedSequence(request);
}

size_t JsonBytesOf(const tables::StreamRecord& record) {
  const auto image = [](const std::optional<item::Item>& item) {
    return item ? item::JsonBytes(*item) : 0;
  };
  return item::JsonBytes(record.keys) + image(record.old_image) + image(record.new_image);
}

}  // namespace

bool IsOver(const Stream& stream, EpochSeconds now) {
  return stream.closed_at && !IsLive(*stream.closed_at + tables::kStreamRetention.count(), now);
}

Result<uint64_t> Horizon(const Store& store, const Stream& stream, EpochSeconds now) {
  uint64_t horizon = stream.trimmed_through + 1;
  Cursor cursor = store.Iterate(Family::kStreams, StreamRange(stream.id), Walk::kLong);
  for (cursor.Seek(StreamRowKey(stream.id, horizon)); cursor.valid(); cursor.Next()) {
    const EpochSeconds created_at = TRY(CreationTimeOf(cursor.value()));
    if (IsLive(created_at + tables::kStreamRetention.count(), now)) break;
    horizon = TRY(SequenceOfRowKey(cursor.key())) + 1;
  }
  TRY(cursor.status());
  return horizon;
}

Result<tables::ListStreamsReply> ListStreams(const Catalog& catalog,
                                             const tables::ListStreamsRequest& request,
                                             EpochSeconds now) {
  if (request.limit < 1 || request.limit > tables::kMaxListedStreams) {
    return Invalid(
        fmt::format("1 validation error detected: Value '{}' at 'limit' failed to satisfy "
                    "constraint: Member must have value between 1 and {}",
                    request.limit, tables::kMaxListedStreams));
  }
  std::vector<StreamPtr> streams = catalog.ListStreams();
  std::sort(streams.begin(), streams.end(), [&](const StreamPtr& left, const StreamPtr& right) {
    return catalog.ArnOf(*left) < catalog.ArnOf(*right);
  });
  // The region of the ARN does not matter.
  const std::string_view after = request.after_arn ? ResourceOfArn(*request.after_arn) : "";
  tables::ListStreamsReply reply;
  for (const StreamPtr& stream : streams) {
    const std::string arn = catalog.ArnOf(*stream);
    if (request.table && stream->table != *request.table) continue;
    if (ResourceOfArn(arn) <= after) continue;
    if (IsOver(*stream, now)) continue;
    if (reply.streams.size() == request.limit) {
      reply.last_arn = reply.streams.back().arn;
      break;
    }
    reply.streams.push_back({.table = stream->table, .arn = arn, .label = stream->label});
  }
  return reply;
}

Result<tables::StreamDescription> DescribeStream(const Store& store, const Catalog& catalog,
                                                 const std::string& arn, EpochSeconds now) {
  const StreamPtr stream = TRY(NeedStream(catalog, arn, now));
  const uint64_t horizon = TRY(Horizon(store, *stream, now));
  tables::Shard shard{.id = stream->ShardId(), .first_sequence = SequenceText(horizon)};
  if (stream->closed_at) {
    const uint64_t next = TRY(NextSequence(store, *stream));
    shard.last_sequence = SequenceText(next - 1);
  }
  return tables::StreamDescription{.arn = catalog.ArnOf(*stream),
                                   .label = stream->label,
                                   .table = stream->table,
                                   .keys = stream->keys,
                                   .view = stream->view,
                                   .enabled = !stream->closed_at.has_value(),
                                   .created_at = stream->created_at,
                                   .shards = {std::move(shard)}};
}

Result<std::string> MakeShardIterator(const Store& store, const Catalog& catalog,
                                      const tables::ShardIteratorRequest& request,
                                      EpochSeconds now) {
  const StreamPtr stream = TRY(NeedStream(catalog, request.arn, now));
  if (request.shard != stream->ShardId()) {
    return Error{
        ErrorCode::kNotFound,
        fmt::format("Requested resource not found: Shard does not exist: {}", request.shard)};
  }
  const uint64_t start = TRY(StartOf(store, *stream, request, now));
  return EncodeIterator(
      catalog.ArnOf(*stream),
      {.stream = stream->id, .sequence = start, .expires = now + tables::kIteratorLife.count()});
}

Result<tables::RecordsReply> ReadRecords(const Store& store, const Catalog& catalog,
                                         const tables::RecordsRequest& request, EpochSeconds now) {
  Iterator iterator = TRY(ParseIterator(request.iterator));
  if (request.limit < 1 || request.limit > tables::kMaxRecordsPage) {
    return Invalid(
        fmt::format("1 validation error detected: Value '{}' at 'limit' failed to satisfy "
                    "constraint: Member must have value between 1 and {}",
                    request.limit, tables::kMaxRecordsPage));
  }
  tables::RecordsReply reply;
  if (!IsLive(iterator.expires, now)) {
    reply.outcome = tables::RecordsOutcome::kExpired;
    return reply;
  }
  const StreamPtr stream = catalog.FindStream(iterator.stream);
  if (stream != nullptr && catalog.FindStream(iterator.arn) != stream) return WrongIterator();
  if (stream == nullptr || iterator.sequence < TRY(Horizon(store, *stream, now))) {
    reply.outcome = tables::RecordsOutcome::kTrimmed;
    return reply;
  }
  reply.stream = catalog.ArnOf(*stream);
  const uint64_t start = iterator.sequence;
  Cursor cursor = store.Iterate(Family::kStreams, StreamRange(stream->id));
  size_t bytes = 0;
  size_t json_bytes = 0;
  for (cursor.Seek(StreamRowKey(stream->id, start));
       cursor.valid() && reply.records.size() < request.limit && bytes < tables::kMaxRecordsBytes &&
       json_bytes < tables::kMaxPageJsonBytes;
       cursor.Next()) {
    bytes += cursor.value().size();
    reply.records.push_back(TRY(DecodeStreamRecord(cursor.key(), cursor.value())));
    json_bytes += JsonBytesOf(reply.records.back());
    iterator.sequence = TRY(SequenceOfRowKey(cursor.key())) + 1;
  }
  TRY(cursor.status());
  // Numbers have no gaps. If the first record has a higher number, the ones before it were trimmed
  // during this read.
  if (!reply.records.empty() && reply.records.front().sequence != SequenceText(start)) {
    return tables::RecordsReply{.outcome = tables::RecordsOutcome::kTrimmed};
  }
  const bool drained = stream->closed_at && !cursor.valid();
  iterator.expires = now + tables::kIteratorLife.count();
  if (!drained) reply.next = EncodeIterator(reply.stream, iterator);
  return reply;
}

}  // namespace tidemark::embedded
