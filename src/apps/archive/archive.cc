#include "apps/archive/archive.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/planner.h"
#include "tables/ensure_table.h"

namespace tidemark::archive {

namespace {

// How often a plan is made anew because its rows changed under it.
constexpr int kMaxRounds = 32;

constexpr std::array<Outcome, kOutcomes> kAllOutcomes = {
    Outcome::kStored,  Outcome::kUnchanged,   Outcome::kNotPublic,
    Outcome::kNotKept, Outcome::kUnknownType, Outcome::kIncomplete};

// Whether somebody else wrote, and nothing is wrong with the actions.
bool IsOvertaken(const tables::TransactWriteReply& reply) {
  return std::none_of(reply.reasons.begin(), reply.reasons.end(),
                      [](const tables::CancellationReason& reason) {
                        return reason.code == tables::CancellationCode::kValidationError;
                      });
}

Error Refused(const tables::TransactWriteReply& reply) {
  for (const tables::CancellationReason& reason : reply.reasons) {
    if (reason.code != tables::CancellationCode::kValidationError) continue;
    return {ErrorCode::kInternal, "the tables refuse a row of the archive: " + reason.message};
  }
  return {ErrorCode::kInternal, "the tables refuse a row of the archive"};
}

template <typename MakePlan>
Result<Outcome> Write(tables::Tables& tables, const MakePlan& make_plan) {
  for (int round = 0; round < kMaxRounds; ++round) {
    Plan plan = TRY(make_plan());
    if (plan.actions.empty()) return plan.outcome;
    const auto reply = TRY(tables.TransactWrite({.actions = std::move(plan.actions)}));
    if (reply.outcome == tables::TransactOutcome::kApplied) return plan.outcome;
    if (!IsOvertaken(reply)) return Refused(reply);
  }
  return Error{ErrorCode::kConflict,
               fmt::format("somebody else wrote the same rows of the archive {} times: try again",
                           kMaxRounds)};
}

}  // namespace

std::string_view ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kStored:
      return "stored";
    case Outcome::kUnchanged:
      return "unchanged";
    case Outcome::kNotPublic:
      return "not_public";
    case Outcome::kNotKept:
      return "not_kept";
    case Outcome::kUnknownType:
      return "unknown_type";
    case Outcome::kIncomplete:
      return "incomplete";
  }
  return "incomplete";
}

Archive::Archive(ArchiveOptions options, tables::Tables* tables, const Logger* logger,
                 Metrics* metrics)
    : options_(std::move(options)), tables_(*tables), logger_(logger) {
  Counter* large_rows = nullptr;
  if (metrics) {
    for (const Outcome outcome : kAllOutcomes) {
      events_[static_cast<size_t>(outcome)] =
          &metrics->AddCounter({.name = "tidemark_archive_events_total",
                                .help = "Events given to the archive, by what became of them.",
                                .labels = {{"result", std::string(ToString(outcome))}}});
    }
    large_rows = &metrics->AddCounter({.name = "tidemark_archive_large_rows_total",
                                       .help = "Rows planned above the archive's warning size."});
  }
  planner_ = std::make_unique<Planner>(options_, tables, logger, large_rows);
}

Archive::~Archive() = default;

Status Archive::CreateTable() {
  const tables::IndexSpec threads{
      .name = std::string(kThreadIndex),
      .kind = tables::IndexKind::kGlobal,
      .keys = {.partition = {.name = "parent"}, .sort = item::KeyAttribute{.name = "timestamp"}},
      .projection = {}};
  return tables::EnsureTable(
      tables_,
      {.table = options_.table,
       .keys = {.partition = {.name = "itemId"}, .sort = item::KeyAttribute{.name = "timestamp"}},
       .indexes = {threads},
       .stream = tables::StreamView::kNewAndOldImages},
      std::nullopt);
}

Result<Plan> Archive::PlanEvent(const slack::EventCallback& callback, std::string_view body) {
  const auto team = slack::TeamId::Parse(callback.team_id);
  const News news = team ? ReadEvent(callback, body, {.raw_events = options_.raw_events})
                         : NoNews{.why = NoNews::Why::kIncomplete, .detail = "no proper team"};
  if (const auto* nothing = std::get_if<NoNews>(&news)) LogNothing(callback, *nothing);
  if (!team) return Plan{.outcome = Outcome::kIncomplete};
  return PlanNews(*team, news);
}

Result<Plan> Archive::PlanNews(const slack::TeamId& team, const News& news) {
  return std::visit([&](const auto& known) { return planner_->For(team, known); }, news);
}

Result<Outcome> Archive::StoreEvent(const slack::EventCallback& callback, std::string_view body) {
  const Outcome outcome = TRY(Write(tables_, [&] { return PlanEvent(callback, body); }));
  Count(outcome);
  return outcome;
}

Result<Outcome> Archive::StoreNews(const slack::TeamId& team, const News& news) {
  return Write(tables_, [&] { return PlanNews(team, news); });
}

void Archive::Count(Outcome outcome) {
  if (Counter* const counter = events_[static_cast<size_t>(outcome)]) counter->Add();
}

void Archive::LogNothing(const slack::EventCallback& callback, const NoNews& nothing) const {
  if (!logger_ || nothing.why == NoNews::Why::kNotKept) return;
  const bool unknown = nothing.why == NoNews::Why::kUnknownType;
  logger_->Log(
      unknown ? LogLevel::kInfo : LogLevel::kWarning,
      unknown ? "event of a type the archive does not know" : "event the archive cannot keep",
      {{"type", callback.event.type},
       {"subtype", callback.event.subtype},
       {"event_id", callback.event_id},
       {"detail", nothing.detail}});
}

}  // namespace tidemark::archive
