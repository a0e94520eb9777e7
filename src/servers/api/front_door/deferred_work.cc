#include "servers/api/front_door/deferred_work.h"

#include <algorithm>
#include <utility>

#include "item/attributes.h"
#include "item/number.h"
#include "tables/ensure_table.h"
#include "tables/pages.h"

namespace tidemark::api {

namespace {

constexpr const char* kDeferredTable = "tidemark-work";
constexpr int kWaitFactor = 6;
constexpr std::chrono::seconds kLongestWait = std::chrono::hours(1);
// Another process may have deferred events and ended.
constexpr EpochSeconds kReadAgainAfterSeconds = 60;

EpochSeconds WaitAfterTries(std::chrono::seconds first, int64_t tries) {
  std::chrono::seconds wait = first;
  for (int64_t i = 1; i < tries && wait < kLongestWait; ++i) wait *= kWaitFactor;
  return std::min(wait, kLongestWait).count();
}

item::Item DeferredKey(const std::string& key) { return {{"event_key", key}}; }

}  // namespace

DeferredWork::DeferredWork(tables::Tables* tables, const Clock* clock,
                           std::chrono::seconds first_wait)
    : tables_(*tables), clock_(*clock), first_wait_(first_wait) {}

Status DeferredWork::CreateTable() {
  return tables::EnsureTable(
      tables_, {.table = kDeferredTable, .keys = {.partition = {.name = "event_key"}}},
      std::nullopt);
}

Status DeferredWork::Defer(const DeferredEvent& event) {
  return Put(event, clock_.NowSeconds() + WaitAfterTries(first_wait_, event.tries));
}

Status DeferredWork::DeferUntilNow(const DeferredEvent& event) {
  return Put(event, clock_.NowSeconds());
}

Status DeferredWork::Put(const DeferredEvent& event, EpochSeconds retry_at) {
  TRY(tables_.Put({.table = kDeferredTable,
                   .item = {{"event_key", event.key},
                            {"since", item::Number::FromInt(event.since)},
                            {"tries", item::Number::FromInt(event.tries)},
                            {"failures", item::Number::FromInt(event.failures)},
                            {"retry_at", item::Number::FromInt(retry_at)}}}));
  // So that Due need not read the table before anything can be due. What another process defers is
  // found by the reading each minute.
  next_due_ = std::min(next_due_, retry_at);
  oldest_ = oldest_ == 0 ? event.since : std::min(oldest_, event.since);
  return Done{};
}

Status DeferredWork::Remove(const std::string& key) {
  TRY(tables_.Delete({.table = kDeferredTable, .key = DeferredKey(key)}));
  next_due_ = 0;  // The next reading finds the oldest of the others.
  return Done{};
}

Result<std::vector<DeferredEvent>> DeferredWork::Due() {
  const EpochSeconds now = clock_.NowSeconds();
  // Called every second. A scan of the table that often would cost more than the work.
  if (now < next_due_) return std::vector<DeferredEvent>();
  std::vector<std::pair<EpochSeconds, DeferredEvent>> due;
  EpochSeconds next = now + kReadAgainAfterSeconds;
  EpochSeconds oldest = 0;
  TRY(tables::ForEachItem(tables_, tables::ScanRequest{.table = kDeferredTable, .consistent = true},
                          [&](const item::Item& row) -> Result<tables::Paging> {
                            const EpochSeconds retry_at = item::IntIn(row, "retry_at").value_or(0);
                            DeferredEvent event{
                                .key = item::TextIn(row, "event_key"),
                                .since = item::IntIn(row, "since").value_or(now),
                                .tries = item::IntIn(row, "tries").value_or(0),
                                .failures = item::IntIn(row, "failures").value_or(0)};
                            oldest = oldest == 0 ? event.since : std::min(oldest, event.since);
                            next = std::min(next, retry_at);
                            if (retry_at <= now) due.emplace_back(retry_at, std::move(event));
                            return tables::Paging::kContinue;
                          }));
  next_due_ = next;
  oldest_ = oldest;
  std::ranges::sort(due, {}, [](const auto& entry) { return entry.first; });
  std::vector<DeferredEvent> events;
  for (auto& [retry_at, event] : due) events.push_back(std::move(event));
  return events;
}

int64_t DeferredWork::LagSeconds() const {
  return oldest_ == 0 ? 0 : std::max<int64_t>(0, clock_.NowSeconds() - oldest_);
}

}  // namespace tidemark::api
