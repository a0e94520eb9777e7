#include "apps/archive/channel_index.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/keys.h"
#include "item/limits.h"
#include "tables/pages.h"
#include "tables/plan_again.h"

namespace tidemark::archive {

namespace {

// How often an entry is planned again because another writer was faster. Each lost round is a round
// that another writer won, so this is also the number of writers that may work at once.
constexpr RetryPolicy kEntryRounds = {.max_retries = 63,
                                      .first_wait = std::chrono::milliseconds(1),
                                      .longest_wait = std::chrono::milliseconds(32),
                                      .jitter = 1};
// A shard may grow up to this by renames: the limit of an item, less some room for its own
// attributes.
constexpr size_t kMaxShardBytes = item::kMaxItemBytes - 1024;

}  // namespace

std::string IndexName(const Channel& channel) {
  const std::string name = channel.name().value_or("");
  return channel.deleted ? "deleted_" + name : name;
}

ChannelIndex::ChannelIndex(ChannelIndexOptions options, tables::Tables* tables,
                           const Runtime& runtime)
    : options_(std::move(options)), table_(tables, options_.table), runtime_(runtime) {}

Status ChannelIndex::Set(const Place& place, const std::string& name) {
  return Enter(place, name, IfHeld::kRename);
}

Status ChannelIndex::Mention(const Place& place) { return Enter(place, "", IfHeld::kLeave); }

Status ChannelIndex::Enter(const Place& place, const std::string& name, IfHeld if_held) {
  const auto round = [&]() -> Result<std::optional<Done>> {
    Step step = TRY(PlanEntry(place, name, if_held));
    if (!step) return std::nullopt;
    if (!step->empty() && !TRY(table_.Write({.actions = std::move(*step)}))) return std::nullopt;
    return Done{};
  };
  if (TRY(tables::PlanAgain<Done>(kEntryRounds, runtime_, round))) return Done{};
  return Error{ErrorCode::kConflict,
               fmt::format("channel {} was not entered into the channel index of {}: other "
                           "writers were faster every time; try again",
                           place.channel.text(), place.team.text())};
}

// First reads only the entry of this channel from every shard, which is small. The whole shard, up
// to 350 KB, is read only when it has to be changed.
Result<ChannelIndex::Step> ChannelIndex::PlanEntry(const Place& place, const std::string& name,
                                                   IfHeld if_held) {
  const Shards shards = TRY(ReadEntries(place));
  for (const IndexShard& shard : shards) {
    const auto entry = shard.names.find(place.channel.text());
    if (entry == shard.names.end()) continue;
    if (if_held == IfHeld::kLeave || entry->second == name) return Step(Actions());
    return PlanRename(place, name, shards, shard);
  }
  return PlanAppend(place, name, shards, nullptr);
}

// The channel stays in its shard unless the row would become larger than an item may be. Then it
// moves: the removal and the new entry are one transaction.
Result<ChannelIndex::Step> ChannelIndex::PlanRename(const Place& place, const std::string& name,
                                                    const Shards& shards,
                                                    const IndexShard& holder) {
  const auto read = TRY(ReadShard(place, holder));
  if (!read || !read->names.contains(place.channel.text())) return Step();
  IndexShard renamed = *read;
  renamed.names[place.channel.text()] = name;
  const size_t after_bytes = SizeBytes(renamed);
  if (after_bytes > kMaxShardBytes) return PlanAppend(place, name, shards, &*read);
  WarnOfSize(renamed, SizeBytes(*read), after_bytes);
  return Step(Actions{SetEntry(options_.table, *read, place.channel.text(), name)});
}

// Why no channel is ever in two shards: a new entry goes only into the newest shard or into a new
// one after it. The transaction checks that the newest shard is as it was read and that no shard
// follows it. Older shards never gain entries. So two writers who enter the same channel at once
// check the same rows, and one of them is refused.
Result<ChannelIndex::Step> ChannelIndex::PlanAppend(const Place& place, const std::string& name,
                                                    const Shards& shards,
                                                    const IndexShard* leaving) {
  const std::string& channel = place.channel.text();
  Actions actions;
  if (leaving != nullptr) actions.push_back(RemoveEntry(options_.table, *leaving, channel));
  IndexShard added = NewShard(place.team, shards.empty() ? 0 : shards.back().number + 1);
  added.names[channel] = name;
  if (shards.empty()) return Step(Actions{CreateShard(options_.table, added)});

  const auto newest = TRY(ReadShard(place, shards.back()));
  const bool leaves_newest = leaving != nullptr && leaving->number == shards.back().number;
  if (!newest || (newest->names.contains(channel) && !leaves_newest)) return Step();
  IndexShard grown = *newest;
  grown.names[channel] = name;
  const size_t after_bytes = SizeBytes(grown);
  if (after_bytes <= options_.shard_bytes && !leaves_newest) {
    WarnOfSize(grown, SizeBytes(*newest), after_bytes);
    actions.push_back(SetEntry(options_.table, *newest, channel, name));
    actions.push_back(CheckNewest(options_.table, *newest));
    return Step(std::move(actions));
  }
  if (!leaves_newest) actions.push_back(CheckUnchanged(options_.table, *newest));
  actions.push_back(CreateShard(options_.table, added));
  return Step(std::move(actions));
}

Result<std::optional<std::string>> ChannelIndex::Find(const Place& place) {
  for (const IndexShard& shard : TRY(ReadEntries(place))) {
    const auto entry = shard.names.find(place.channel.text());
    if (entry != shard.names.end()) return entry->second;
  }
  return std::nullopt;
}

Result<ChannelIndex::Names> ChannelIndex::All(const slack::TeamId& team) {
  Names all;
  for (IndexShard& shard : TRY(ReadShards(team))) all.merge(shard.names);
  return all;
}

Result<std::optional<uint32_t>> ChannelIndex::NewestShard(const slack::TeamId& team) {
  tables::QueryRequest request = table_.QueryOf(ChannelIndexOf(team));
  request.names["#t"] = "timestamp";
  request.projection = "#k, #t";
  std::optional<uint32_t> newest;
  for (const item::Item& row : TRY(tables::QueryAll(table_.tables(), std::move(request)))) {
    newest = std::max(newest.value_or(0), TRY(DecodeShard(row)).number);
  }
  return newest;
}

namespace {

Result<std::vector<IndexShard>> DecodeShards(const std::vector<item::Item>& rows) {
  std::vector<IndexShard> shards;
  shards.reserve(rows.size());
  for (const item::Item& row : rows) shards.push_back(TRY(DecodeShard(row)));
  std::ranges::sort(shards, {}, &IndexShard::number);
  return shards;
}

}  // namespace

Result<ChannelIndex::Shards> ChannelIndex::ReadShards(const slack::TeamId& team) {
  return DecodeShards(TRY(table_.ReadPartition(ChannelIndexOf(team))));
}

Result<ChannelIndex::Shards> ChannelIndex::ReadEntries(const Place& place) {
  tables::QueryRequest request = table_.QueryOf(ChannelIndexOf(place.team));
  request.names.merge(tables::Names{{"#t", "timestamp"},
                                    {"#r", "revision"},
                                    {"#m", "channels_map"},
                                    {"#c", place.channel.text()}});
  request.projection = "#k, #t, #r, #m.#c";
  return DecodeShards(TRY(tables::QueryAll(table_.tables(), std::move(request))));
}

Result<std::optional<IndexShard>> ChannelIndex::ReadShard(const Place& place,
                                                          const IndexShard& shard) {
  const auto row = TRY(table_.Get(ChannelIndexOf(place.team), shard.timestamp));
  if (!row) return std::nullopt;
  return TRY(DecodeShard(*row));
}

void ChannelIndex::WarnOfSize(const IndexShard& shard, size_t before_bytes,
                              size_t after_bytes) const {
  const bool passes = before_bytes <= options_.warn_bytes && after_bytes > options_.warn_bytes;
  if (!passes) return;
  runtime_.logger.Log(
      LogLevel::kWarning, "a shard of the channel index is large",
      {{"item_id", shard.item_id}, {"shard", shard.number}, {"bytes", after_bytes}});
}

}  // namespace tidemark::archive
