// Operations on change streams.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hashing.h"
#include "item/size.h"
#include "tables/limits.h"
#include "wire/fields.h"
#include "wire/key_schema.h"
#include "wire/names.h"
#include "wire/operation.h"
#include "wire/plain.h"

namespace tidemark::wire {

template <typename F>
void Describe(F& fields, Ref<F, tables::ListStreamsRequest> request) {
  fields.Optional("TableName", request.table);
  fields.Optional("ExclusiveStartStreamArn", request.after_arn);
  fields.Default("Limit", request.limit, tables::kMaxListedStreams);
  fields.CheckRange("Limit", std::optional(request.limit), 1, tables::kMaxListedStreams);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::ListStreamsReply::Stream> stream) {
  fields.Required("TableName", stream.table);
  fields.Required("StreamArn", stream.arn);
  fields.Required("StreamLabel", stream.label);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::ListStreamsReply> reply) {
  fields.Always("Streams", reply.streams);
  fields.Optional("LastEvaluatedStreamArn", reply.last_arn);
}

template <typename F>
void Describe(F& fields, Ref<F, StreamRequest> request) {
  fields.Required("StreamArn", request.arn);
  fields.Optional("ExclusiveStartShardId", request.after_shard);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::Shard> shard) {
  fields.Required("ShardId", shard.id);
  fields.Nested("SequenceNumberRange", [&](auto& range) {
    range.Required("StartingSequenceNumber", shard.first_sequence);
    range.Optional("EndingSequenceNumber", shard.last_sequence);
  });
}

enum class StreamStatus { kEnabled, kDisabled, kEnabling, kDisabling };
template <>
struct NamesOf<StreamStatus> {
  static constexpr EnumName<StreamStatus> kRows[] = {
      {StreamStatus::kEnabled, "ENABLED"},
      {StreamStatus::kDisabled, "DISABLED"},
      {StreamStatus::kEnabling, "ENABLING"},
      {StreamStatus::kDisabling, "DISABLING"},
  };
};

template <typename F>
void Describe(F& fields, Ref<F, tables::StreamDescription> stream) {
  fields.Nested("StreamDescription", [&](auto& inner) {
    inner.Required("StreamArn", stream.arn);
    inner.Required("StreamLabel", stream.label);
    inner.Required("TableName", stream.table);
    inner.Required("KeySchema", stream.keys);
    inner.Required("StreamViewType", stream.view);
    StreamStatus status = stream.enabled ? StreamStatus::kEnabled : StreamStatus::kDisabled;
    inner.Required("StreamStatus", status);
    DescribeTime(inner, "CreationRequestDateTime", stream.created_at);
    inner.Always("Shards", stream.shards);
    if constexpr (std::is_same_v<F, FieldReader>) {
      stream.enabled = status == StreamStatus::kEnabled || status == StreamStatus::kEnabling;
    }
  });
}

template <typename F>
void Describe(F& fields, Ref<F, tables::ShardIteratorRequest> request) {
  fields.Required("StreamArn", request.arn);
  fields.Required("ShardId", request.shard);
  fields.Required("ShardIteratorType", request.kind);
  fields.Optional("SequenceNumber", request.sequence);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::RecordsRequest> request) {
  fields.Required("ShardIterator", request.iterator);
  fields.Default("Limit", request.limit, tables::kMaxRecordsPage);
  fields.CheckRange("Limit", std::optional(request.limit), 1, tables::kMaxRecordsPage);
}

// ---- Records ----

namespace {

constexpr std::string_view kSweeper = "dynamodb.amazonaws.com";

size_t SizeOf(const std::optional<item::Item>& image) {
  return image ? item::SizeBytes(*image) : 0;
}

// "us-east-1" in "arn:aws:dynamodb:us-east-1:000000000000:table/…".
std::string RegionOf(std::string_view arn) {
  for (int part = 0; part < 3; ++part)
    arn.remove_prefix(std::min(arn.find(':'), arn.size() - 1) + 1);
  return std::string(arn.substr(0, arn.find(':')));
}

// A record as a reply shows it, with what comes from its stream.
struct ShownRecord {
  const tables::StreamRecord* record;
  const std::string* stream;
};

// Sequence numbers begin again in each stream, so the id of a change is made of both. Consumers of
// several streams recognise repeated changes by it.
void WriteDerived(FieldWriter& fields, const ShownRecord& shown) {
  constexpr size_t kEventIdLength = 32;
  const std::string id = ToHex(Sha256(*shown.stream + shown.record->sequence));
  fields.Required("eventID", id.substr(0, kEventIdLength));
  fields.Required("eventVersion", std::string("1.1"));
  fields.Required("eventSource", std::string("aws:dynamodb"));
  if (!shown.stream->empty()) fields.Required("awsRegion", RegionOf(*shown.stream));
  if (!shown.record->expired) return;
  fields.Nested("userIdentity", [&](FieldWriter& identity) {
    identity.Required("Type", std::string("Service"));
    identity.Required("PrincipalId", std::string(kSweeper));
  });
}

void ReadExpired(FieldReader& fields, tables::StreamRecord& record) {
  const std::optional<Json> identity = fields.Find("userIdentity");
  record.expired = identity && TextIn(*identity, "PrincipalId") == kSweeper;
}

}  // namespace

template <typename F>
void Describe(F& fields, Ref<F, tables::StreamRecord> record) {
  fields.Required("eventName", record.kind);
  fields.Nested("dynamodb", [&](auto& change) {
    DescribeTime(change, "ApproximateCreationDateTime", record.created_at);
    change.Required("Keys", record.keys);
    change.Optional("NewImage", record.new_image);
    change.Optional("OldImage", record.old_image);
    change.Required("SequenceNumber", record.sequence);
    change.Required("StreamViewType", record.view);
    uint64_t size_bytes =
        item::SizeBytes(record.keys) + SizeOf(record.new_image) + SizeOf(record.old_image);
    change.Default("SizeBytes", size_bytes, 0);
  });
  if constexpr (std::is_same_v<F, FieldReader>) ReadExpired(fields, record);
}

void Describe(FieldWriter& fields, const ShownRecord& shown) {
  Describe(fields, *shown.record);
  WriteDerived(fields, shown);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::RecordsReply> reply) {
  if constexpr (std::is_same_v<F, FieldWriter>) {
    std::vector<ShownRecord> records;
    for (const auto& record : reply.records) records.push_back({&record, &reply.stream});
    fields.Always("Records", records);
  } else {
    fields.Always("Records", reply.records);
  }
  fields.Optional("NextShardIterator", reply.next);
}

namespace {

Message EncodeRecords(const tables::RecordsReply& reply) {
  switch (reply.outcome) {
    case tables::RecordsOutcome::kOk:
      return {.body = Encode(reply)};
    case tables::RecordsOutcome::kExpired:
      return EncodeException(kExpiredIterator, "The shard iterator has expired");
    case tables::RecordsOutcome::kTrimmed:
      return EncodeException(kTrimmedData,
                             "The records that the shard iterator points to were trimmed");
  }
  return {};
}

std::optional<Result<tables::RecordsReply>> DecodeRefusedRecords(std::string_view exception,
                                                                 const Json& /*body*/) {
  if (exception == kExpiredIterator) {
    return Result(tables::RecordsReply{.outcome = tables::RecordsOutcome::kExpired});
  }
  if (exception == kTrimmedData) {
    return Result(tables::RecordsReply{.outcome = tables::RecordsOutcome::kTrimmed});
  }
  return std::nullopt;
}

Message EncodeIterator(const std::string& iterator) {
  Message message;
  JsonWriter writer(&message.body);
  writer.BeginObject();
  FieldWriter(&writer).Required("ShardIterator", iterator);
  writer.EndObject();
  return message;
}

Result<std::string> DecodeIterator(const Json& body) {
  std::string iterator;
  TRY(ReadMembers(body, Kind::kReply, Layer::kOlder,
                  [&](FieldReader& fields) { fields.Required("ShardIterator", iterator); }));
  return iterator;
}

}  // namespace

constinit const Operation<tables::ListStreamsRequest, tables::ListStreamsReply> kListStreams =
    Plain<tables::ListStreamsRequest, tables::ListStreamsReply>("ListStreams", Service::kStreams);
constinit const Operation<StreamRequest, tables::StreamDescription> kDescribeStream =
    Plain<StreamRequest, tables::StreamDescription>("DescribeStream", Service::kStreams);
constinit const Operation<tables::ShardIteratorRequest, std::string> kGetShardIterator = {
    .name = "GetShardIterator",
    .service = Service::kStreams,
    .encode_request = &Encode<tables::ShardIteratorRequest>,
    .decode_request = &DecodeRequest<tables::ShardIteratorRequest>,
    .encode_reply = &EncodeIterator,
    .decode_reply = &DecodeIterator};
constinit const Operation<tables::RecordsRequest, tables::RecordsReply> kGetRecords = {
    .name = "GetRecords",
    .service = Service::kStreams,
    .encode_request = &Encode<tables::RecordsRequest>,
    .decode_request = &DecodeRequest<tables::RecordsRequest>,
    .encode_reply = &EncodeRecords,
    .decode_reply = &DecodeBody<tables::RecordsReply>,
    .decode_outcome = &DecodeRefusedRecords};

}  // namespace tidemark::wire
