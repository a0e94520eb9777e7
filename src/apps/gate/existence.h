// Existence answers whether a team, a user and a channel exist and are active: from its table when
// that knows, from Slack otherwise.
//
// The table is the seed's: a row for each verified triple, "T1#U1#C1", valid while now < ttl =
// verified_at + 300. Beside it lie rows "entity#user#U1", which save look-ups when triples share a
// user or channel and remember for 30 s what does not exist, and rows "generation#U1", counters
// without ttl. A row is believed only if it was written under the current generations of its
// credential, team, user and channel; so Invalidate, which raises one, takes effect at once
// everywhere, without a scan.
//
// Slack is asked for all that is missing at the same time, under one deadline. In a process, those
// who wait for the same triple share one set of calls. A late answer never overwrites a newer one.
// Timeouts, rate limits and errors are never stored. A table that fails costs calls, never a
// verdict.
//
// May be called from any thread; Check blocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/gate/tokens.h"
#include "apps/gate/verdict.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/result.h"
#include "slack/directory.h"
#include "slack/ids.h"
#include "tables/tables.h"

namespace tidemark::gate {

inline constexpr std::string_view kDefaultCacheTable = "slack-existence-check-cache";

// What to verify. Ids that the event does not carry are absent.
struct Subject {
  slack::TeamId team;
  std::optional<slack::UserId> user = std::nullopt;
  std::optional<slack::ChannelId> channel = std::nullopt;
};

// "T1#U1#C1", with an empty segment for what is absent. kInvalid when it would be longer than 100
// characters.
Result<std::string> CacheKey(const Subject& subject);

enum class MissingToken { kRefuse, kAllow };

struct ExistenceOptions {
  std::string table = std::string(kDefaultCacheTable);                   // Empty: no cache.
  std::chrono::milliseconds deadline = std::chrono::milliseconds(2500);  // Of a whole check.
  MissingToken missing_token = MissingToken::kRefuse;
  bool refuse_archived_channels = false;
  bool partial = true;  // Whether a subject without user or channel may be verified.
  // Checks of one team that may go on to Slack, a minute; what is beyond is unknown. 0: no limit.
  uint32_t checks_per_team_minute = 120;
  // Sets of look-ups at the same time, so that a slow Slack does not hold every worker.
  size_t max_under_way = 16;
};

class Existence {
 public:
  // All outlive this; logger and metrics may be null.
  Existence(ExistenceOptions options, tables::Tables* tables, slack::Directory* directory,
            const Tokens* tokens, const Clock* clock, const Logger* logger, Metrics* metrics);
  ~Existence();

  // Makes the table as the seed lays it out unless it is there.
  Status CreateTable();

  Verdict Check(const Subject& subject);
  // Whether the table alone allows it. Never asks Slack; false says nothing.
  bool Recall(const Subject& subject);

  // What was verified of this team, user or channel so far counts no longer, in any process.
  // kInvalid when it is no id of the kind.
  Status Invalidate(slack::EntityKind kind, const std::string& id);
  // Likewise for one triple: for its user and its channel, and for its team when it has neither.
  // The team's own row stays, on which all its other triples depend.
  Status InvalidateTriple(const Subject& subject);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::gate
