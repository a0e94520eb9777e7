// Sets the time to live of a table's items. The reply repeats what was set.
#include "wire/fields.h"
#include "wire/operation.h"

namespace tidemark::wire {

template <typename F>
void DescribeSpecification(F& fields, Ref<F, tables::SetTimeToLiveRequest> request) {
  fields.Nested("TimeToLiveSpecification", [&](auto& inner) {
    inner.Required("AttributeName", request.attribute);
    inner.Required("Enabled", request.enabled);
    constexpr size_t kMaxAttributeName = 255;
    if constexpr (std::is_same_v<F, FieldReader>) {
      if (!inner.Find("AttributeName")) return;
      inner.CheckLength("AttributeName", std::optional(request.attribute), 1, kMaxAttributeName);
    }
  });
}

template <typename F>
void Describe(F& fields, Ref<F, tables::SetTimeToLiveRequest> request) {
  fields.DefinedTable("TableName", request.table);
  DescribeSpecification(fields, request);
}

namespace {

Message EncodeTimeToLive(const tables::SetTimeToLiveRequest& reply) {
  Message message;
  JsonWriter writer(&message.body);
  writer.BeginObject();
  FieldWriter fields(&writer);
  DescribeSpecification(fields, reply);
  writer.EndObject();
  return message;
}

Result<tables::SetTimeToLiveRequest> DecodeTimeToLive(const Json& body) {
  tables::SetTimeToLiveRequest reply;
  TRY(ReadMembers(body, Kind::kReply, Layer::kOlder,
                  [&](FieldReader& fields) { DescribeSpecification(fields, reply); }));
  return reply;
}

}  // namespace

constinit const Operation<tables::SetTimeToLiveRequest, tables::SetTimeToLiveRequest>
    kUpdateTimeToLive = {.name = "UpdateTimeToLive",
                         .encode_request = &Encode<tables::SetTimeToLiveRequest>,
                         .decode_request = &DecodeRequest<tables::SetTimeToLiveRequest>,
                         .encode_reply = &EncodeTimeToLive,
                         .decode_reply = &DecodeTimeToLive};

}  // namespace tidemark::wire
