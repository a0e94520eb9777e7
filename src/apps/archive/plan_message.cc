#include <utility>

#include "apps/archive/attributes.h"
#include "apps/archive/planner.h"
#include "apps/archive/row_update.h"

namespace tidemark::archive {

namespace {

void JoinNews(const MessageNews& news, MessageState* state) {
  for (const Observation& observation : news.observations) Join(observation, state);
  if (!state->message.purged) Join(news.traits, &state->message.traits);
  if (news.deleted_ts) JoinDeletion(*news.deleted_ts, state);
}

}  // namespace

// Of a body that is newer than the one shown there is no row: it would be the one shown.
Result<Archive::Planner::Bodies> Archive::Planner::OlderBodies(const Message& message,
                                                               const MessageNews& news) {
  Bodies older;
  if (!message.body) return older;
  for (const Observation& observation : news.observations) {
    const slack::Timestamp& version = observation.body.version;
    if (version >= message.body->version || older.contains(version)) continue;
    const auto row = TRY(Get(VersionsOf(message.place, message.ts), version.text()));
    if (!row) continue;
    Version known = TRY(DecodeVersion(*row));
    older.emplace(version, std::move(known.body));
  }
  return older;
}

// They need no condition of their own: each change of one counts the message's revision.
void Archive::Planner::AddVersions(const MessageState& state, const Bodies& known_older,
                                   Plan* plan) const {
  for (const auto& [version, body] : state.older) {
    const auto known = known_older.find(version);
    if (known != known_older.end() && known->second == body) continue;
    plan->actions.emplace_back(tables::PutRequest{
        .table = options_.table,
        .item = Encode(Version{.place = state.message.place, .ts = state.message.ts, .body = body}),
    });
  }
}

Plan Archive::Planner::PlanMessage(MessageState state, const std::optional<item::Item>& row,
                                   const Bodies& known_older) {
  Message& message = state.message;
  auto next = EncodeToFit(&message, message.body ? &message.body->raw_event : nullptr);
  if (!next) return Plan{.outcome = Outcome::kIncomplete};
  Plan plan;
  AddVersions(state, known_older, &plan);
  if (row && plan.actions.empty() && !Differs(*row, *next)) return plan;
  AddRow(row ? &*row : nullptr, *std::move(next), &plan);
  return plan;
}

Result<Plan> Archive::Planner::For(const slack::TeamId& team, const MessageNews& news) {
  const Place place{.team = team, .channel = news.channel};
  if (!TRY(MayKeep(place, news.scope))) return Plan{.outcome = Outcome::kNotPublic};
  const auto row = TRY(Get(MessagesOf(place), news.ts.text()));
  MessageState state{.message = {.place = place, .ts = news.ts}};
  if (row) state.message = TRY(DecodeMessage(*row));
  const Bodies known_older = TRY(OlderBodies(state.message, news));
  state.older = known_older;
  JoinNews(news, &state);
  return PlanMessage(std::move(state), row, known_older);
}

}  // namespace tidemark::archive
