#include "tables/stream_reader.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tidemark::tables {

namespace {

// Iterators expire and records are trimmed while we ask for them. Once is normal, and twice is
// rare. More often means that the store cannot be read now.
constexpr int kMaxIteratorAttempts = 4;

bool IsNotFound(const Error& error) { return error.code == ErrorCode::kNotFound; }

StreamPosition DrainedAt(const StreamPosition& position) {
  StreamPosition drained = position;
  drained.drained = true;
  return drained;
}

}  // namespace

StreamPosition StreamPage::PositionAfter(const StreamRecord& record) const {
  StreamPosition position = start;
  position.sequence = record.sequence;
  return position;
}

// Each round moves to a later shard or returns, so there are at most as many rounds as shards.
Result<StreamPage> StreamReader::Read(const StreamPosition& from, size_t limit) {
  StreamPage page{.start = from};
  while (true) {
    bool is_in_stream = !page.start.stream.empty() && !page.start.drained;
    if (!is_in_stream && !TRY(MoveToNextStream(&page.start))) {
      page.at_end = true;
      return page;
    }
    RecordsReply reply = TRY(ReadShard(&page, limit));
    if (!reply.records.empty()) {
      page.records = std::move(reply.records);
      return page;
    }
    if (page.start.drained) continue;
    if (reply.next || !TRY(MoveToNextShard(&page.start))) {
      page.at_end = true;
      return page;
    }
  }
}

// False when no stream of the table is later than the position.
Result<bool> StreamReader::MoveToNextStream(StreamPosition* position) {
  std::optional<ListStreamsReply::Stream> next;
  ListStreamsRequest request{.table = table_};
  bool any = false;
  do {
    ListStreamsReply reply = TRY(tables_->ListStreams(request));
    for (ListStreamsReply::Stream& stream : reply.streams) {
      any = true;
      if (stream.label > position->label && (!next || stream.label < next->label)) {
        next = std::move(stream);
      }
    }
    // The list has no order that we may rely on, so the next stream is known after the last page.
    request.after_arn = reply.last_arn;
  } while (request.after_arn);
  if (!any && position->stream.empty()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("table '{}' has no stream: enable one to follow its changes", table_)};
  }
  if (!next) return false;
  StreamPosition moved{.stream = next->arn, .label = next->label};
  // The position moves only when the stream has a shard to read. Otherwise a reader would remember
  // a stream without a position in it.
  if (!TRY(MoveToNextShard(&moved))) return false;
  *position = std::move(moved);
  return true;
}

// Moves to the shard that follows in the stream's description, or marks the stream drained when
// it is closed and has no more. False when the stream is open, but its next shard is not there yet.
Result<bool> StreamReader::MoveToNextShard(StreamPosition* position) {
  Result<StreamDescription> description = tables_->DescribeStream(position->stream);
  if (!description && IsNotFound(description.error())) {
    *position = DrainedAt(*position);
    return true;
  }
  if (!description) return description.error();
  const std::vector<Shard>& shards = description->shards;
  auto current = std::find_if(shards.begin(), shards.end(),
                              [&](const Shard& shard) { return shard.id == position->shard; });
  // If the shard is no longer listed, it was the oldest one. The first listed shard follows it.
  auto next = current == shards.end() ? shards.begin() : std::next(current);
  if (next != shards.end()) {
    position->shard = next->id;
    position->sequence.clear();
    return true;
  }
  if (description->enabled) return false;
  *position = DrainedAt(*position);
  return true;
}

// Reads after page->start. If records after it were trimmed, it continues with the first record
// that is left. If the whole stream is gone, it marks the stream as drained. Both are a gap.
Result<RecordsReply> StreamReader::ReadShard(StreamPage* page, size_t limit) {
  if (page->start.drained) return RecordsReply{};
  for (int attempt = 0; attempt < kMaxIteratorAttempts; ++attempt) {
    Result<RecordsReply> reply = TryReadShard(page->start, limit);
    if (!reply && IsNotFound(reply.error())) {
      page->gap = true;
      page->start = DrainedAt(page->start);
      return RecordsReply{};
    }
    if (!reply || reply->outcome == RecordsOutcome::kOk) return reply;
    if (reply->outcome == RecordsOutcome::kTrimmed) {
      page->gap = true;
      page->start.sequence.clear();
    }
  }
  return Error{ErrorCode::kUnavailable,
               fmt::format("stream {}: every iterator expired before it could be used; try later",
                           page->start.stream)};
}

Result<RecordsReply> StreamReader::TryReadShard(const StreamPosition& position, size_t limit) {
  if (!iterator_ || iterator_position_ != position) {
    bool from_start = position.sequence.empty();
    iterator_ = TRY(tables_->GetShardIterator(
        {.arn = position.stream,
         .shard = position.shard,
         .kind = from_start ? IteratorKind::kTrimHorizon : IteratorKind::kAfterSequence,
         .sequence = from_start ? std::nullopt : std::optional(position.sequence)}));
  }
  // The iterator is used only once. After a failure or an expiry a new one is requested.
  std::string iterator = *std::exchange(iterator_, std::nullopt);
  RecordsReply reply = TRY(tables_->GetRecords({.iterator = iterator, .limit = limit}));
  if (reply.outcome == RecordsOutcome::kOk && reply.next) {
    iterator_ = reply.next;
    iterator_position_ = position;
    if (!reply.records.empty()) iterator_position_.sequence = reply.records.back().sequence;
  }
  return reply;
}

}  // namespace tidemark::tables
