#include "apps/gate/quarantine.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "apps/gate/limits.h"
#include "base/hashing.h"
#include "item/attributes.h"
#include "item/number.h"
#include "tables/ensure_table.h"
#include "tables/pages.h"
#include "tables/require_absent.h"

namespace tidemark::gate {

using item::IntIn;
using item::Number;
using item::TextIn;

namespace {

// An event without an event_id is identified by the hash of its bytes.
std::string EventKey(const slack::EventCallback& callback, std::string_view body) {
  return fmt::format("{}:{}", callback.team_id,
                     callback.event_id.empty() ? ToHex(Sha256(body)) : callback.event_id);
}

std::string BodyOf(const item::Item& row) {
  const item::Value* value = row.Find("body");
  const item::Binary* body = value ? value->As<item::Binary>() : nullptr;
  return body ? body->bytes : std::string();
}

item::Item KeyOf(const item::Item& row) { return {{"event_key", *row.Find("event_key")}}; }

// Rows of older versions have a ttl in its place.
EpochSeconds GiveUpTimeOf(const item::Item& row) {
  return IntIn(row, "give_up_at").value_or(IntIn(row, "ttl").value_or(0));
}

// The first wait, doubled for each check that was made.
EpochSeconds WaitAfter(std::chrono::seconds first, int64_t checks) {
  std::chrono::seconds wait = first;
  for (int64_t i = 0; i < checks && wait < kLongestRecheck; ++i) wait *= 2;
  return std::min(wait, kLongestRecheck).count();
}

}  // namespace

Quarantine::Quarantine(QuarantineOptions options, tables::Tables* tables, const Runtime& runtime)
    : options_(std::move(options)),
      tables_(*tables),
      clock_(runtime.clock),
      logger_(runtime.logger),
      metrics_(runtime.metrics) {}

Status Quarantine::CreateTable() {
  return tables::EnsureTable(
      tables_, {.table = options_.table, .keys = {.partition = {.name = "event_key"}}}, "ttl");
}

Status Quarantine::Keep(const slack::EventCallback& callback, std::string_view body,
                        const Verdict& verdict) {
  const EpochSeconds now = clock_.NowSeconds();
  tables::PutRequest put{
      .table = options_.table,
      .item = {{"event_key", EventKey(callback, body)},
               {"body", item::Binary{std::string(body)}},
               {"team_id", callback.team_id},
               {"reason", std::string(ToString(verdict.reason))},
               {"received_at", Number::FromInt(now)},
               {"checks", Number::FromInt(0)},
               {"next_check", Number::FromInt(now + options_.first_recheck.count())},
               {"give_up_at", Number::FromInt(now + options_.life.count())}}};
  tables::RequireAbsent("event_key", now, &put);
  if (TRY(tables_.Put(put)).applied) metrics_.quarantined.Add();
  return Done{};
}

Result<RecheckReport> Quarantine::Recheck(const Actions& actions) {
  RecheckReport report;
  std::set<std::string> waiting_teams;  // They have no budget left in this round.
  const auto recheck = [&](const item::Item& row) -> Result<tables::Paging> {
    if (stopping_) return tables::Paging::kStop;
    const std::string team = TextIn(row, "team_id");
    if (waiting_teams.contains(team)) return tables::Paging::kContinue;
    ++report.looked_at;
    switch (TRY(RecheckOne(row, actions))) {
      case RecheckOutcome::kPromoted:
        ++report.promoted;
        break;
      case RecheckOutcome::kKept:
        ++report.kept;
        break;
      case RecheckOutcome::kGivenUp:
        ++report.given_up;
        break;
      case RecheckOutcome::kWithoutBudget:
        ++report.without_budget;
        waiting_teams.insert(team);
        break;
    }
    return tables::Paging::kContinue;
  };
  TRY(tables::ForEachItem(
      tables_,
      tables::ScanRequest{.table = options_.table,
                          .filter = "next_check <= :now AND attribute_not_exists(given_up_at)",
                          .values = {{":now", Number::FromInt(clock_.NowSeconds())}},
                          .consistent = true},
      recheck));
  return report;
}

Result<QuarantinePage> Quarantine::List(const std::optional<std::string>& after, uint32_t limit) {
  tables::ScanRequest request{.table = options_.table,
                              .filter = "attribute_not_exists(#ttl) OR #ttl > :now",
                              .names = {{"#ttl", "ttl"}},
                              .values = {{":now", Number::FromInt(clock_.NowSeconds())}},
                              .limit = limit};
  if (after) request.start_after = item::Item{{"event_key", *after}};
  const tables::Page page = TRY(tables_.Scan(request));
  QuarantinePage kept;
  for (const item::Item& row : page.items) {
    kept.events.push_back({.key = TextIn(row, "event_key"),
                           .team_id = TextIn(row, "team_id"),
                           .reason = TextIn(row, "reason"),
                           .received_at = IntIn(row, "received_at").value_or(0),
                           .checks = IntIn(row, "checks").value_or(0),
                           .next_check = IntIn(row, "next_check").value_or(0),
                           .given_up_at = IntIn(row, "given_up_at").value_or(0)});
  }
  if (page.last) kept.last = TextIn(*page.last, "event_key");
  return kept;
}

Result<Quarantine::RecheckOutcome> Quarantine::RecheckOne(const item::Item& row,
                                                          const Actions& actions) {
  const std::string body = BodyOf(row);
  Result<slack::Envelope> envelope = slack::ParseEnvelope(body);
  const auto* callback = envelope ? std::get_if<slack::EventCallback>(&*envelope) : nullptr;
  const Verdict verdict = callback != nullptr ? actions.check(*callback) : Deny(Reason::kNoIds);
  if (IsForLackOfBudget(verdict)) return RecheckOutcome::kWithoutBudget;
  if (verdict.decision == Decision::kAllow && actions.promote(*callback, body, verdict)) {
    TRY(tables_.Delete({.table = options_.table, .key = KeyOf(row)}));
    metrics_.promoted.Add();
    return RecheckOutcome::kPromoted;
  }
  const EpochSeconds give_up_at = GiveUpTimeOf(row);
  // An event that passed and could not be stored is not given up: the store will be back.
  if (verdict.decision == Decision::kAllow || clock_.NowSeconds() < give_up_at) {
    TRY(Postpone(row, give_up_at));
    return RecheckOutcome::kKept;
  }
  TRY(GiveUp(row, callback, actions));
  return RecheckOutcome::kGivenUp;
}

Status Quarantine::Postpone(const item::Item& row, EpochSeconds give_up_at) {
  const EpochSeconds now = clock_.NowSeconds();
  const int64_t checks = IntIn(row, "checks").value_or(0) + 1;
  EpochSeconds next = now + WaitAfter(options_.first_recheck, checks);
  // The last check is made when the time is over.
  if (now < give_up_at) next = std::min(next, give_up_at);
  // Another process may have promoted the event and deleted the row in the meantime. Without the
  // condition this update would create a row that has only these attributes. The ttl of a row that
  // an older version wrote is removed, because the sweeper would delete the row without a log line.
  TRY(tables_.Update({.table = options_.table,
                      .key = KeyOf(row),
                      .update = "SET checks = :checks, next_check = :next, give_up_at = :give_up "
                                "REMOVE #ttl",
                      .condition = "attribute_exists(event_key)",
                      .names = {{"#ttl", "ttl"}},
                      .values = {{":checks", Number::FromInt(checks)},
                                 {":next", Number::FromInt(next)},
                                 {":give_up", Number::FromInt(give_up_at)}}}));
  return Done{};
}

// The gap is noted first: after a crash in between, it is noted once more, which changes nothing.
Status Quarantine::GiveUp(const item::Item& row, const slack::EventCallback* callback,
                          const Actions& actions) {
  if (callback != nullptr) TRY(actions.note_gap(*callback));
  const EpochSeconds now = clock_.NowSeconds();
  tables::UpdateRequest update{
      .table = options_.table,
      .key = KeyOf(row),
      .update = "SET given_up_at = :now REMOVE next_check, give_up_at, #ttl",
      .condition = "attribute_exists(event_key)",
      .names = {{"#ttl", "ttl"}},
      .values = {{":now", Number::FromInt(now)}}};
  if (options_.keep_given_up) {
    update.update = "SET given_up_at = :now, #ttl = :ttl REMOVE next_check, give_up_at";
    const EpochSeconds received_at = IntIn(row, "received_at").value_or(now);
    const EpochSeconds ttl = std::max(now, received_at + options_.keep_given_up->count());
    update.values.emplace(":ttl", Number::FromInt(ttl));
  }
  TRY(tables_.Update(update));
  metrics_.given_up.Add();
  logger_.Log(
      LogLevel::kError,
      "an event could not be verified in time and is not stored; its bytes stay in quarantine",
      {{"key", TextIn(row, "event_key")},
       {"team", TextIn(row, "team_id")},
       {"reason", TextIn(row, "reason")},
       {"received_at", IntIn(row, "received_at").value_or(0)},
       {"checks", IntIn(row, "checks").value_or(0)}});
  return Done{};
}

}  // namespace tidemark::gate
