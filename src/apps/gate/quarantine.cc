#include "apps/gate/quarantine.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/gate/limits.h"
#include "base/hashing.h"
#include "item/attributes.h"
#include "item/number.h"
#include "tables/ensure_table.h"

namespace tidemark::gate {

using item::IntIn;
using item::Number;
using item::TextIn;

namespace {

// An event without an id is named by its bytes.
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

// The first wait, doubled for each check since.
EpochSeconds WaitAfter(std::chrono::seconds first, int64_t checks) {
  std::chrono::seconds wait = first;
  for (int64_t i = 0; i < checks && wait < kLongestRecheck; ++i) wait *= 2;
  return std::min(wait, kLongestRecheck).count();
}

}  // namespace

Quarantine::Quarantine(QuarantineOptions options, tables::Tables* tables, const Clock* clock,
                       Metrics* metrics)
    : options_(std::move(options)), tables_(*tables), clock_(*clock), metrics_(metrics) {}

Status Quarantine::CreateTable() {
  return tables::EnsureTable(
      tables_, {.table = options_.table, .keys = {.partition = {.name = "event_key"}}}, "ttl");
}

Status Quarantine::Keep(const slack::EventCallback& callback, std::string_view body,
                        const Verdict& verdict) {
  const EpochSeconds now = clock_.NowSeconds();
  tables::WriteReply reply = TRY(
      tables_.Put({.table = options_.table,
                   .item = {{"event_key", EventKey(callback, body)},
                            {"body", item::Binary{std::string(body)}},
                            {"team_id", callback.team_id},
                            {"reason", std::string(ToString(verdict.reason))},
                            {"received_at", Number::FromInt(now)},
                            {"checks", Number::FromInt(0)},
                            {"next_check", Number::FromInt(now + options_.first_recheck.count())},
                            {"ttl", Number::FromInt(now + options_.life.count())}},
                   // An expired row that was not swept yet is no row.
                   .condition = "attribute_not_exists(event_key) OR #ttl <= :now",
                   .names = {{"#ttl", "ttl"}},
                   .values = {{":now", Number::FromInt(now)}}}));
  if (reply.applied) Count(metrics_.quarantined);
  return Done{};
}

Result<RecheckReport> Quarantine::Recheck(const Check& check, const Promote& promote) {
  RecheckReport report;
  const Number now = Number::FromInt(clock_.NowSeconds());
  tables::ScanRequest request{.table = options_.table,
                              .filter = "next_check <= :now AND #ttl > :now",
                              .names = {{"#ttl", "ttl"}},
                              .values = {{":now", now}},
                              .consistent = true};
  do {
    tables::Page page = TRY(tables_.Scan(request));
    for (const item::Item& row : page.items) {
      if (stopping_) return report;
      ++report.looked_at;
      bool promoted = TRY(RecheckOne(row, check, promote));
      ++(promoted ? report.promoted : report.kept);
    }
    request.start_after = std::move(page.last);
  } while (request.start_after);
  return report;
}

Result<QuarantinePage> Quarantine::List(const std::optional<std::string>& after, uint32_t limit) {
  tables::ScanRequest request{.table = options_.table,
                              .filter = "#ttl > :now",
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
                           .next_check = IntIn(row, "next_check").value_or(0)});
  }
  if (page.last) kept.last = TextIn(*page.last, "event_key");
  return kept;
}

// Whether the event passed and was taken; otherwise it waits for its next check.
Result<bool> Quarantine::RecheckOne(const item::Item& row, const Check& check,
                                    const Promote& promote) {
  const std::string body = BodyOf(row);
  Result<slack::Envelope> envelope = slack::ParseEnvelope(body);
  const auto* callback = envelope ? std::get_if<slack::EventCallback>(&*envelope) : nullptr;
  if (callback != nullptr && check(*callback).decision == Decision::kAllow &&
      promote(*callback, body)) {
    TRY(tables_.Delete({.table = options_.table, .key = KeyOf(row)}));
    Count(metrics_.promoted);
    return true;
  }
  TRY(Postpone(row));
  return false;
}

Status Quarantine::Postpone(const item::Item& row) {
  const int64_t checks = IntIn(row, "checks").value_or(0) + 1;
  const EpochSeconds next = clock_.NowSeconds() + WaitAfter(options_.first_recheck, checks);
  // Another process may have promoted it meanwhile: it must not come back as half a row.
  TRY(tables_.Update(
      {.table = options_.table,
       .key = KeyOf(row),
       .update = "SET checks = :checks, next_check = :next",
       .condition = "attribute_exists(event_key)",
       .values = {{":checks", Number::FromInt(checks)}, {":next", Number::FromInt(next)}}}));
  return Done{};
}

}  // namespace tidemark::gate
