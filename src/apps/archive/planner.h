// The Planner of an Archive works out what news changes in the table. There is one function for
// each kind of news. It reads the rows it needs, joins the news to them, and returns the actions of
// one transaction. Every action has a condition that holds only while the rows are as they were
// read.
//
// It writes nothing. May be called from any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/archive/archive.h"
#include "apps/archive/channel.h"
#include "apps/archive/message.h"
#include "apps/archive/read_event.h"

namespace tidemark::archive {

// What becomes of a raw event that its row has no room for.
enum class LargeEvents { kToObjects, kDropped };

class Archive::Planner {
 public:
  // All outlive this.
  Planner(const ArchiveOptions& options, const ArchiveTable& table, LargeEvents large_events,
          const Logger& logger, Counter& large_rows)
      : options_(options),
        table_(table),
        large_events_(large_events),
        logger_(logger),
        large_rows_(large_rows) {}

  Result<Plan> For(const slack::TeamId& team, const MessageNews& news);
  Result<Plan> For(const slack::TeamId& team, const ScopedChannelNews& scoped);
  Result<Plan> For(const slack::TeamId& team, const ReactionNews& news);
  Result<Plan> For(const slack::TeamId& team, const PinNews& news);
  Result<Plan> For(const slack::TeamId& team, const UserNews& news);
  Result<Plan> For(const slack::TeamId& team, const TeamNews& news);
  Result<Plan> For(const slack::TeamId& team, const EmojiNews& news);
  Result<Plan> For(const slack::TeamId& team, const CoverageNews& news);
  Result<Plan> For(const slack::TeamId& team, const NoNews& news);

  // Whether news about the channel is kept.
  Result<bool> MayKeep(const Place& place, Scope scope);

 private:
  using Rows = std::vector<item::Item>;

  // The same for a mark of the coverage.
  Result<bool> MayMark(const Place& place, Scope scope);
  // The same for Scope::kAsk, given the channel's rows.
  Result<bool> WasPublic(const Place& place, const Rows& rows);

  using Bodies = std::map<slack::Timestamp, Body>;
  // The older bodies that a MessageState needs, as far as the table has them.
  Result<Bodies> OlderBodies(const Message& message, const MessageNews& news);
  Result<Plan> PlanMessage(MessageState state, const std::optional<item::Item>& row,
                           const Bodies& known_older);
  void AddVersions(const MessageState& state, const Bodies& known_older, Plan* plan);
  // A message or a version as a row. A raw event that the row has no room for becomes an object of
  // the plan. nullopt as EncodeToFit.
  template <typename T>
  std::optional<item::Item> EncodeWithBody(const T& state, Body* body, Plan* plan);

  // Adds what is known under the channel's old id to the channel under its new id.
  Status JoinOldChannel(const Place& old_place, Channel* channel);
  Plan PlanChannel(Channel channel, const item::Item* row);
  Status AddMove(const slack::TeamId& team, const ChannelNews& news, Plan* plan);
  Status AddNotice(const slack::TeamId& team, MessageNews notice, Plan* plan);

  // A row in which the newest event wins. `known` is the row as it is stored.
  void AddNewest(item::Item row, const std::optional<item::Item>& known, Plan* plan);
  Result<Plan> PlanNewest(item::Item row);
  // What a person or an emoji is now.
  Status AddPresent(item::Item row, Plan* plan);
  // A row that stays as it is once it is there.
  Status AddOnce(item::Item row, Plan* plan);

  // The state as a row. When the row is too large its raw event is dropped: `raw` is the part of
  // the state that has it, or nullptr. nullopt, and an error in the log, when it is too large even
  // then.
  template <typename T, typename Raw>
  std::optional<item::Item> EncodeToFit(const T& state, Raw* raw);
  void WarnOfSize(const item::Item& row);

  tables::PutRequest PutNew(item::Item row) const;
  // Adds the action that creates the row, or updates the one that was read.
  void AddRow(const item::Item* row, item::Item next, Plan* plan);

  const ArchiveOptions& options_;
  const ArchiveTable& table_;
  const LargeEvents large_events_;
  const Logger& logger_;
  Counter& large_rows_;
};

}  // namespace tidemark::archive
