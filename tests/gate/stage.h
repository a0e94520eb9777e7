// A Stage has everything that an existence check needs, under the control of the test: a clock that
// stands still, model tables with injected faults, a scripted Slack, and a log and metrics that the
// test can read.
//
//   Stage stage;
//   stage.slack.Set("U1", slack::LookupOutcome::kNotFound);
//   EXPECT_EQ(stage.existence->Check(Triple()).reason, Reason::kUserNotFound);
//
// Everything except ScriptedSlack's setters may be used from several threads.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "apps/gate/existence.h"
#include "apps/gate/tokens.h"
#include "base/runtime.h"
#include "slack/directory.h"
#include "tests/model/model_tables.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/manual_time.h"

namespace tidemark::gate {

inline bool operator==(const Verdict& left, const Verdict& right) {
  return left.decision == right.decision && left.reason == right.reason;
}
inline void PrintTo(const Verdict& verdict, std::ostream* out) {
  *out << ToString(verdict.decision) << "(" << ToString(verdict.reason) << ") " << verdict.detail;
}

}  // namespace tidemark::gate

namespace tidemark::testing {

inline constexpr char kTeam[] = "T01234567";
inline constexpr char kUser[] = "U01234567";
inline constexpr char kChannel[] = "C01234567";
inline constexpr char kTripleKey[] = "T01234567#U01234567#C01234567";

// An empty user or channel is absent.
gate::Subject Triple(const std::string& user = kUser, const std::string& channel = kChannel,
                     const std::string& team = kTeam);

inline gate::Verdict Allowed(gate::Reason reason) { return {gate::Decision::kAllow, reason}; }
inline gate::Verdict Refused(gate::Reason reason) { return {gate::Decision::kDeny, reason}; }
inline gate::Verdict NotKnown(gate::Reason reason) { return {gate::Decision::kUnknown, reason}; }

// A Slack in which every id exists unless the test says otherwise.
class ScriptedSlack final : public slack::Directory {
 public:
  void Set(const std::string& id, slack::LookupOutcome outcome, std::string error = {});
  void SetAll(slack::LookupOutcome outcome);
  // Called at the start of each set of look-ups, and before it returns.
  std::function<void()> on_ask;
  std::function<void()> on_answer;

  std::vector<slack::LookupReply> LookUp(const Secret& token,
                                         std::span<const slack::Lookup> lookups,
                                         const Deadline& deadline) override;

  int sets() const;                          // Sets of look-ups.
  std::vector<slack::Lookup> asked() const;  // All, in order.

 private:
  mutable std::mutex mutex_;
  slack::LookupReply otherwise_{.outcome = slack::LookupOutcome::kActive};
  std::map<std::string, slack::LookupReply> replies_;
  std::vector<slack::Lookup> asked_;
  int sets_ = 0;
};

// One token for all teams. Set must not be called while another thread calls Find.
class ScriptedTokens final : public gate::Tokens {
 public:
  void Set(std::optional<std::string> token);
  std::optional<gate::Credential> Find(const slack::TeamId& team) const override {
    return tokens_->Find(team);
  }
  std::vector<gate::Credential> All() const override { return tokens_->All(); }

 private:
  std::unique_ptr<gate::FixedTokens> tokens_;
};

struct StageOptions {
  gate::ExistenceOptions existence = {};
};

class Stage {
 public:
  explicit Stage(StageOptions options = {});

  // Another process on the same tables and the same Slack.
  std::unique_ptr<gate::Existence> AnotherProcess();

  // The row as stored; nullopt when there is none.
  std::optional<item::Item> Row(const std::string& key);
  void PutRow(const item::Item& row);
  std::vector<item::Item> AllRows(const std::string& table);
  // Replaces the ttl in the stored row of the triple.
  void PutTtl(const item::Value& ttl);

  double Metric(const std::string& name) const;  // -1 when there is none.
  std::string Log() const { return log_.str(); }
  size_t LogLines(const std::string& with) const;

  ManualClock clock;
  ManualSleeper sleeper{&clock};
  model::ModelTables model{clock};
  FaultyTables tables{&model};
  ScriptedSlack slack;
  std::atomic<int> reads = 0;   // Calls of the tables.
  std::atomic<int> writes = 0;  // Writes of any kind.
  Decide fault;                 // What fails; unset: nothing.

  ScriptedTokens tokens;
  std::unique_ptr<gate::Existence> existence;

  // Of the process under test.
  Runtime runtime() { return RuntimeWith(clock, metrics_); }
  // Of another process: the same log, metrics of its own, and a clock that may differ.
  Runtime AnotherRuntime() { return AnotherRuntime(clock); }
  Runtime AnotherRuntime(const Clock& its_clock) {
    return RuntimeWith(its_clock, other_metrics_.emplace_back());
  }

 private:
  Runtime RuntimeWith(const Clock& its_clock, Metrics& its_metrics) {
    return {.clock = its_clock,
            .random = random_,
            .sleeper = sleeper,
            .logger = logger_,
            .metrics = its_metrics};
  }

  const StageOptions options_;
  std::ostringstream log_;
  Logger logger_{{.level = LogLevel::kDebug}, clock, &log_};
  SeededRandom random_{1};
  Metrics metrics_;
  std::deque<Metrics> other_metrics_;
};

}  // namespace tidemark::testing
