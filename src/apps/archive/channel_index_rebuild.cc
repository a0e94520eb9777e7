// Rebuilding the channel index while others write it. The order matters: first all shards are read,
// then the rows of each channel, then the shards that differ are written, each only if it is as it
// was read. When another writer sets a name after the shards were read, the write fails and the
// rebuild starts again. When a channel's row changes after it was read, the processor that follows
// the stream sets the new name afterwards.
#include <utility>

#include <fmt/format.h>

#include "apps/archive/channel_index.h"
#include "apps/archive/keys.h"
#include "item/size.h"
#include "tables/pages.h"
#include "tables/plan_again.h"

namespace tidemark::archive {

namespace {

// How many bytes one more entry adds to a shard.
size_t EntryBytes(const std::string& id, const std::string& name) {
  static const size_t kEmptyBytes = item::SizeBytes(item::Value(item::Map()));
  return item::SizeBytes(item::Value(item::Map{{id, name}})) - kEmptyBytes;
}

// Computes the shards as they should be. An entry stays in its shard, with its correct name. Wrong
// and double entries go. Missing ones are added to the last shard, and to new shards after it.
class Layout {
 public:
  Layout(const slack::TeamId& team, size_t shard_bytes, std::vector<IndexShard> shards)
      : team_(team), shard_bytes_(shard_bytes), shards_(std::move(shards)) {}

  std::vector<IndexShard> Arrange(ChannelNames missing) {
    for (IndexShard& shard : shards_) Correct(&shard, &missing);
    size_t bytes = shards_.empty() ? 0 : SizeBytes(shards_.back());
    for (const auto& [id, name] : missing) {
      const size_t more_bytes = EntryBytes(id, name);
      if (shards_.empty() || bytes + more_bytes > shard_bytes_) {
        shards_.push_back(NewShard(team_, shards_.empty() ? 0 : shards_.back().number + 1));
        bytes = SizeBytes(shards_.back());
      }
      shards_.back().names[id] = name;
      bytes += more_bytes;
    }
    return std::move(shards_);
  }

 private:
  // An entry that is found is taken out of `missing`. A second entry of the same channel is then
  // not found there and is dropped.
  static void Correct(IndexShard* shard, ChannelNames* missing) {
    ChannelNames kept;
    for (const auto& [id, name] : shard->names) {
      if (auto wanted = missing->extract(id)) kept.insert(std::move(wanted));
    }
    shard->names = std::move(kept);
  }

  const slack::TeamId& team_;
  const size_t shard_bytes_;
  std::vector<IndexShard> shards_;
};

uint64_t CountDifferences(const ChannelNames& before, const ChannelNames& after) {
  uint64_t different = 0;
  for (const auto& [id, name] : before) {
    const auto found = after.find(id);
    if (found == after.end() || found->second != name) ++different;
  }
  for (const auto& [id, name] : after) {
    if (!before.contains(id)) ++different;
  }
  return different;
}

}  // namespace

Result<ChannelIndex::RebuildReport> ChannelIndex::Rebuild(
    const slack::TeamId& team, const std::function<void(uint64_t rows)>& progress) {
  const std::set<std::string> scanned = TRY(ScanChannels(team, progress));
  RebuildReport report;  // Adds up the changes of all rounds.
  const auto round = [&]() -> Result<std::optional<RebuildReport>> {
    const Shards before = TRY(ReadShards(team));
    std::set<std::string> channels = scanned;
    for (const IndexShard& shard : before) {
      for (const auto& [id, name] : shard.names) channels.insert(id);
    }
    Names names = TRY(NamesNow(team, channels));
    report.channels = names.size();
    const Shards after = Layout(team, options_.shard_bytes, before).Arrange(std::move(names));
    if (!TRY(WriteRebuilt(before, after, &report))) return std::nullopt;
    return report;
  };
  const auto rebuilt = TRY(tables::PlanAgain<RebuildReport>(tables::kPlanAgain, runtime_, round));
  if (rebuilt) return *rebuilt;
  return Error{ErrorCode::kConflict,
               fmt::format("the channel index of {} was not rebuilt: other writers changed it "
                           "every time; try again when there is less traffic",
                           team.text())};
}

Result<std::set<std::string>> ChannelIndex::ScanChannels(
    const slack::TeamId& team, const std::function<void(uint64_t rows)>& progress) {
  tables::ScanRequest request{.table = options_.table,
                              .filter = "begins_with(#k, :channels) OR begins_with(#k, :messages)",
                              .projection = "#k",
                              .names = {{"#k", "itemId"}},
                              .values = {{":channels", fmt::format("channel#{}#", team.text())},
                                         {":messages", fmt::format("message#{}#", team.text())}},
                              .consistent = true};
  std::set<std::string> channels;
  uint64_t rows = 0;
  const auto visit = [&](const tables::Page& page) -> Result<tables::Paging> {
    for (const item::Item& row : page.items) {
      const auto* const item_id = row.Find("itemId")->As<std::string>();
      auto place = PlaceOfMessages(*item_id);
      if (!place) place = PlaceOfChannelRow(*item_id);
      if (place) channels.insert(place->channel.text());
    }
    rows += page.scanned;
    if (progress) progress(rows);
    return tables::Paging::kContinue;
  };
  TRY(tables::ForEachPage(table_.tables(), std::move(request), visit));
  return channels;
}

Result<std::optional<std::string>> ChannelIndex::NameNow(const Place& place) {
  if (const auto channel = TRY(table_.FindChannel(place))) return IndexName(*channel);
  if (!TRY(table_.HasMessages(place))) return std::nullopt;
  return "";
}

Result<ChannelIndex::Names> ChannelIndex::NamesNow(const slack::TeamId& team,
                                                   const std::set<std::string>& channels) {
  Names names;
  for (const std::string& id : channels) {
    auto channel = slack::ChannelId::Parse(id);
    if (!channel) continue;  // Not the id of a channel: drop the entry.
    auto name = TRY(NameNow({.team = team, .channel = *std::move(channel)}));
    if (name) names.emplace_hint(names.end(), id, *std::move(name));
  }
  return names;
}

// False when another writer changed a shard. The shards written before that stay: they are correct,
// and the next round finds nothing to change in them.
Result<bool> ChannelIndex::WriteRebuilt(const Shards& before, const Shards& after,
                                        RebuildReport* report) {
  report->shards = 0;
  Shards written = after;
  for (size_t i = 0; i < written.size(); ++i) {
    IndexShard& shard = written[i];
    const bool is_new = i >= before.size();
    const uint64_t different = CountDifferences(is_new ? Names() : before[i].names, shard.names);
    ++report->shards;
    if (different == 0) continue;
    Actions actions;
    if (is_new) {
      actions.push_back(CreateShard(options_.table, shard));
      if (i > 0) actions.push_back(CheckUnchanged(options_.table, written[i - 1]));
    } else {
      actions.push_back(ReplaceShard(options_.table, shard));
      if (i + 1 == before.size()) actions.push_back(CheckNewest(options_.table, shard));
    }
    if (!TRY(table_.Write({.actions = std::move(actions)}))) return false;
    shard.revision = is_new ? 1 : shard.revision.value_or(1) + 1;
    report->changed += different;
  }
  for (; !written.empty() && written.back().names.empty(); written.pop_back()) {
    const IndexShard& last = written.back();
    if (!TRY(table_.Write(
            {.actions = {DeleteShard(options_.table, last), CheckNewest(options_.table, last)}}))) {
      return false;
    }
    --report->shards;
  }
  return true;
}

}  // namespace tidemark::archive
