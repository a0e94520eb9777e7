// The Quarantine keeps the raw bytes of events that Slack signed and the gate refused. For a day,
// each event is checked again from time to time and, when it passes, is promoted: it is stored like
// any other event. So an outage of Slack's Web API loses no event that ends within the day.
//
// An event that did not pass within the day is given up: that is logged and counted, the caller
// notes it as a gap, and its bytes are kept for `keep_given_up`. A check that our own budget, or
// Slack's rate limit, did not allow says nothing about the event. It is repeated in the next round,
// and gives nothing up.
//
// Table "tidemark-quarantine": key event_key (team:event_id), attributes body, team_id, reason,
// received_at, checks, next_check, give_up_at; of an event that was given up given_up_at instead of
// next_check, and ttl. A second delivery of the same event changes nothing.
// May be called from any thread. Two processes may promote the same event at the same time; the
// claim of the event (dedup) decides which of them stores it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/gate/metrics.h"
#include "apps/gate/verdict.h"
#include "base/result.h"
#include "base/runtime.h"
#include "slack/event.h"
#include "tables/tables.h"

namespace tidemark::gate {

struct QuarantineOptions {
  std::string table = "tidemark-quarantine";
  std::chrono::seconds life = std::chrono::hours(24);  // Until an event is given up.
  // How long the bytes of an event that was given up are kept, counted from when it was received.
  // nullopt: without limit.
  std::optional<std::chrono::seconds> keep_given_up = std::nullopt;
  // The wait before the first check. It doubles after each check, up to an hour.
  std::chrono::seconds first_recheck = std::chrono::seconds(30);
};

// An event in quarantine, without its bytes.
struct QuarantinedEvent {
  std::string key;
  std::string team_id;
  std::string reason;
  EpochSeconds received_at = 0;
  int64_t checks = 0;            // How often it was checked since it was received.
  EpochSeconds next_check = 0;   // 0 when it was given up.
  EpochSeconds given_up_at = 0;  // 0 when it was not.
};

struct QuarantinePage {
  std::vector<QuarantinedEvent> events;
  std::optional<std::string> last;  // Set when there may be more.
};

struct RecheckReport {
  size_t looked_at = 0;
  size_t promoted = 0;
  size_t kept = 0;
  size_t given_up = 0;
  size_t without_budget = 0;  // Checks that a limit did not allow.
};

class Quarantine {
 public:
  using Check = std::function<Verdict(const slack::EventCallback&)>;
  // With the verdict of the check, which allows the event.
  using Promote =
      std::function<Status(const slack::EventCallback&, std::string_view body, const Verdict&)>;
  using NoteGap = std::function<Status(const slack::EventCallback&)>;
  struct Actions {
    Check check;
    Promote promote;
    NoteGap note_gap;  // Of an event that is given up.
  };

  // The tables outlive this.
  Quarantine(QuarantineOptions options, tables::Tables* tables, const Runtime& runtime);

  // Creates the table unless it exists. kInvalid when it exists with other keys.
  Status CreateTable();
  // kInvalid when the body is larger than an item may be.
  Status Keep(const slack::EventCallback& callback, std::string_view body, const Verdict& verdict);

  // Checks each event whose next check is due, and promotes it when it is allowed. The row is
  // deleted after that succeeded. An event that did not pass waits twice as long as before, and is
  // given up when its time is over. When a limit does not allow a check, the other events of the
  // team wait for the next round.
  Result<RecheckReport> Recheck(const Actions& actions);
  // A running Recheck ends after the current event, and later calls end at once.
  void Stop() { stopping_ = true; }

  // One page of the events in quarantine, in no order. `after` is the `last` of the previous page.
  Result<QuarantinePage> List(const std::optional<std::string>& after, uint32_t limit);

 private:
  enum class RecheckOutcome { kPromoted, kKept, kGivenUp, kWithoutBudget };
  Result<RecheckOutcome> RecheckOne(const item::Item& row, const Actions& actions);
  Status Postpone(const item::Item& row, EpochSeconds give_up_at);
  Status GiveUp(const item::Item& row, const slack::EventCallback* callback,
                const Actions& actions);

  const QuarantineOptions options_;
  tables::Tables& tables_;
  const Clock& clock_;
  const Logger& logger_;
  const QuarantineMetrics metrics_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace tidemark::gate
