#include <utility>

#include <fmt/format.h>

#include "apps/archive/attributes.h"
#include "apps/archive/coverage.h"
#include "apps/archive/partition.h"
#include "apps/archive/planner.h"

namespace tidemark::archive {

namespace {

// A transaction has a limited number of actions, and its caller adds some.
constexpr size_t kMaxEmoji = 90;

// What a person is shown as: a row says so from its time on.
item::Item EncodeShown(const UserNews& news) {
  RowBuilder row;
  row.SetText("name", news.name);
  row.SetText("real_name", news.real_name);
  row.SetText("display_name", news.display_name);
  row.SetText("avatar", news.avatar);
  row.SetTrue("is_bot", news.is_bot);
  row.SetTrue("deactivated", news.deactivated);
  return row.Build();
}

item::Item Encode(const slack::TeamId& team, const UserNews& news) {
  item::Item row = EncodeShown(news);
  row.Set("itemId", UserRowsOf(team, news.user));
  row.Set("timestamp", news.event_ts.text());
  row.Set("type", "user");
  return row;
}

item::Item WithoutKey(item::Item row) {
  for (const std::string_view name : {"itemId", "timestamp", "type"}) row.Erase(name);
  return row;
}

}  // namespace

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const ReactionNews& news) {
  const Place place{.team = team, .channel = news.channel};
  if (!TRY(MayKeep(place, Scope::kAsk))) return Plan{.outcome = Outcome::kNotPublic};
  RowBuilder row;
  row.Set("itemId", ReactionsOf(place));
  row.Set("timestamp", fmt::format("{}#{}#{}", news.ts.text(), news.reaction, news.user));
  row.Set("type", "reaction");
  row.Set("ts", news.ts.text());
  row.Set("reaction", news.reaction);
  row.Set("user", news.user);
  row.Set("event_ts", news.event_ts.text());
  row.SetTrue("removed", news.removed);
  return PlanNewest(row.Build());
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const PinNews& news) {
  const Place place{.team = team, .channel = news.channel};
  if (!TRY(MayKeep(place, Scope::kAsk))) return Plan{.outcome = Outcome::kNotPublic};
  RowBuilder row;
  row.Set("itemId", PinsOf(place));
  row.Set("timestamp", news.ts.text());
  row.Set("type", "pin");
  row.Set("ts", news.ts.text());
  row.SetText("user", news.user);
  row.Set("event_ts", news.event_ts.text());
  row.SetTrue("removed", news.removed);
  return PlanNewest(row.Build());
}

// Most user events are about a status, of which nothing is shown here: they make no row.
Result<Plan> Archive::Planner::For(const slack::TeamId& team, const UserNews& news) {
  tables::QueryRequest request = PartitionQuery(options_.table, UserRowsOf(team, news.user));
  request.key_condition += " AND #t <= :t";
  request.names.emplace("#t", "timestamp");
  request.values.emplace(":t", news.event_ts.text());
  request.forward = false;
  request.limit = 1;
  const tables::Page page = TRY(tables_.Query(request));
  const item::Item* const known = page.items.empty() ? nullptr : &page.items.front();
  if (known && (TextIn(*known, "timestamp") == news.event_ts.text() ||
                WithoutKey(*known) == EncodeShown(news))) {
    return Plan{};
  }
  Plan plan{.outcome = Outcome::kStored};
  plan.actions.emplace_back(PutNew(Encode(team, news)));
  return plan;
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const TeamNews& news) {
  RowBuilder row;
  row.Set("itemId", TeamRowsOf(team));
  row.Set("timestamp", news.event_ts.text());
  row.Set("type", "team");
  row.SetText("name", news.name);
  row.SetText("domain", news.domain);
  Plan plan;
  TRY(AddOnce(row.Build(), &plan));
  return plan;
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const EmojiNews& news) {
  Plan plan;
  for (const EmojiNews::Change& change : news.changes) {
    if (plan.actions.size() == kMaxEmoji) break;
    RowBuilder row;
    row.Set("itemId", EmojiRowsOf(team, change.name));
    row.Set("timestamp", news.event_ts.text());
    row.Set("type", "emoji");
    row.SetText("value", change.value);
    row.SetTrue("removed", change.removed);
    TRY(AddOnce(row.Build(), &plan));
  }
  return plan;
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const CoverageNews& news) {
  if (news.channel && !TRY(MayKeep({.team = team, .channel = *news.channel}, news.scope))) {
    return Plan{.outcome = Outcome::kNotPublic};
  }
  Plan plan;
  TRY(AddOnce(EncodeMark(team, news), &plan));
  return plan;
}

Result<Plan> Archive::Planner::For(const slack::TeamId& /*team*/, const NoNews& news) {
  switch (news.why) {
    case NoNews::Why::kUnknownType:
      return Plan{.outcome = Outcome::kUnknownType};
    case NoNews::Why::kNotKept:
      return Plan{.outcome = Outcome::kNotKept};
    case NoNews::Why::kIncomplete:
      return Plan{.outcome = Outcome::kIncomplete};
  }
  return Plan{.outcome = Outcome::kIncomplete};
}

}  // namespace tidemark::archive
