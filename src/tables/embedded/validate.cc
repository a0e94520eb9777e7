#include "tables/embedded/validate.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/ascii.h"
#include "item/limits.h"
#include "item/validate.h"
#include "tables/limits.h"

namespace tidemark::embedded {

namespace {

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

// Table and index names share one rule. The name of something new has at least 3 characters. Every
// other request may name a table with 1 or 2, and is told that there is no such table. The two
// lengths have different error texts.
Status ValidateName(const std::string& name, std::string_view member, size_t min_length) {
  const bool fits = name.size() >= min_length && name.size() <= tables::kMaxTableNameLength;
  if (!fits && min_length > 1) {
    return Invalid(
        fmt::format("{} must be at least {} characters long and at most {} characters long",
                    member == "tableName" ? "TableName" : "IndexName", min_length,
                    tables::kMaxTableNameLength));
  }
  if (!fits) {
    return Invalid(
        fmt::format("1 validation error detected: Value '{}' at '{}' failed to satisfy "
                    "constraint: Member must have length between {} and {}",
                    name, member, min_length, tables::kMaxTableNameLength));
  }
  if (!std::all_of(name.begin(), name.end(), IsNameCharacter)) {
    return Invalid(
        fmt::format("1 validation error detected: Value '{}' at '{}' failed to satisfy "
                    "constraint: Member must satisfy regular expression pattern: "
                    "[a-zA-Z0-9_.-]+",
                    name, member));
  }
  return Done{};
}

Status ValidateKeyAttribute(const item::KeyAttribute& attribute) {
  if (attribute.name.empty() || attribute.name.size() > item::kMaxKeyAttributeNameBytes) {
    return Invalid(
        fmt::format("One or more parameter values were invalid: the name of a key "
                    "attribute must have 1 to {} bytes",
                    item::kMaxKeyAttributeNameBytes));
  }
  // The enum begins with the three types that have an order: S, N and B.
  if (attribute.type > item::Type::kBinary) {
    return Invalid(
        fmt::format("One or more parameter values were invalid: the key attribute {} "
                    "must be of type S, N or B, not {}",
                    attribute.name, item::ToString(attribute.type)));
  }
  return Done{};
}

Status ValidateKeys(const item::KeySchema& keys) {
  TRY(ValidateKeyAttribute(keys.partition));
  if (!keys.sort) return Done{};
  TRY(ValidateKeyAttribute(*keys.sort));
  if (keys.sort->name == keys.partition.name) {
    return Invalid(
        "Both the Hash Key and the Range Key element in the KeySchema have the same name");
  }
  return Done{};
}

// Only the key of a global index may have several attributes.
Status ValidateSingleAttributes(const item::KeySchema& keys) {
  if (keys.more_partition.empty() && keys.more_sort.empty()) return Done{};
  return Invalid(
      "1 validation error detected: Value at 'keySchema' failed to satisfy constraint: Member must "
      "have length less than or equal to 2");
}

Status ValidateMoreAttributes(const item::KeySchema& keys) {
  const auto too_many = [](std::string_view kind) {
    return Invalid(
        fmt::format("The KeySchema exceeds the maximum allowed number of {} key attributes", kind));
  };
  if (keys.more_partition.size() >= tables::kMaxKeyAttributes) return too_many("HASH");
  if (keys.more_sort.size() >= tables::kMaxKeyAttributes) return too_many("RANGE");
  std::set<std::string> names;
  for (const item::KeyAttribute* attribute : item::AttributesOf(keys)) {
    TRY(ValidateKeyAttribute(*attribute));
    if (names.insert(attribute->name).second) continue;
    return Invalid("The KeySchema contains multiple key attributes with the same name");
  }
  return Done{};
}

Status ValidateProjection(const tables::IndexProjection& projection) {
  const bool includes = projection.kind == tables::ProjectionKind::kInclude;
  if (includes && projection.included.empty()) {
    return Invalid(
        "One or more parameter values were invalid: ProjectionType is INCLUDE, but "
        "NonKeyAttributes is not specified");
  }
  if (!includes && !projection.included.empty()) {
    return Invalid(
        fmt::format("One or more parameter values were invalid: ProjectionType is {}, but "
                    "NonKeyAttributes is specified",
                    projection.kind == tables::ProjectionKind::kAll ? "ALL" : "KEYS_ONLY"));
  }
  return Done{};
}

// An attribute must have the same type in every key that uses it: DynamoDB has one list of
// attribute definitions for a table and all its indexes.
class AttributeTypes {
 public:
  Status Add(const item::KeySchema& keys) {
    for (const item::KeyAttribute* attribute : item::AttributesOf(keys)) TRY(Add(*attribute));
    return Done{};
  }

 private:
  Status Add(const item::KeyAttribute& attribute) {
    const auto [place, added] = types_.emplace(attribute.name, attribute.type);
    if (added || place->second == attribute.type) return Done{};
    return Invalid(
        fmt::format("One or more parameter values were invalid: the attribute {} is "
                    "defined as {} and as {}",
                    attribute.name, item::ToString(place->second), item::ToString(attribute.type)));
  }

  std::map<std::string, item::Type> types_;
};

// The limit of included attributes is for all indexes together. An attribute that two indexes
// include counts twice.
Status ValidateIndexCounts(const std::vector<tables::IndexSpec>& indexes) {
  size_t global = 0;
  size_t local = 0;
  size_t included = 0;
  std::set<std::string> names;
  for (const tables::IndexSpec& index : indexes) {
    (index.kind == tables::IndexKind::kGlobal ? global : local) += 1;
    included += index.projection.included.size();
    if (!names.insert(index.name).second) {
      return Invalid(fmt::format(
          "One or more parameter values were invalid: Duplicate index name: {}", index.name));
    }
  }
  if (global > tables::kMaxGlobalIndexes) {
    return Invalid(
        "One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the "
        "per-table limit of 20");
  }
  if (local > tables::kMaxLocalIndexes) {
    return Invalid(
        "One or more parameter values were invalid: Number of LocalSecondaryIndexes exceeds "
        "per-table limit of 5");
  }
  if (included > tables::kMaxIncludedAttributes) {
    return Invalid(
        "One or more parameter values were invalid: Number of attributes specified in "
        "NonKeyAttributes exceeds the limit of 100");
  }
  return Done{};
}

}  // namespace

Status ValidateTableName(const std::string& table) { return ValidateName(table, "tableName", 1); }

Status ValidateRegion(const std::string& region) {
  const bool fits = std::all_of(region.begin(), region.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  if (fits && !region.empty()) return Done{};
  return Invalid(fmt::format(
      "'{}' is not a region: give small letters, digits and dashes, such as us-east-1, in "
      "aws.region (AWS_REGION)",
      region));
}

Status ValidateValues(const tables::Values& values) {
  for (const auto& [name, value] : values) {
    TRY(item::ValidateValue(value).WithContext(
        fmt::format("ExpressionAttributeValues contains invalid value: Key {}", name)));
  }
  return Done{};
}

Status ValidateThroughput(const std::optional<tables::Throughput>& throughput) {
  if (!throughput || (throughput->read_units >= 1 && throughput->write_units >= 1)) return Done{};
  return Invalid(
      fmt::format("1 validation error detected: Value '{}' at 'provisionedThroughput' failed "
                  "to satisfy constraint: Member must have value greater than or equal to 1",
                  std::min(throughput->read_units, throughput->write_units)));
}

Status ValidateIndex(const tables::IndexSpec& index, const item::KeySchema& table_keys) {
  TRY(ValidateName(index.name, "indexName", tables::kMinTableNameLength));
  TRY(ValidateKeys(index.keys));
  if (index.kind == tables::IndexKind::kLocal) TRY(ValidateSingleAttributes(index.keys));
  TRY(ValidateMoreAttributes(index.keys));
  TRY(ValidateProjection(index.projection));
  TRY(ValidateThroughput(index.throughput));
  if (index.kind == tables::IndexKind::kGlobal) return Done{};
  // A local index has the items of one partition in another order. So it has the partition key of
  // the table, and a sort key; and a table without a sort key has only one item in a partition.
  if (!table_keys.sort) {
    return Invalid(
        "One or more parameter values were invalid: Table KeySchema does not have a range "
        "key, which is required when specifying a LocalSecondaryIndex");
  }
  if (!index.keys.sort) {
    return Invalid(
        fmt::format("One or more parameter values were invalid: Index KeySchema does not "
                    "have a range key for index: {}",
                    index.name));
  }
  if (!(index.keys.partition == table_keys.partition)) {
    return Invalid(
        fmt::format("One or more parameter values were invalid: Index KeySchema does not "
                    "have the same leading hash key as table KeySchema for index: {}. index hash "
                    "key: {}, table hash key: {}",
                    index.name, index.keys.partition.name, table_keys.partition.name));
  }
  return Done{};
}

namespace {

// All characters outside of ASCII count as letters.
// Of UTF-8: bytes that begin a character.
ptrdiff_t Characters(std::string_view text) {
  return std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; });
}

bool IsTagCharacter(char c) {
  constexpr std::string_view kSigns = "_.:/=+-@ \t";
  const bool is_letter = Lower(c) >= 'a' && Lower(c) <= 'z';
  return is_letter || IsDigit(c) || static_cast<unsigned char>(c) >= 0x80 ||
         kSigns.find(c) != std::string_view::npos;
}

}  // namespace

Status ValidateTags(const tables::Tags& tags) {
  if (tags.size() > tables::kMaxTags) {
    return Invalid(
        fmt::format("One or more parameter values were invalid: Too many tags: {}, at most {} "
                    "are allowed",
                    tags.size(), tables::kMaxTags));
  }
  for (const auto& [name, value] : tags) {
    if (!std::ranges::all_of(name + value, IsTagCharacter)) {
      return Invalid(
          fmt::format("One or more parameter values were invalid: the tag '{}' may only have "
                      "letters, digits, spaces and _ . : / = + - @",
                      name));
    }
    if (name.starts_with("aws:")) {
      return Invalid(fmt::format(
          "One or more parameter values were invalid: the tag '{}' begins with aws:", name));
    }
    if (name.empty() || Characters(name) > 128 || Characters(value) > 256) {
      return Invalid(
          fmt::format("One or more parameter values were invalid: the tag '{}' must have a "
                      "name of 1 to 128 characters and a value of at most 256",
                      name));
    }
  }
  return Done{};
}

Status ValidateCreateTable(const tables::CreateTableRequest& request) {
  TRY(ValidateName(request.table, "tableName", tables::kMinTableNameLength));
  TRY(ValidateKeys(request.keys));
  TRY(ValidateSingleAttributes(request.keys));
  TRY(ValidateThroughput(request.throughput));
  AttributeTypes types;
  TRY(types.Add(request.keys));
  for (const tables::IndexSpec& index : request.indexes) {
    TRY(ValidateIndex(index, request.keys));
    TRY(types.Add(index.keys));
  }
  TRY(ValidateIndexCounts(request.indexes));
  return ValidateTags(request.tags);
}

// No limit is fine: an empty optional differs from every number.
Status ValidateLimit(std::optional<uint32_t> limit) {
  if (limit != 0u) return Done{};
  return Invalid(
      "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: "
      "Member must have value greater than or equal to 1");
}

}  // namespace tidemark::embedded
