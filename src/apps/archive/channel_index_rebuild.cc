// How the channel index is made anew while others write it. All shards are read, then what the rows
// of each channel say, then the shards that differ are written, each on the condition that it is as
// it was read. So a name that somebody set after the shards were read makes the write fail, and a
// channel whose row changed after it was looked at is set again by whoever follows the stream.
#include <utility>

#include <fmt/format.h>

#include "apps/archive/channel_index.h"
#include "apps/archive/keys.h"
#include "apps/archive/partition.h"
#include "item/size.h"

namespace tidemark::archive {

namespace {

constexpr int kMaxAttempts = 16;

// What one more entry adds to a shard.
size_t EntryBytes(const std::string& id, const std::string& name) {
  static const size_t kEmptyBytes = item::SizeBytes(item::Value(item::Map()));
  return item::SizeBytes(item::Value(item::Map{{id, name}})) - kEmptyBytes;
}

// The shards as they should be: each entry where it is, once, with its name; those that are
// missing behind them.
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
  // What is found is no longer missing, so that a second entry of it goes.
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
  RebuildReport report;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const Shards before = TRY(ReadShards(team));
    std::set<std::string> channels = scanned;
    for (const IndexShard& shard : before) {
      for (const auto& [id, name] : shard.names) channels.insert(id);
    }
    Names names = TRY(NamesNow(team, channels));
    report.channels = names.size();
    const Shards after = Layout(team, options_.shard_bytes, before).Arrange(std::move(names));
    if (TRY(WriteRebuilt(before, after, &report))) return report;
  }
  return Error{ErrorCode::kConflict,
               fmt::format("the channel index of {} is being written by others all the time; "
                           "rebuild it when there is less going on",
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
  do {
    tables::Page page = TRY(tables_.Scan(request));
    for (const item::Item& row : page.items) {
      const auto* const item_id = row.Find("itemId")->As<std::string>();
      auto place = PlaceOfMessages(*item_id);
      if (!place) place = PlaceOfChannelRow(*item_id);
      if (place) channels.insert(place->channel.text());
    }
    rows += page.scanned;
    if (progress) progress(rows);
    request.start_after = std::move(page.last);
  } while (request.start_after);
  return channels;
}

Result<std::optional<std::string>> ChannelIndex::NameNow(const Place& place) {
  const auto rows = TRY(QueryAll(tables_, PartitionQuery(options_.table, RowsOfChannel(place))));
  if (!rows.empty()) return IndexName(TRY(JoinRows(rows)));
  tables::QueryRequest messages = PartitionQuery(options_.table, MessagesOf(place));
  messages.select = tables::Select::kCount;
  messages.limit = 1;
  if (TRY(tables_.Query(messages)).count == 0) return std::nullopt;
  return "";
}

Result<ChannelIndex::Names> ChannelIndex::NamesNow(const slack::TeamId& team,
                                                   const std::set<std::string>& channels) {
  Names names;
  for (const std::string& id : channels) {
    auto channel = slack::ChannelId::Parse(id);
    if (!channel) continue;  // An entry that can be nothing of ours.
    auto name = TRY(NameNow({.team = team, .channel = *std::move(channel)}));
    if (name) names.emplace_hint(names.end(), id, *std::move(name));
  }
  return names;
}

// False, with what was written until then left as it is, when somebody else wrote meanwhile.
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
    if (!TRY(Write(std::move(actions)))) return false;
    shard.revision = is_new ? 1 : shard.revision.value_or(1) + 1;
    report->changed += different;
  }
  for (; !written.empty() && written.back().names.empty(); written.pop_back()) {
    const IndexShard& last = written.back();
    if (!TRY(Write({DeleteShard(options_.table, last), CheckNewest(options_.table, last)}))) {
      return false;
    }
    --report->shards;
  }
  return true;
}

}  // namespace tidemark::archive
