#include "apps/archive/archive_table.h"

#include <algorithm>

#include "apps/archive/attributes.h"
#include "tables/conditional_writer.h"
#include "tables/pages.h"

namespace tidemark::archive {

namespace {

constexpr char kPartitionKey[] = "itemId";

// How many ids of one channel are looked at.
constexpr size_t kMaxIds = 16;

}  // namespace

Result<std::optional<item::Item>> ArchiveTable::Get(std::string_view item_id,
                                                    std::string_view timestamp) const {
  return tables_.Get({.table = name_, .key = KeyOf(item_id, timestamp)});
}

Result<std::vector<item::Item>> ArchiveTable::ReadPartition(const std::string& item_id) const {
  return tables::QueryAll(
      tables_,
      {.table = name_, .partition = item::Attribute{kPartitionKey, item_id}, .consistent = true});
}

tables::QueryRequest ArchiveTable::QueryOf(const std::string& item_id) const {
  return {.table = name_,
          .key_condition = "#k = :k",
          .names = {{"#k", kPartitionKey}},
          .values = {{":k", item_id}},
          .consistent = true};
}

Result<std::optional<Message>> ArchiveTable::FindMessage(const Place& place,
                                                         const slack::Timestamp& ts) const {
  const auto row = TRY(Get(MessagesOf(place), ts.text()));
  if (!row) return std::nullopt;
  return TRY(DecodeMessage(*row));
}

Result<std::optional<Channel>> ArchiveTable::FindChannel(const Place& place) const {
  const std::vector<item::Item> rows = TRY(ReadPartition(RowsOfChannel(place)));
  if (rows.empty()) return std::nullopt;
  return TRY(JoinRows(rows));
}

// A count of at most one row: no message is read into memory.
Result<bool> ArchiveTable::HasRows(const std::string& item_id) const {
  const tables::Page page = TRY(tables_.Query({.table = name_,
                                               .partition = item::Attribute{kPartitionKey, item_id},
                                               .select = tables::Select::kCount,
                                               .consistent = true,
                                               .limit = 1}));
  return page.count > 0;
}

Result<bool> ArchiveTable::HasMessages(const Place& place) const {
  return HasRows(MessagesOf(place));
}

// In the order of how likely it is that the channel has such rows.
Result<bool> ArchiveTable::Knows(const Place& place) const {
  for (const std::string& item_id : {MessagesOf(place), RowsOfChannel(place), CoverageOf(place),
                                     ReactionsOf(place), PinsOf(place), MovesOf(place)}) {
    if (TRY(HasRows(item_id))) return true;
  }
  return false;
}

Result<std::vector<Place>> ArchiveTable::NeighboursOf(const Place& place) const {
  std::vector<std::string> ids;
  const auto moves = TRY(ReadPartition(MovesOf(place)));
  for (const item::Item& move : moves) ids.push_back(TextIn(move, "channel_id"));
  for (const item::Item& row : TRY(ReadPartition(RowsOfChannel(place)))) {
    ids.push_back(TextIn(row, "prev_channel_id"));
  }
  std::vector<Place> places;
  for (const std::string& id : ids) {
    auto channel = slack::ChannelId::Parse(id);
    if (channel) places.push_back({.team = place.team, .channel = *std::move(channel)});
  }
  return places;
}

// Breadth-first search over the ids. The list of places is also the list of what was visited, so a
// cycle of ids ends.
Result<std::vector<Place>> ArchiveTable::IdsOf(const Place& place) const {
  std::vector<Place> places = {place};
  for (size_t i = 0; i < places.size(); ++i) {
    for (Place& next : TRY(NeighboursOf(places[i]))) {
      const bool is_new = std::ranges::find(places, next) == places.end();
      if (is_new && places.size() < kMaxIds) places.push_back(std::move(next));
    }
  }
  std::ranges::sort(places);
  return places;
}

Result<std::optional<slack::ChannelId>> ArchiveTable::NextIdOf(const Place& place) const {
  const auto moves = TRY(ReadPartition(MovesOf(place)));
  if (moves.empty()) return std::nullopt;
  auto next = slack::ChannelId::Parse(TextIn(moves.back(), "channel_id"));
  return next ? std::optional(*std::move(next)) : std::nullopt;
}

Result<bool> ArchiveTable::Write(const tables::TransactWriteRequest& request) const {
  const auto reply = tables::JudgeOnce(tables_.TransactWrite(request));
  if (reply) return reply->IsWritten();
  // The rows are made by this program, so no caller can mend them.
  if (reply.error().code != ErrorCode::kInvalid) return reply.error();
  return Error{ErrorCode::kInternal,
               "the store refused a row of the archive: " + reply.error().message};
}

}  // namespace tidemark::archive
