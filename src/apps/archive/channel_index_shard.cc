#include "apps/archive/channel_index_shard.h"

#include <charconv>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/archive/attributes.h"
#include "apps/archive/keys.h"
#include "item/size.h"

namespace tidemark::archive {

namespace {

// Six digits, so that sort keys are in the order of the numbers.
std::string TextOfNumber(uint32_t number) { return fmt::format("{:06}", number); }

std::optional<uint32_t> ParseNumber(std::string_view text) {
  uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end ? std::optional(number) : std::nullopt;
}

Error Corrupt(const item::Item& row, std::string_view what) {
  return {ErrorCode::kCorrupt,
          fmt::format("row '{}' / '{}' is not a shard of a channel index: {}; delete the row and "
                      "run `tidemark archive rebuild-index`",
                      TextIn(row, "itemId"), TextIn(row, "timestamp"), what)};
}

item::Item ShardKey(const IndexShard& shard) { return KeyOf(shard.item_id, shard.timestamp); }

int64_t NextRevision(const IndexShard& shard) { return shard.revision.value_or(1) + 1; }

// Adds the condition that the stored shard has the revision that was read.
template <typename Request>
void CompareRevision(const IndexShard& shard, Request* request) {
  request->names["#r"] = "revision";
  if (shard.revision) {
    request->condition = "#r = :read";
    request->values[":read"] = item::Number::FromInt(*shard.revision);
  } else {
    request->names["#id"] = "itemId";
    request->condition = "attribute_exists(#id) AND attribute_not_exists(#r)";
  }
}

}  // namespace

IndexShard NewShard(const slack::TeamId& team, uint32_t number) {
  return {.item_id = ChannelIndexOf(team), .number = number, .timestamp = TextOfNumber(number)};
}

item::Item Encode(const IndexShard& shard) {
  std::vector<item::Attribute> names;
  names.reserve(shard.names.size());
  for (const auto& [id, name] : shard.names) names.push_back({id, name});
  return {{"itemId", shard.item_id},
          {"timestamp", shard.timestamp},
          {"type", "channelindex"},
          {"channels_map", item::Map::FromAttributes(std::move(names))},
          {"revision", item::Number::FromInt(shard.revision.value_or(1))}};
}

// Another program may have written the row. What cannot be understood is an error and not skipped:
// otherwise the next write would lose those entries.
Result<IndexShard> DecodeShard(const item::Item& row) {
  IndexShard shard{.item_id = TextIn(row, "itemId"),
                   .timestamp = TextIn(row, "timestamp"),
                   .revision = IntIn(row, "revision")};
  const auto number = ParseNumber(shard.timestamp);
  if (!number) return Corrupt(row, "its timestamp is not a number");
  shard.number = *number;
  const item::Value* const entries = row.Find("channels_map");
  if (entries == nullptr) return shard;
  const auto* const map = entries->As<item::Map>();
  if (map == nullptr) return Corrupt(row, "its channels_map is not a map");
  for (const item::Attribute& entry : *map) {
    const auto* const name = entry.value.As<std::string>();
    if (name == nullptr) return Corrupt(row, "a name in its channels_map is not a string");
    shard.names.emplace_hint(shard.names.end(), entry.name, *name);
  }
  return shard;
}

// In bytes as the store counts them, not in characters.
size_t SizeBytes(const IndexShard& shard) { return item::SizeBytes(Encode(shard)); }

tables::TransactAction CreateShard(const std::string& table, const IndexShard& shard) {
  return tables::PutRequest{.table = table,
                            .item = Encode(shard),
                            .condition = "attribute_not_exists(#id)",
                            .names = {{"#id", "itemId"}}};
}

tables::TransactAction ReplaceShard(const std::string& table, const IndexShard& shard) {
  IndexShard next = shard;
  next.revision = NextRevision(shard);
  tables::PutRequest request{.table = table, .item = Encode(next)};
  CompareRevision(shard, &request);
  return request;
}

tables::TransactAction DeleteShard(const std::string& table, const IndexShard& shard) {
  tables::DeleteRequest request{.table = table, .key = ShardKey(shard)};
  CompareRevision(shard, &request);
  return request;
}

tables::TransactAction SetEntry(const std::string& table, const IndexShard& shard,
                                const std::string& channel, const std::string& name) {
  tables::UpdateRequest request{.table = table,
                                .key = ShardKey(shard),
                                .update = "SET #m.#c = :name, #r = :next",
                                .names = {{"#m", "channels_map"}, {"#c", channel}},
                                .values = {{":name", name}}};
  request.values[":next"] = item::Number::FromInt(NextRevision(shard));
  CompareRevision(shard, &request);
  return request;
}

tables::TransactAction RemoveEntry(const std::string& table, const IndexShard& shard,
                                   const std::string& channel) {
  tables::UpdateRequest request{.table = table,
                                .key = ShardKey(shard),
                                .update = "SET #r = :next REMOVE #m.#c",
                                .names = {{"#m", "channels_map"}, {"#c", channel}}};
  request.values[":next"] = item::Number::FromInt(NextRevision(shard));
  CompareRevision(shard, &request);
  return request;
}

tables::TransactAction CheckUnchanged(const std::string& table, const IndexShard& shard) {
  tables::ConditionCheck check{.table = table, .key = ShardKey(shard), .condition = ""};
  CompareRevision(shard, &check);
  return check;
}

tables::TransactAction CheckNewest(const std::string& table, const IndexShard& shard) {
  return tables::ConditionCheck{.table = table,
                                .key = KeyOf(shard.item_id, TextOfNumber(shard.number + 1)),
                                .condition = "attribute_not_exists(#id)",
                                .names = {{"#id", "itemId"}}};
}

}  // namespace tidemark::archive
