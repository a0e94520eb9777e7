#include "apps/archive/archive.h"

#include <optional>
#include <utility>

#include "apps/archive/planner.h"
#include "tables/ensure_table.h"
#include "tables/plan_again.h"

namespace tidemark::archive {

namespace {

constexpr std::array<ArchiveOutcome, kArchiveOutcomes> kAllOutcomes = {
    ArchiveOutcome::kStored,  ArchiveOutcome::kUnchanged,   ArchiveOutcome::kNotPublic,
    ArchiveOutcome::kNotKept, ArchiveOutcome::kUnknownType, ArchiveOutcome::kIncomplete};

// The scope of the news, or nullptr when it is not about a channel.
Scope* FindScope(News* news) {
  return std::visit(
      [](auto& known) -> Scope* {
        if constexpr (requires { known.scope; }) return &known.scope;
        return nullptr;
      },
      *news);
}

// An event that names the type of its channel is newer than what Slack said before it: then its own
// word counts. "C", in the events of members, is only the first letter of the channel's id.
void NoteChannel(ToldChannel channel, const slack::Event& event, News* news) {
  const bool is_untyped = event.channel_type.empty() || event.channel_type == "C";
  Scope* const scope = FindScope(news);
  if (channel != ToldChannel::kPublic || !is_untyped || !scope || *scope != Scope::kAsk) return;
  *scope = Scope::kPublic;
  if (auto* scoped = std::get_if<ScopedChannelNews>(news)) scoped->news.implies_public = true;
}

}  // namespace

std::string_view ToString(ArchiveOutcome outcome) {
  switch (outcome) {
    case ArchiveOutcome::kStored:
      return "stored";
    case ArchiveOutcome::kUnchanged:
      return "unchanged";
    case ArchiveOutcome::kNotPublic:
      return "not_public";
    case ArchiveOutcome::kNotKept:
      return "not_kept";
    case ArchiveOutcome::kUnknownType:
      return "unknown_type";
    case ArchiveOutcome::kIncomplete:
      return "incomplete";
  }
  return "incomplete";
}

Archive::Archive(ArchiveOptions options, tables::Tables* tables, const Runtime& runtime,
                 objects::Objects* objects)
    : options_(std::move(options)),
      table_(tables, options_.table),
      runtime_(runtime),
      objects_(objects) {
  for (const ArchiveOutcome outcome : kAllOutcomes) {
    events_[static_cast<size_t>(outcome)] =
        &runtime.metrics.AddCounter({.name = "tidemark_archive_events_total",
                                     .help = "Events given to the archive, by their outcome.",
                                     .labels = {{"result", std::string(ToString(outcome))}}});
  }
  Counter& large_rows =
      runtime.metrics.AddCounter({.name = "tidemark_archive_large_rows_total",
                                  .help = "Rows that are larger than archive.warn-bytes."});
  const LargeEvents large_events = objects ? LargeEvents::kToObjects : LargeEvents::kDropped;
  planner_ = std::make_unique<Planner>(options_, table_, large_events, runtime.logger, large_rows);
}

Archive::~Archive() = default;

Status Archive::CreateTable() {
  // The thread index has a row for every message with a `parent`: the replies, and roots with
  // replies.
  const tables::IndexSpec threads{
      .name = std::string(kThreadIndex),
      .kind = tables::IndexKind::kGlobal,
      .keys = {.partition = {.name = "parent"}, .sort = item::KeyAttribute{.name = "timestamp"}},
      .projection = {}};
  return tables::EnsureTable(
      table_.tables(),
      {.table = options_.table,
       .keys = {.partition = {.name = "itemId"}, .sort = item::KeyAttribute{.name = "timestamp"}},
       .indexes = {threads},
       .stream = tables::StreamView::kNewAndOldImages},
      std::nullopt);
}

// The team becomes part of every key, so nothing can be planned without a valid one.
Result<Plan> Archive::PlanEvent(const slack::EventCallback& callback, ToldChannel channel) {
  const auto team = slack::TeamId::Parse(callback.team_id);
  News news = team ? ReadEvent(callback, {.raw_events = options_.raw_events})
                   : NoNews{.why = NoNews::Why::kIncomplete, .detail = "no valid team"};
  if (const auto* nothing = std::get_if<NoNews>(&news)) LogUnused(callback, *nothing);
  if (!team) return Plan{.outcome = ArchiveOutcome::kIncomplete};
  NoteChannel(channel, callback.event, &news);
  return PlanNews(*team, news);
}

Result<Plan> Archive::PlanNews(const slack::TeamId& team, const News& news) {
  return std::visit([&](const auto& known) { return planner_->For(team, known); }, news);
}

Status Archive::PutObjects(const std::vector<objects::PutRequest>& objects) {
  for (const objects::PutRequest& object : objects) TRY(objects_->Put(object));
  return Done{};
}

Result<bool> Archive::WasPublic(const Place& place) {
  return planner_->MayKeep(place, Scope::kAsk);
}

// Every round reads the rows again: the plan of a lost round is based on rows that have changed.
Result<ArchiveOutcome> Archive::StoreNews(const slack::TeamId& team, const News& news) {
  const auto round = [&]() -> Result<std::optional<ArchiveOutcome>> {
    Plan plan = TRY(PlanNews(team, news));
    TRY(PutObjects(plan.objects));
    if (!plan.actions.empty() && !TRY(table_.Write({.actions = std::move(plan.actions)})))
      return std::nullopt;
    return plan.outcome;
  };
  const auto outcome = TRY(tables::PlanAgain<ArchiveOutcome>(tables::kPlanAgain, runtime_, round));
  if (outcome) return *outcome;
  return Error{ErrorCode::kConflict,
               "other writers changed the same rows of the archive every time: try again"};
}

void Archive::Count(ArchiveOutcome outcome) { events_[static_cast<size_t>(outcome)]->Add(); }

void Archive::LogUnused(const slack::EventCallback& callback, const NoNews& nothing) const {
  if (nothing.why == NoNews::Why::kNotKept) return;
  const bool unknown = nothing.why == NoNews::Why::kUnknownType;
  runtime_.logger.Log(
      unknown ? LogLevel::kInfo : LogLevel::kWarning,
      unknown ? "event of a type the archive does not know" : "event the archive cannot keep",
      {{"type", callback.event.type},
       {"subtype", callback.event.subtype},
       {"event_id", callback.event_id},
       {"detail", nothing.detail}});
}

}  // namespace tidemark::archive
