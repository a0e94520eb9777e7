// Quarantine keeps what Slack did sign and the gate refused: the raw bytes, for a day. Each is
// checked again from time to time and, when it passes, handed back: nothing that Slack signed is
// lost to an outage of its Web API.
//
// Table "tidemark-quarantine": key event_key (team:event_id), attributes body, team_id, reason,
// received_at, checks, next_check, ttl. A second delivery of the same event changes nothing.
// All may be called from any thread; two processes that release the same event both hand it over,
// and dedup decides.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/gate/metrics.h"
#include "apps/gate/verdict.h"
#include "base/clock.h"
#include "base/result.h"
#include "slack/event.h"
#include "tables/tables.h"

namespace tidemark::gate {

struct QuarantineOptions {
  std::string table = "tidemark-quarantine";
  std::chrono::seconds life = std::chrono::hours(24);
  // Before the first new check; doubled after each, up to an hour.
  std::chrono::seconds first_recheck = std::chrono::seconds(30);
};

// What is kept of an event beside its bytes.
struct QuarantinedEvent {
  std::string key;
  std::string team_id;
  std::string reason;
  EpochSeconds received_at = 0;
  int64_t checks = 0;  // Since.
  EpochSeconds next_check = 0;
};

struct QuarantinePage {
  std::vector<QuarantinedEvent> events;
  std::optional<std::string> last;  // Set when there may be more.
};

struct RecheckReport {
  size_t looked_at = 0;
  size_t promoted = 0;
  size_t kept = 0;
};

class Quarantine {
 public:
  using Check = std::function<Verdict(const slack::EventCallback&)>;
  using Promote = std::function<Status(const slack::EventCallback&, std::string_view body)>;

  // All outlive this; metrics may be null.
  Quarantine(QuarantineOptions options, tables::Tables* tables, const Clock* clock,
             Metrics* metrics = nullptr);

  // Makes the table unless it is there. kInvalid when there is one with other keys.
  Status CreateTable();
  // kInvalid when the body is larger than an item of a table may be.
  Status Keep(const slack::EventCallback& callback, std::string_view body, const Verdict& verdict);

  // Hands what is due to `check`, and what it allows to `promote`; the row goes once that
  // succeeded. What did not pass waits twice as long as before.
  Result<RecheckReport> Recheck(const Check& check, const Promote& promote);
  // A Recheck ends after the event that it is at, now and ever after.
  void Stop() { stopping_ = true; }

  // What is kept, in no order, from behind `after` (a page's `last`) on.
  Result<QuarantinePage> List(const std::optional<std::string>& after, uint32_t limit);

 private:
  Result<bool> RecheckOne(const item::Item& row, const Check& check, const Promote& promote);
  Status Postpone(const item::Item& row);

  const QuarantineOptions options_;
  tables::Tables& tables_;
  const Clock& clock_;
  const QuarantineMetrics metrics_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace tidemark::gate
