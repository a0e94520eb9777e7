#include "tables/embedded/catalog_encoding.h"

#include <fmt/format.h>

namespace tidemark::embedded {

namespace {

using item::Binary;
using item::Item;
using item::List;
using item::Map;
using item::Number;
using item::String;
using item::Value;

// ---- Reading an item that must have certain attributes ----

// Reads attributes one after the other. A missing attribute is remembered and does not end the
// decoding, so that a decoder is a plain list of attributes.
class Fields {
 public:
  explicit Fields(const Item& row) : row_(row) {}

  template <typename T>
  T Need(std::string_view name) {
    const Value* value = row_.Find(name);
    const T* found = value == nullptr ? nullptr : value->As<T>();
    if (found != nullptr) return *found;
    missing_ = name;
    return T{};
  }
  template <typename T>
  std::optional<T> Maybe(std::string_view name) {
    if (!row_.Contains(name)) return std::nullopt;
    return Need<T>(name);
  }
  int64_t NeedInt(std::string_view name) {
    const std::optional<int64_t> value = Need<Number>(name).Floor();
    if (!value) missing_ = name;
    return value.value_or(0);
  }
  std::optional<int64_t> MaybeInt(std::string_view name) {
    if (!row_.Contains(name)) return std::nullopt;
    return NeedInt(name);
  }
  uint32_t NeedNumber32(std::string_view name) { return static_cast<uint32_t>(NeedInt(name)); }
  void Fail(std::string_view name) { missing_ = name; }

  Status status() const {
    if (missing_.empty()) return Done{};
    return Error{ErrorCode::kCorrupt,
                 fmt::format("a catalog row has no valid '{}'; restore a backup", missing_)};
  }

 private:
  const Item& row_;
  std::string missing_;
};

Value Int(int64_t value) { return Number::FromInt(value); }

// ---- Parts ----

Map EncodeKeyAttribute(const item::KeyAttribute& attribute) {
  return {{"name", attribute.name}, {"type", String(item::ToString(attribute.type))}};
}

item::KeyAttribute DecodeKeyAttribute(const Map& map, Fields* owner) {
  Fields fields(map);
  item::KeyAttribute attribute{.name = fields.Need<String>("name")};
  const std::optional<item::Type> type = item::ParseType(fields.Need<String>("type"));
  if (!type || !fields.status().has_value()) owner->Fail("keys");
  attribute.type = type.value_or(item::Type::kString);
  return attribute;
}

List EncodeAttributes(const std::vector<const item::KeyAttribute*>& attributes) {
  List list;
  for (const item::KeyAttribute* attribute : attributes) {
    list.push_back(EncodeKeyAttribute(*attribute));
  }
  return list;
}

// The first attribute, and those after it.
item::KeyAttribute DecodeAttributes(const List& list, std::vector<item::KeyAttribute>* more,
                                    Fields* owner) {
  item::KeyAttribute first;
  for (size_t i = 0; i < list.size(); ++i) {
    const Map* map = list[i].As<Map>();
    item::KeyAttribute attribute = DecodeKeyAttribute(map == nullptr ? Map() : *map, owner);
    if (i == 0) {
      first = std::move(attribute);
    } else {
      more->push_back(std::move(attribute));
    }
  }
  if (list.empty()) owner->Fail("keys");
  return first;
}

// A key with several attributes has other names here than one with a single attribute. An older
// program that passed over the further attributes would write wrong rows; this way it refuses the
// row.
Map EncodeKeys(const item::KeySchema& keys) {
  if (!keys.more_partition.empty() || !keys.more_sort.empty()) {
    Map several{{"partitions", EncodeAttributes(item::PartitionAttributes(keys))}};
    if (keys.sort) several.Set("sorts", EncodeAttributes(item::SortAttributes(keys)));
    return several;
  }
  Map map{{"partition", EncodeKeyAttribute(keys.partition)}};
  if (keys.sort) map.Set("sort", EncodeKeyAttribute(*keys.sort));
  return map;
}

item::KeySchema DecodeKeys(Fields* fields) {
  const Map map = fields->Need<Map>("keys");
  Fields parts(map);
  item::KeySchema keys;
  if (const auto partitions = parts.Maybe<List>("partitions")) {
    keys.partition = DecodeAttributes(*partitions, &keys.more_partition, fields);
    const auto sorts = parts.Maybe<List>("sorts");
    if (sorts) keys.sort = DecodeAttributes(*sorts, &keys.more_sort, fields);
    return keys;
  }
  keys.partition = DecodeKeyAttribute(parts.Need<Map>("partition"), fields);
  if (auto sort = parts.Maybe<Map>("sort")) keys.sort = DecodeKeyAttribute(*sort, fields);
  return keys;
}

void EncodeFill(const Fill& fill, Map* map) {
  map->Set("complete", fill.complete);
  map->Set("done_to", Binary{fill.done_to});
}

Fill DecodeFill(Fields* fields) {
  return {.complete = fields->Need<bool>("complete"),
          .done_to = fields->Need<Binary>("done_to").bytes};
}

void EncodeThroughput(const std::optional<tables::Throughput>& throughput, Map* map) {
  if (!throughput) return;
  map->Set("read_units", Int(throughput->read_units));
  map->Set("write_units", Int(throughput->write_units));
}

std::optional<tables::Throughput> DecodeThroughput(Fields* fields) {
  const std::optional<int64_t> read_units = fields->MaybeInt("read_units");
  if (!read_units) return std::nullopt;
  return tables::Throughput{.read_units = *read_units,
                            .write_units = fields->NeedInt("write_units")};
}

Map EncodeIndex(const Index& index) {
  List included;
  for (const std::string& name : index.spec.projection.included) included.push_back(name);
  Map map{{"name", index.spec.name},
          {"kind", Int(static_cast<int>(index.spec.kind))},
          {"keys", EncodeKeys(index.spec.keys)},
          {"projection", Int(static_cast<int>(index.spec.projection.kind))},
          {"included", std::move(included)},
          {"keyspace", Int(index.keyspace)}};
  EncodeThroughput(index.spec.throughput, &map);
  EncodeFill(index.fill, &map);
  return map;
}

std::vector<std::string> DecodeIncluded(Fields* fields) {
  std::vector<std::string> included;
  for (const Value& name : fields->Need<List>("included")) {
    if (const String* text = name.As<String>()) included.push_back(*text);
  }
  return included;
}

Index DecodeIndex(const Map& map, Fields* owner) {
  Fields fields(map);
  Index index;
  index.spec.name = fields.Need<String>("name");
  index.spec.kind = static_cast<tables::IndexKind>(fields.NeedInt("kind"));
  index.spec.keys = DecodeKeys(&fields);
  index.spec.projection.kind = static_cast<tables::ProjectionKind>(fields.NeedInt("projection"));
  index.spec.projection.included = DecodeIncluded(&fields);
  index.spec.throughput = DecodeThroughput(&fields);
  index.keyspace = fields.NeedNumber32("keyspace");
  index.fill = DecodeFill(&fields);
  if (!fields.status().has_value()) owner->Fail("indexes");
  return index;
}

Map EncodeExpiry(const ExpiryList& expiry) {
  Map map{{"attribute", expiry.attribute}, {"keyspace", Int(expiry.keyspace)}};
  EncodeFill(expiry.fill, &map);
  return map;
}

ExpiryList DecodeExpiry(const Map& map, Fields* owner) {
  Fields fields(map);
  ExpiryList expiry;
  expiry.attribute = fields.Need<String>("attribute");
  expiry.keyspace = fields.NeedNumber32("keyspace");
  expiry.fill = DecodeFill(&fields);
  if (!fields.status().has_value()) owner->Fail("expiry");
  return expiry;
}

StreamPtr FindStream(const std::optional<int64_t>& id,
                     const std::map<StreamId, StreamPtr>& streams) {
  if (!id) return nullptr;
  auto place = streams.find(static_cast<StreamId>(*id));
  return place == streams.end() ? nullptr : place->second;
}

}  // namespace

Item EncodeStream(const Stream& stream) {
  Item row{{"id", Int(stream.id)},
           {"table", stream.table},
           {"label", stream.label},
           {"keys", EncodeKeys(stream.keys)},
           {"view", Int(static_cast<int>(stream.view))},
           {"created_at", Int(stream.created_at)},
           {"trimmed_through", Int(static_cast<int64_t>(stream.trimmed_through))}};
  if (stream.closed_at) row.Set("closed_at", Int(*stream.closed_at));
  return row;
}

Result<Stream> DecodeStream(const Item& row) {
  Fields fields(row);
  Stream stream;
  stream.id = fields.NeedNumber32("id");
  stream.table = fields.Need<String>("table");
  stream.label = fields.Need<String>("label");
  stream.keys = DecodeKeys(&fields);
  stream.view = static_cast<tables::StreamView>(fields.NeedInt("view"));
  stream.created_at = fields.NeedInt("created_at");
  stream.trimmed_through = static_cast<uint64_t>(fields.NeedInt("trimmed_through"));
  stream.closed_at = fields.MaybeInt("closed_at");
  TRY(fields.status());
  return stream;
}

Item EncodeTable(const Table& table) {
  List indexes;
  for (const Index& index : table.indexes) indexes.push_back(EncodeIndex(index));
  Map tags;
  for (const auto& [name, value] : table.tags) tags.Set(name, value);
  Item row{{"name", table.name},
           {"id", table.id},
           {"keyspace", Int(table.keyspace)},
           {"keys", EncodeKeys(table.keys)},
           {"indexes", std::move(indexes)},
           {"tags", std::move(tags)},
           {"deletion_protected", table.deletion_protected},
           {"created_at", Int(table.created_at)}};
  EncodeThroughput(table.throughput, &row);
  if (table.table_class != tables::TableClass::kStandard) {
    row.Set("table_class", Int(static_cast<int>(table.table_class)));
  }
  if (table.encryption.enabled) row.Set("encryption_key", table.encryption.key);
  if (table.expiry) row.Set("expiry", EncodeExpiry(*table.expiry));
  if (table.stream) row.Set("stream", Int(table.stream->id));
  if (table.latest_stream) row.Set("latest_stream", Int(table.latest_stream->id));
  return row;
}

Result<Table> DecodeTable(const Item& row, const std::map<StreamId, StreamPtr>& streams) {
  Fields fields(row);
  Table table;
  table.name = fields.Need<String>("name");
  table.id = fields.Need<String>("id");
  table.keyspace = fields.NeedNumber32("keyspace");
  table.keys = DecodeKeys(&fields);
  for (const Value& index : fields.Need<List>("indexes")) {
    if (const Map* map = index.As<Map>()) table.indexes.push_back(DecodeIndex(*map, &fields));
  }
  const Map tags = fields.Need<Map>("tags");
  for (const auto& [name, value] : tags) {
    if (const String* text = value.As<String>()) table.tags[name] = *text;
  }
  table.deletion_protected = fields.Need<bool>("deletion_protected");
  table.created_at = fields.NeedInt("created_at");
  table.throughput = DecodeThroughput(&fields);
  // Older programs do not write these.
  if (fields.MaybeInt("table_class")) table.table_class = tables::TableClass::kInfrequentAccess;
  if (auto key = fields.Maybe<String>("encryption_key")) {
    table.encryption = {.enabled = true, .key = *std::move(key)};
  }
  if (auto expiry = fields.Maybe<Map>("expiry")) table.expiry = DecodeExpiry(*expiry, &fields);
  table.stream = FindStream(fields.MaybeInt("stream"), streams);
  table.latest_stream = FindStream(fields.MaybeInt("latest_stream"), streams);
  if (row.Contains("stream") && table.stream == nullptr) fields.Fail("stream");
  TRY(fields.status());
  return table;
}

}  // namespace tidemark::embedded
