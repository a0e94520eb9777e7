// Operations on tables: their definitions, time to live and tags.
#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tables/limits.h"
#include "wire/definitions.h"
#include "wire/fields.h"
#include "wire/key_schema.h"
#include "wire/names.h"
#include "wire/operation.h"
#include "wire/plain.h"
#include "wire/tags.h"

namespace tidemark::wire {

// ---- Parts of a definition ----

template <>
inline constexpr std::string_view kJavaName<tables::Throughput> = "ProvisionedThroughput";
template <>
inline constexpr std::string_view kJavaName<tables::IndexProjection> = "Projection";
template <>
inline constexpr std::string_view kJavaName<tables::IndexSpec> = "GlobalSecondaryIndex";
template <>
inline constexpr std::string_view kJavaName<tables::Encryption> = "SSESpecification";

template <typename F>
void Describe(F& fields, Ref<F, tables::Throughput> throughput) {
  fields.Required("ReadCapacityUnits", throughput.read_units);
  fields.Required("WriteCapacityUnits", throughput.write_units);
  if constexpr (std::is_same_v<F, FieldReader>) {
    // A description has zeros for a table on demand.
    if (fields.place().kind == Kind::kReply) return;
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const auto check = [&](std::string_view name, int64_t units) {
      if (fields.Find(name)) fields.CheckRange(name, std::optional(units), 1, kMost);
    };
    check("WriteCapacityUnits", throughput.write_units);
    check("ReadCapacityUnits", throughput.read_units);
  }
}

template <typename F>
void Describe(F& fields, Ref<F, tables::IndexProjection> projection) {
  fields.Always("ProjectionType", projection.kind);
  fields.UnlessEmpty("NonKeyAttributes", projection.included);
  if constexpr (std::is_same_v<F, FieldReader>) {
    if (!fields.Find("ProjectionType")) {
      fields.Fail(
          Invalid("One or more parameter values were invalid: Unknown ProjectionType: null"));
    }
  }
}

template <typename F>
void Describe(F& fields, Ref<F, tables::IndexSpec> index) {
  fields.Required("IndexName", index.name);
  fields.Required("KeySchema", index.keys);
  fields.Required("Projection", index.projection);
  if constexpr (std::is_same_v<F, FieldReader>) {
    if (fields.Find("IndexName")) {
      fields.CheckPattern("IndexName", std::optional(index.name));
      fields.CheckLength("IndexName", std::optional(index.name), tables::kMinTableNameLength,
                         tables::kMaxTableNameLength);
    }
  }
  fields.Optional("ProvisionedThroughput", index.throughput);
}

struct StreamSpecification {
  bool enabled = false;
  std::optional<tables::StreamView> view;
};

template <>
inline constexpr std::string_view kJavaName<StreamSpecification> = "StreamSpecification";
template <typename F>
void Describe(F& fields, Ref<F, StreamSpecification> stream) {
  fields.Required("StreamEnabled", stream.enabled);
  fields.Optional("StreamViewType", stream.view);
}

// How a table is stored at AWS. It is kept and shown.
enum class EncryptionType { kKms };
template <>
struct NamesOf<EncryptionType> {
  static constexpr EnumName<EncryptionType> kRows[] = {{EncryptionType::kKms, "KMS"}};
};

template <typename F>
void Describe(F& fields, Ref<F, tables::Encryption> encryption) {
  fields.Default("Enabled", encryption.enabled, false);
  fields.Default("KMSMasterKeyId", encryption.key, "");
  if constexpr (std::is_same_v<F, FieldReader>) {
    std::optional<EncryptionType> type;
    fields.Optional("SSEType", type);
  }
}

// What AWS keeps ready for a table (OnDemandThroughput, WarmThroughput) means nothing here. What
// would change where its data are must not be passed over.
template <typename F>
void RefuseReplicas(F& fields) {
  for (const char* name : {"ReplicaUpdates", "GlobalTableWitnessUpdates", "MultiRegionConsistency",
                           "GlobalTableSourceArn", "ResourcePolicy", "VectorIndexes"}) {
    fields.NotOffered(name);
  }
}

enum class BillingMode { kProvisioned, kOnDemand };
template <>
struct NamesOf<BillingMode> {
  static constexpr EnumName<BillingMode> kRows[] = {
      {BillingMode::kProvisioned, "PROVISIONED"},
      {BillingMode::kOnDemand, "PAY_PER_REQUEST"},
  };
};

namespace {

template <typename Index>
tables::IndexKind& KindOf(Index* index) {
  if constexpr (std::is_same_v<Index, tables::IndexSpec>)
    return index->kind;
  else if constexpr (requires { index->index; })
    return index->index.spec.kind;
  else
    return index->spec.kind;
}

// DynamoDB has a list for each kind of index.
template <typename Index>
void WriteIndexes(FieldWriter& fields, const std::vector<Index>& indexes) {
  std::vector<Index> global;
  std::vector<Index> local;
  for (Index index : indexes) {
    const bool is_global = KindOf(&index) == tables::IndexKind::kGlobal;
    (is_global ? global : local).push_back(std::move(index));
  }
  fields.UnlessEmpty("GlobalSecondaryIndexes", global);
  fields.UnlessEmpty("LocalSecondaryIndexes", local);
}

template <typename Index>
void ReadIndexes(FieldReader& fields, std::vector<Index>* indexes) {
  std::vector<Index> local;
  fields.Always("GlobalSecondaryIndexes", *indexes);
  fields.Always("LocalSecondaryIndexes", local);
  for (Index& index : local) KindOf(&index) = tables::IndexKind::kLocal;
  std::ranges::move(local, std::back_inserter(*indexes));
}

}  // namespace

// ---- Requests ----

namespace {

void WriteCreateTable(FieldWriter& fields, const tables::CreateTableRequest& request) {
  Definitions definitions;
  Collect(request.keys, &definitions);
  for (const tables::IndexSpec& index : request.indexes) Collect(index, &definitions);
  fields.Required("AttributeDefinitions", definitions);
  fields.Required("KeySchema", request.keys);
  WriteIndexes(fields, request.indexes);
  fields.Required("BillingMode",
                  request.throughput ? BillingMode::kProvisioned : BillingMode::kOnDemand);
  fields.Default("SSESpecification", request.encryption, {});
  if (request.stream) {
    fields.Required("StreamSpecification", StreamSpecification{true, request.stream});
  }
}

// A list may be left out, but not empty.
void RefuseEmpty(FieldReader& fields, std::string_view name) {
  const std::optional<Json> list = fields.Find(name);
  if (!list || list->Size() > 0) return;
  fields.Fail(
      Invalid(fmt::format("One or more parameter values were invalid: List of {} is empty", name)));
}

std::optional<tables::StreamView> ReadNewStream(FieldReader& fields) {
  std::optional<StreamSpecification> stream;
  fields.Optional("StreamSpecification", stream);
  if (!stream) return std::nullopt;
  if (!stream->enabled && stream->view) {
    fields.Fail(
        Invalid("One or more parameter values were invalid: Table is being created with a stream "
                "disabled, UpdateViewType should not be specified"));
  }
  if (stream->enabled && !stream->view) {
    fields.place().Member("StreamSpecification").Member("StreamViewType").Missing();
  }
  return stream->enabled ? stream->view : std::nullopt;
}

void CheckBilling(FieldReader& fields, const std::optional<BillingMode>& billing,
                  const tables::CreateTableRequest& request) {
  const bool is_on_demand = billing == BillingMode::kOnDemand;
  if (is_on_demand && request.throughput) fields.Fail(ThroughputOnDemand());
  if (!is_on_demand && !request.throughput) {
    fields.Fail(
        Invalid("One or more parameter values were invalid: ReadCapacityUnits and "
                "WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"));
  }
}

// An index has a throughput of its own if the table has one.
void CheckBillingOfIndexes(FieldReader& fields, const std::optional<BillingMode>& billing,
                           const tables::CreateTableRequest& request) {
  if (billing != BillingMode::kOnDemand) return;
  for (const tables::IndexSpec& index : request.indexes) {
    if (!index.throughput) continue;
    fields.Fail(
        Invalid(fmt::format("One or more parameter values were invalid: ProvisionedThroughput "
                            "should not be specified for index: {} when BillingMode is "
                            "PAY_PER_REQUEST",
                            index.name)));
  }
}

void ReadCreateTable(FieldReader& fields, tables::CreateTableRequest& request) {
  std::optional<BillingMode> billing;
  fields.Optional("BillingMode", billing);
  CheckBilling(fields, billing, request);
  Definitions definitions;
  fields.Required("AttributeDefinitions", definitions);
  fields.Required("KeySchema", request.keys);
  fields.Default("SSESpecification", request.encryption, {});
  Types types(definitions, Kind::kRequest);
  fields.Note(types.CheckNamesDiffer());
  fields.Note(types.CheckEnoughFor(request.keys));
  fields.Note(types.SetIn(&request.keys));
  RefuseEmpty(fields, "LocalSecondaryIndexes");
  RefuseEmpty(fields, "GlobalSecondaryIndexes");
  ReadIndexes(fields, &request.indexes);
  for (tables::IndexSpec& index : request.indexes) fields.Note(types.SetIn(&index.keys));
  CheckBillingOfIndexes(fields, billing, request);
  Definitions used;
  Collect(request.keys, &used);
  for (const tables::IndexSpec& index : request.indexes) Collect(index, &used);
  fields.Note(types.CheckAllUsed(used, !request.indexes.empty()));
  request.stream = ReadNewStream(fields);
}

}  // namespace

template <typename F>
void DescribeNewName(F& fields, Ref<F, std::string> table) {
  if constexpr (std::is_same_v<F, FieldReader>) {
    if (!fields.Find("TableName")) return fields.DefinedTable("TableName", table);
    fields.NewTable("TableName", table);
  } else {
    fields.Required("TableName", table);
  }
}

template <typename F>
void Describe(F& fields, Ref<F, tables::CreateTableRequest> request) {
  DescribeNewName(fields, request.table);
  fields.Optional("ProvisionedThroughput", request.throughput);
  fields.Default("DeletionProtectionEnabled", request.deletion_protected, false);
  fields.Default("TableClass", request.table_class, tables::TableClass::kStandard);
  fields.UnlessEmpty("Tags", request.tags);
  RefuseReplicas(fields);
  if constexpr (std::is_same_v<F, FieldWriter>)
    WriteCreateTable(fields, request);
  else
    ReadCreateTable(fields, request);
}

struct DropIndex {
  std::string name;
};
struct ChangeIndex {
  std::string name;
  tables::Throughput throughput;
};
template <>
constexpr std::string_view kActionName<tables::IndexSpec> = "Create";
template <>
constexpr std::string_view kActionName<DropIndex> = "Delete";
template <>
constexpr std::string_view kActionName<ChangeIndex> = "Update";
template <typename F>
void DescribeAction(F& fields, Ref<F, ChangeIndex> index) {
  fields.Required("IndexName", index.name);
  fields.Required("ProvisionedThroughput", index.throughput);
}
template <typename F>
void DescribeAction(F& fields, Ref<F, tables::IndexSpec> index) {
  Describe(fields, index);
}
template <typename F>
void DescribeAction(F& fields, Ref<F, DropIndex> index) {
  fields.Required("IndexName", index.name);
}
using IndexUpdate = std::variant<tables::IndexSpec, DropIndex, ChangeIndex>;
template <>
inline constexpr std::string_view kJavaName<IndexUpdate> = "GlobalSecondaryIndexUpdate";
template <>
constexpr NotOneTexts kNotOne<IndexUpdate> = {
    "One or more parameter values were invalid: One of GlobalSecondaryIndexUpdate.Update, "
    "GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null",
    "One or more parameter values were invalid: Only one of GlobalSecondaryIndexUpdate.Update, "
    "GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete may be given"};

namespace {

void WriteUpdateTable(FieldWriter& fields, const tables::UpdateTableRequest& request) {
  std::vector<IndexUpdate> updates;
  Definitions definitions;
  if (request.add_index) {
    updates.emplace_back(*request.add_index);
    Collect(*request.add_index, &definitions);
  }
  if (request.drop_index) updates.emplace_back(DropIndex{*request.drop_index});
  for (const auto& [name, throughput] : request.index_throughput) {
    updates.emplace_back(ChangeIndex{name, throughput});
  }
  if (request.on_demand) fields.Required("BillingMode", BillingMode::kOnDemand);
  if (request.provisioned) fields.Required("BillingMode", BillingMode::kProvisioned);
  fields.UnlessEmpty("AttributeDefinitions", definitions);
  fields.UnlessEmpty("GlobalSecondaryIndexUpdates", updates);
  if (!request.stream) return;
  StreamSpecification stream{.enabled = request.stream->enabled};
  if (stream.enabled) stream.view = request.stream->view;
  fields.Required("StreamSpecification", stream);
}

const std::string& NameIn(const IndexUpdate& update) {
  return std::visit([](const auto& one) -> const std::string& { return one.name; }, update);
}

void ReadIndexUpdates(FieldReader& fields, const Definitions& definitions,
                      std::vector<IndexUpdate> updates, tables::UpdateTableRequest& request) {
  std::set<std::string> names;
  for (IndexUpdate& update : updates) {
    if (!names.insert(NameIn(update)).second) {
      fields.Fail(
          Invalid(fmt::format("One or more parameter values were invalid: Only one global "
                              "secondary index update per index is allowed simultaneously. Index: "
                              "{}",
                              NameIn(update))));
    }
    if (const auto* changed = std::get_if<ChangeIndex>(&update)) {
      request.index_throughput[changed->name] = changed->throughput;
      continue;
    }
    if (request.add_index || request.drop_index) {
      fields.Fail(
          Invalid("Subscriber limit exceeded: Only 1 online index can be created or deleted "
                  "simultaneously per table"));
    }
    if (auto* added = std::get_if<tables::IndexSpec>(&update)) {
      fields.Note(Types(definitions, Kind::kRequest).SetIn(&added->keys));
      request.add_index = std::move(*added);
    } else {
      request.drop_index = std::get<DropIndex>(update).name;
    }
  }
}

void ReadUpdateTable(FieldReader& fields, tables::UpdateTableRequest& request) {
  std::vector<IndexUpdate> updates;
  Definitions definitions;
  fields.Always("AttributeDefinitions", definitions);
  fields.Always("GlobalSecondaryIndexUpdates", updates);
  std::optional<BillingMode> billing;
  fields.Optional("BillingMode", billing);
  request.on_demand = billing == BillingMode::kOnDemand;
  request.provisioned = billing == BillingMode::kProvisioned;
  if (request.on_demand && request.throughput) fields.Fail(ThroughputOnDemand());
  if (billing == BillingMode::kProvisioned && !request.throughput) {
    fields.Fail(
        Invalid("One or more parameter values were invalid: ProvisionedThroughput must be "
                "specified when BillingMode is PROVISIONED"));
  }
  ReadIndexUpdates(fields, definitions, std::move(updates), request);
  std::optional<StreamSpecification> stream;
  fields.Optional("StreamSpecification", stream);
  if (!stream) return;
  if (stream->enabled && !stream->view) {
    fields.place().Member("StreamSpecification").Member("StreamViewType").Missing();
  }
  request.stream = tables::UpdateStream{.enabled = stream->enabled};
  if (stream->view) request.stream->view = *stream->view;
}

}  // namespace

template <typename F>
void Describe(F& fields, Ref<F, tables::UpdateTableRequest> request) {
  fields.DefinedTable("TableName", request.table);
  fields.Optional("ProvisionedThroughput", request.throughput);
  fields.Optional("DeletionProtectionEnabled", request.deletion_protected);
  fields.Optional("TableClass", request.table_class);
  fields.Optional("SSESpecification", request.encryption);
  RefuseReplicas(fields);
  if constexpr (std::is_same_v<F, FieldWriter>)
    WriteUpdateTable(fields, request);
  else
    ReadUpdateTable(fields, request);
}

template <typename F>
void Describe(F& fields, Ref<F, TableRequest> request) {
  fields.DefinedTable("TableName", request.table);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::ListTablesRequest> request) {
  fields.Optional("ExclusiveStartTableName", request.after);
  fields.CheckPattern("ExclusiveStartTableName", request.after);
  fields.CheckLength("ExclusiveStartTableName", request.after, tables::kMinTableNameLength,
                     tables::kMaxTableNameLength);
  fields.Default("Limit", request.limit, tables::kMaxListedTables);
  fields.CheckRange("Limit", std::optional(request.limit), 1, tables::kMaxListedTables);
}

template <typename F>
void Describe(F& fields, Ref<F, tables::ListTablesReply> reply) {
  fields.Always("TableNames", reply.tables);
  fields.Optional("LastEvaluatedTableName", reply.last);
}

// ---- Descriptions ----

inline void Describe(FieldReader& fields, tables::IndexDescription& index) {
  Describe(fields, index.spec);
  fields.Default("IndexArn", index.arn, "");
  fields.Always("IndexStatus", index.state, tables::IndexState::kActive);
  fields.Default("Backfilling", index.backfilling, false);
  fields.Always("ItemCount", index.item_count);
  fields.Always("IndexSizeBytes", index.size_bytes);
}

namespace {

// A table on demand is described with a throughput of zero.
constexpr tables::Throughput kOnDemandThroughput = {};

void WriteThroughput(FieldWriter& fields, const std::optional<tables::Throughput>& throughput) {
  fields.Nested("ProvisionedThroughput", [&](FieldWriter& inner) {
    inner.Required("NumberOfDecreasesToday", 0);
    Describe(inner, throughput.value_or(kOnDemandThroughput));
  });
}

}  // namespace

// A local index has no state and no throughput of its own.
inline void Describe(FieldWriter& fields, const tables::IndexDescription& index) {
  fields.Required("IndexName", index.spec.name);
  fields.Default("IndexArn", index.arn, "");
  fields.Required("KeySchema", index.spec.keys);
  fields.Required("Projection", index.spec.projection);
  fields.Required("ItemCount", index.item_count);
  fields.Required("IndexSizeBytes", index.size_bytes);
  if (index.spec.kind == tables::IndexKind::kLocal) return;
  fields.Required("IndexStatus", index.state);
  fields.Default("Backfilling", index.backfilling, false);
  WriteThroughput(fields, index.spec.throughput);
}

namespace {

// The ARN of the key under which AWS would encrypt the table: of the one that was given, or of
// AWS's own.
std::string ArnOfKey(const tables::TableDescription& table) {
  const std::string& key = table.encryption.key;
  if (key.starts_with("arn:")) return key;
  constexpr std::string_view kService = ":dynamodb:";
  std::string arn = table.arn.substr(0, table.arn.find(":table/"));
  if (const size_t at = arn.find(kService); at != std::string::npos) {
    arn.replace(at, kService.size(), ":kms:");
  }
  if (key.empty()) return arn + ":alias/aws/dynamodb";
  return fmt::format("{}:{}{}", arn, key.starts_with("alias/") ? "" : "key/", key);
}

void WriteDescription(FieldWriter& fields, const tables::TableDescription& table) {
  Definitions definitions;
  Collect(table.keys, &definitions);
  for (const tables::IndexDescription& index : table.indexes) Collect(index, &definitions);
  fields.Required("AttributeDefinitions", definitions);
  WriteIndexes(fields, table.indexes);
  WriteThroughput(fields, table.throughput);
  // As in DynamoDB: a provisioned table has no summary.
  if (!table.throughput) {
    fields.Nested("BillingModeSummary", [&](FieldWriter& billing) {
      billing.Required("BillingMode", BillingMode::kOnDemand);
      billing.Required("LastUpdateToPayPerRequestDateTime", Timestamp{table.created_at});
    });
  }
  if (table.table_class != tables::TableClass::kStandard) {
    fields.Nested("TableClassSummary",
                  [&](FieldWriter& summary) { summary.Required("TableClass", table.table_class); });
  }
  if (table.encryption.enabled) {
    fields.Nested("SSEDescription", [&](FieldWriter& encryption) {
      encryption.Required("Status", std::string("ENABLED"));
      encryption.Required("SSEType", EncryptionType::kKms);
      encryption.Required("KMSMasterKeyArn", ArnOfKey(table));
    });
  }
  if (!table.latest_stream) return;
  fields.Required("LatestStreamArn", table.latest_stream->arn);
  fields.Required("LatestStreamLabel", table.latest_stream->label);
  if (table.latest_stream->enabled) {
    fields.Required("StreamSpecification", StreamSpecification{true, table.latest_stream->view});
  }
}

void ReadDescription(FieldReader& fields, tables::TableDescription& table) {
  Definitions definitions;
  fields.Always("AttributeDefinitions", definitions);
  ReadIndexes(fields, &table.indexes);
  Types types(definitions, Kind::kReply);
  fields.Note(types.SetIn(&table.keys));
  for (tables::IndexDescription& index : table.indexes) {
    fields.Note(types.SetIn(&index.spec.keys));
    if (index.spec.throughput == kOnDemandThroughput) index.spec.throughput.reset();
  }
  fields.Optional("ProvisionedThroughput", table.throughput);
  if (table.throughput == kOnDemandThroughput) table.throughput.reset();
  if (fields.Find("TableClassSummary")) {
    fields.Nested("TableClassSummary", [&](FieldReader& summary) {
      summary.Default("TableClass", table.table_class, tables::TableClass::kStandard);
    });
  }
  if (fields.Find("SSEDescription")) {
    fields.Nested("SSEDescription", [&](FieldReader& encryption) {
      table.encryption.enabled = true;
      encryption.Default("KMSMasterKeyArn", table.encryption.key, "");
    });
  }
  std::optional<std::string> arn;
  fields.Optional("LatestStreamArn", arn);
  if (!arn) return;
  table.latest_stream = tables::StreamSummary{.arn = *arn};
  fields.Default("LatestStreamLabel", table.latest_stream->label, "");
  StreamSpecification stream;
  fields.Default("StreamSpecification", stream, {});
  table.latest_stream->enabled = stream.enabled;
  if (stream.view) table.latest_stream->view = *stream.view;
}

}  // namespace

template <typename F>
void Describe(F& fields, Ref<F, tables::TableDescription> table) {
  fields.Required("TableName", table.name);
  fields.Default("TableArn", table.arn, "");
  fields.Default("TableId", table.id, "");
  fields.Required("TableStatus", table.state);
  fields.Required("KeySchema", table.keys);
  fields.Always("ItemCount", table.item_count);
  fields.Always("TableSizeBytes", table.size_bytes);
  fields.Always("DeletionProtectionEnabled", table.deletion_protected);
  DescribeTime(fields, "CreationDateTime", table.created_at);
  if constexpr (std::is_same_v<F, FieldWriter>)
    WriteDescription(fields, table);
  else
    ReadDescription(fields, table);
}

// ---- Time to live and tags ----

template <typename F>
void Describe(F& fields, Ref<F, TimeToLive> reply) {
  fields.Nested("TimeToLiveDescription", [&](auto& inner) {
    std::string status = reply.attribute ? "ENABLED" : "DISABLED";
    inner.Required("TimeToLiveStatus", status);
    inner.Optional("AttributeName", reply.attribute);
  });
}

template <typename F>
void Describe(F& fields, Ref<F, TagResourceRequest> request) {
  fields.Resource(request.table);
  fields.Required("Tags", request.tags);
  if constexpr (std::is_same_v<F, FieldReader>) {
    if (fields.Find("Tags") && request.tags.empty()) {
      fields.Fail(Invalid("Atleast one Tag needs to be provided as Input."));
    }
  }
}

template <typename F>
void Describe(F& fields, Ref<F, UntagResourceRequest> request) {
  fields.Resource(request.table);
  fields.Required("TagKeys", request.names);
  if constexpr (std::is_same_v<F, FieldReader>) {
    if (fields.Find("TagKeys") && request.names.empty()) {
      fields.Fail(Invalid("Atleast one Tag Key needs to be provided as Input."));
    }
  }
}

namespace {

// A reply that is one member of an object.
constexpr char kDescriptionMember[] = "TableDescription";
constexpr char kTableMember[] = "Table";
constexpr char kTagsMember[] = "Tags";

template <const char* member, typename Reply>
Message EncodeWithin(const Reply& reply) {
  Message message;
  JsonWriter writer(&message.body);
  writer.BeginObject();
  FieldWriter(&writer).Required(member, reply);
  writer.EndObject();
  return message;
}

template <const char* member, typename Reply>
Result<Reply> DecodeWithin(const Json& body) {
  Reply reply{};
  TRY(ReadMembers(body, Kind::kReply, Layer::kOlder,
                  [&](FieldReader& fields) { fields.Required(member, reply); }));
  return reply;
}

template <const char* member, typename Request, typename Reply>
constexpr Operation<Request, Reply> Within(std::string_view name) {
  return {.name = name,
          .encode_request = &Encode<Request>,
          .decode_request = &DecodeRequest<Request>,
          .encode_reply = &EncodeWithin<member, Reply>,
          .decode_reply = &DecodeWithin<member, Reply>};
}

Message EncodeNothing(const Done& /*reply*/) { return {}; }
Result<Done> DecodeNothing(const Json& /*body*/) { return Done{}; }

template <typename Request>
constexpr Operation<Request, Done> WithoutReply(std::string_view name) {
  return {.name = name,
          .encode_request = &Encode<Request>,
          .decode_request = &DecodeRequest<Request>,
          .encode_reply = &EncodeNothing,
          .decode_reply = &DecodeNothing};
}

std::string EncodeTagged(const TableRequest& request) {
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject();
  FieldWriter(&writer).Resource(request.table);
  writer.EndObject();
  return body;
}

Result<TableRequest> DecodeTagged(const Json& body, Layer layer) {
  TableRequest request;
  TRY(ReadMembers(body, Kind::kRequest, layer,
                  [&](FieldReader& fields) { fields.Resource(request.table); }));
  return request;
}

}  // namespace

constinit const Operation<tables::CreateTableRequest, tables::TableDescription> kCreateTable =
    Within<kDescriptionMember, tables::CreateTableRequest, tables::TableDescription>("CreateTable");
constinit const Operation<TableRequest, tables::TableDescription> kDescribeTable =
    Within<kTableMember, TableRequest, tables::TableDescription>("DescribeTable");
constinit const Operation<tables::UpdateTableRequest, tables::TableDescription> kUpdateTable =
    Within<kDescriptionMember, tables::UpdateTableRequest, tables::TableDescription>("UpdateTable");
constinit const Operation<TableRequest, tables::TableDescription> kDeleteTable =
    Within<kDescriptionMember, TableRequest, tables::TableDescription>("DeleteTable");
constinit const Operation<tables::ListTablesRequest, tables::ListTablesReply> kListTables =
    Plain<tables::ListTablesRequest, tables::ListTablesReply>("ListTables");
constinit const Operation<TableRequest, TimeToLive> kDescribeTimeToLive =
    Plain<TableRequest, TimeToLive>("DescribeTimeToLive");
constinit const Operation<TagResourceRequest, Done> kTagResource =
    WithoutReply<TagResourceRequest>("TagResource");
constinit const Operation<UntagResourceRequest, Done> kUntagResource =
    WithoutReply<UntagResourceRequest>("UntagResource");
constinit const Operation<TableRequest, tables::Tags> kListTagsOfResource = {
    .name = "ListTagsOfResource",
    .encode_request = &EncodeTagged,
    .decode_request = &DecodeTagged,
    .encode_reply = &EncodeWithin<kTagsMember, tables::Tags>,
    .decode_reply = &DecodeWithin<kTagsMember, tables::Tags>};

}  // namespace tidemark::wire
