// The Planner of an Archive: what news means for the rows that are there. One function a kind of
// news; each reads what it needs and gives the actions of one transaction, conditional on what it
// read. May be called from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/archive/archive.h"
#include "apps/archive/channel.h"
#include "apps/archive/message.h"
#include "apps/archive/reading.h"

namespace tidemark::archive {

class Archive::Planner {
 public:
  // All outlive this; logger and large_rows may be null.
  Planner(const ArchiveOptions& options, tables::Tables* tables, const Logger* logger,
          Counter* large_rows)
      : options_(options), tables_(*tables), logger_(logger), large_rows_(large_rows) {}

  Result<Plan> For(const slack::TeamId& team, const MessageNews& news);
  Result<Plan> For(const slack::TeamId& team, const ScopedChannelNews& scoped);
  Result<Plan> For(const slack::TeamId& team, const ReactionNews& news);
  Result<Plan> For(const slack::TeamId& team, const PinNews& news);
  Result<Plan> For(const slack::TeamId& team, const UserNews& news);
  Result<Plan> For(const slack::TeamId& team, const TeamNews& news);
  Result<Plan> For(const slack::TeamId& team, const EmojiNews& news);
  Result<Plan> For(const slack::TeamId& team, const CoverageNews& news);
  Result<Plan> For(const slack::TeamId& team, const NoNews& news);

 private:
  using Rows = std::vector<item::Item>;

  Result<std::optional<item::Item>> Get(std::string_view item_id, std::string_view timestamp);
  Result<Rows> ChannelRows(const Place& place);
  Result<bool> HasMessages(const Place& place);
  // Whether what is told of the channel is kept.
  Result<bool> MayKeep(const Place& place, Scope scope);
  // The same, by its rows.
  Result<bool> WasPublic(const Place& place, const Rows& rows);

  using Bodies = std::map<slack::Timestamp, Body>;
  // Those of the older bodies that the news is about and that are there.
  Result<Bodies> OlderBodies(const Message& message, const MessageNews& news);
  Plan PlanMessage(MessageState state, const std::optional<item::Item>& row,
                   const Bodies& known_older);
  void AddVersions(const MessageState& state, const Bodies& known_older, Plan* plan) const;

  // The channel under its new id begins with what is known of it under the old one.
  Status JoinOldChannel(const Place& old_place, Channel* channel);
  Plan PlanChannel(Channel channel, const item::Item* row);
  Status AddMove(const slack::TeamId& team, const ChannelNews& news, Plan* plan);

  // A row that the newest event wins.
  Result<Plan> PlanNewest(item::Item row);
  // A row that stays as it is once it is there.
  Status AddOnce(item::Item row, Plan* plan);

  // The state as a row. A raw event that makes the row too large is dropped; nullopt, and logged,
  // when the row is too large without it.
  template <typename T>
  std::optional<item::Item> EncodeToFit(T* state, std::string* raw_event);
  void NoteSize(const item::Item& row);

  tables::PutRequest PutNew(item::Item row) const;
  // Makes the row, or changes the one that was read.
  void AddRow(const item::Item* row, item::Item next, Plan* plan);

  const ArchiveOptions& options_;
  tables::Tables& tables_;
  const Logger* const logger_;
  Counter* const large_rows_;
};

}  // namespace tidemark::archive
