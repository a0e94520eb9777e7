#include <utility>

#include "apps/archive/attributes.h"
#include "apps/archive/planner.h"
#include "apps/archive/row_update.h"

namespace tidemark::archive {

// A channel that is known by its messages alone was public: only their kind is kept.
Status Archive::Planner::JoinOldChannel(const Place& old_place, Channel* channel) {
  const Rows rows = TRY(ChannelRows(old_place));
  if (!rows.empty()) JoinState(TRY(JoinRows(rows)), channel);
  if (!channel->visibility.value && TRY(HasMessages(old_place))) {
    channel->visibility.value = Visibility::kPublic;
  }
  return Done{};
}

Status Archive::Planner::AddMove(const slack::TeamId& team, const ChannelNews& news, Plan* plan) {
  RowBuilder row;
  row.Set("itemId", MovesOf({.team = team, .channel = *news.moved_from}));
  row.Set("timestamp", news.event_ts.text());
  row.Set("type", "moved");
  row.Set("channel_id", news.channel.text());
  return AddOnce(row.Build(), plan);
}

Plan Archive::Planner::PlanChannel(Channel channel, const item::Item* row) {
  auto next = EncodeToFit(&channel, &channel.raw_event);
  if (!next) return Plan{.outcome = Outcome::kIncomplete};
  Plan plan;
  if (row && !Differs(*row, *next)) return plan;
  AddRow(row, *std::move(next), &plan);
  return plan;
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const ScopedChannelNews& scoped) {
  const ChannelNews& news = scoped.news;
  const Place place{.team = team, .channel = news.channel};
  if (scoped.scope == Scope::kPrivate) return Plan{.outcome = Outcome::kNotPublic};
  const Rows rows = TRY(ChannelRows(place));
  if (scoped.scope == Scope::kAsk && !TRY(WasPublic(place, rows))) {
    return Plan{.outcome = Outcome::kNotPublic};
  }
  Channel channel{.place = place};
  if (!rows.empty()) channel = TRY(JoinRows(rows));
  if (rows.empty()) channel.row_timestamp = news.event_ts.text();
  if (news.moved_from) {
    TRY(JoinOldChannel({.team = team, .channel = *news.moved_from}, &channel));
  }
  Join(news, &channel);
  // The rows come in the order of their timestamps: the last is the newest, and the one to write.
  Plan plan = PlanChannel(std::move(channel), rows.empty() ? nullptr : &rows.back());
  if (news.moved_from) TRY(AddMove(team, news, &plan));
  return plan;
}

}  // namespace tidemark::archive
