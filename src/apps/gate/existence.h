// Existence checks whether a team, a user and a channel exist and are active. It answers from its
// table when it can, and asks Slack otherwise.
//
// The table has the layout of the seed, plus two kinds of rows (cache_rows.h):
//   T1#U1#C1         this triple was verified; valid while now < ttl = verified_at + 300
//   entity#user#U1   what Slack said about one id. Saves calls when triples share a user or a
//                    channel, and remembers for 30 s that an id does not exist
//   generation#U1    a counter without ttl
// A row is used only if the generations of its credential, team, user and channel are still those
// it was written with. So Invalidate, which raises a generation, takes effect at once in every
// process, without finding and deleting rows.
//
// What Slack's lists say (roster.h) is used before Slack is asked about a single id, and is stored
// like the answer to a look-up. Absence from a list says nothing.
//
// Slack is asked for all missing ids at the same time, under one deadline. Requests of one process
// that wait for the same triple share one set of calls. A late answer never overwrites a newer one.
// Timeouts, rate limits and errors are never stored. When the table fails, Slack is asked instead;
// the verdict stays correct.
//
// May be called from any thread. Check blocks. CheckLater does not: Slack is asked on threads of
// its own, and checks that share the calls of another wait without a thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/gate/roster.h"
#include "apps/gate/tokens.h"
#include "apps/gate/verdict.h"
#include "base/later.h"
#include "base/result.h"
#include "base/runtime.h"
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

// "T1#U1#C1", with an empty segment for an absent id. kInvalid when it is longer than 100
// characters.
Result<std::string> CacheKey(const Subject& subject);

enum class MissingToken { kRefuse, kAllow };

struct ExistenceOptions {
  std::string table = std::string(kDefaultCacheTable);                   // Empty: no cache.
  std::chrono::milliseconds deadline = std::chrono::milliseconds(2500);  // For one whole check.
  MissingToken missing_token = MissingToken::kRefuse;
  bool refuse_archived_channels = false;
  bool partial = true;  // Whether a subject without a user or a channel may be verified.
  // How many checks of one team may ask Slack in a minute. Further checks are unknown. 0: no limit.
  uint32_t checks_per_team_minute = 120;
  // How many checks may ask Slack at the same time, and how many more may wait for their turn, each
  // until its deadline. Further checks are unknown.
  size_t max_under_way = 16;
  size_t max_waiting = 1'000;
};

class Existence {
 public:
  // All outlive this. The roster may be null: then every id is looked up.
  Existence(ExistenceOptions options, tables::Tables* tables, slack::Directory* directory,
            const Tokens* tokens, const Runtime& runtime, Roster* roster = nullptr);
  ~Existence();

  // Creates the table with the seed's layout, unless it exists.
  Status CreateTable();

  Verdict Check(const Subject& subject);
  // The same without blocking. The answer comes at once if the table knows it, and otherwise on the
  // thread that asked Slack: what blocks must go on elsewhere.
  Later<Verdict> CheckLater(const Subject& subject);
  // The verdict if the table alone allows the subject. Never asks Slack. nullopt means that the
  // table does not say.
  std::optional<Verdict> Recall(const Subject& subject);

  // Everything that was verified about this team, user or channel is void, in every process.
  // kInvalid when the text is not an id of this kind.
  Status Invalidate(slack::EntityKind kind, const std::string& id);
  // The same for the user and the channel of a triple, or for its team when it has neither. With a
  // user or channel the team stays valid, because all its other triples depend on it.
  Status InvalidateTriple(const Subject& subject);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::gate
