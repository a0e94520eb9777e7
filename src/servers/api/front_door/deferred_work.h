// DeferredWork remembers the events in the inbox whose work could not be delivered, and when to try
// each of them again. So one event that its receiver refuses does not hold up the events after it.
//
// Table "tidemark-work": key event_key (of the inbox), attributes tries, failures, since, retry_at.
// A row is deleted when the work is done or given up. For one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::api {

struct DeferredEvent {
  std::string key;         // Of the event's row in the inbox.
  EpochSeconds since = 0;  // When the event was put into the inbox.
  int64_t tries = 0;
  int64_t failures = 0;  // The tries that count against dedup.max-failures.
};

class DeferredWork {
 public:
  // Both outlive this.
  DeferredWork(tables::Tables* tables, const Clock* clock, std::chrono::seconds first_wait);

  // Creates the table, unless it exists.
  Status CreateTable();

  // The event is due after a wait: `first_wait`, and six times longer after each try, up to an
  // hour. So five tries take more than an hour.
  Status Defer(const DeferredEvent& event);
  // The same without a wait.
  Status DeferUntilNow(const DeferredEvent& event);
  Status Remove(const std::string& key);

  // The events that are due, those that have waited longest first. Reads the table only when an
  // event may be due.
  Result<std::vector<DeferredEvent>> Due();

  // How long the oldest of all deferred events has been waiting, as far as is known.
  int64_t LagSeconds() const;

 private:
  Status Put(const DeferredEvent& event, EpochSeconds retry_at);

  tables::Tables& tables_;
  const Clock& clock_;
  const std::chrono::seconds first_wait_;
  // As of the last reading of the table and the calls after it.
  EpochSeconds next_due_ = 0;
  EpochSeconds oldest_ = 0;  // 0: nothing is deferred.
};

}  // namespace tidemark::api
