// For tests of the move: an old store in memory that fails on demand, the model of the tables as
// the new store, and processes that use both.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apps/attempts/account_table.h"
#include "apps/attempts/attempts.h"
#include "apps/attempts/moving/migration.h"
#include "apps/attempts/moving/table_store.h"
#include "apps/attempts/moving/two_stores.h"
#include "tests/attempts/stage.h"
#include "tests/model/model_tables.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/manual_time.h"

namespace tidemark::moving {

inline void PrintTo(Phase phase, std::ostream* out) { *out << ToString(phase); }

// An old store in memory that behaves like the one on a Redis.
class MemoryStore final : public MigrationStore {
 public:
  enum class Call { kRead, kWrite };
  static constexpr size_t kPage = 1'000;  // Of ListSubjects.

  Result<StoredAccount> Load(const attempts::Subject& subject) override {
    TRY(Fail(Call::kRead));
    const std::lock_guard lock(mutex_);
    StoredAccount account;
    const auto found = accounts_.find(subject);
    if (found != accounts_.end()) account = found->second;
    account.epoch = record_.epoch;
    return account;
  }
  Result<ReplaceOutcome> Replace(const Replacement& replacement) override {
    TRY(Fail(Call::kWrite));
    const std::lock_guard lock(mutex_);
    if (replacement.epoch && *replacement.epoch != record_.epoch)
      return ReplaceOutcome::kOtherEpoch;
    StoredAccount& account = accounts_[replacement.subject];
    if (account.version != replacement.before.version) return ReplaceOutcome::kChanged;
    account.items = replacement.items;
    account.version = account.items.empty() ? "" : std::to_string(++last_version_);
    return ReplaceOutcome::kApplied;
  }
  Result<PhaseRecord> GetPhase() override {
    TRY(Fail(Call::kRead));
    const std::lock_guard lock(mutex_);
    return record_;
  }
  Result<bool> SetPhase(const PhaseRecord& record, uint64_t expected_epoch) override {
    TRY(Fail(Call::kWrite));
    const std::lock_guard lock(mutex_);
    if (record_.epoch != expected_epoch) return false;
    record_ = record;
    return true;
  }
  Status NoteDrift(uint64_t epoch, EpochSeconds now) override {
    TRY(Fail(Call::kWrite));
    const std::lock_guard lock(mutex_);
    if (drift_epoch_ < epoch) drift_ = {};
    drift_epoch_ = epoch;
    drift_ = {.count = drift_.count + 1, .last_at = now};
    return Done{};
  }
  Result<Drift> GetDrift(uint64_t epoch) override {
    TRY(Fail(Call::kRead));
    const std::lock_guard lock(mutex_);
    return drift_epoch_ == epoch ? drift_ : Drift{};
  }
  Result<SubjectPage> ListSubjects(const std::optional<std::string>& cursor) override {
    TRY(Fail(Call::kRead));
    const std::lock_guard lock(mutex_);
    SubjectPage page;
    auto next = cursor ? accounts_.lower_bound(attempts::SubjectOf(*cursor)) : accounts_.begin();
    for (; next != accounts_.end() && page.subjects.size() < kPage; ++next) {
      if (!next->second.items.empty()) page.subjects.push_back(next->first);
    }
    if (next != accounts_.end()) page.next = next->first.text();
    return page;
  }
  Status CheckKeepsRows() override { return Done{}; }

  std::optional<item::Item> Find(const attempts::Subject& subject, const std::string& sort_key) {
    for (const item::Item& item : accounts_[subject].items) {
      if (item::TextIn(item, "sk") == sort_key) return item;
    }
    return std::nullopt;
  }
  // As another program writes: without ids and versions.
  void Store(const attempts::Subject& subject, item::Item item) {
    item.Set("subject_id", subject.text());
    accounts_[subject].items.push_back(std::move(item));
    accounts_[subject].version = std::to_string(++last_version_);
  }

  // Chooses the error of each call, if any. Set while no call is running.
  std::function<std::optional<Error>(Call)> decide;
  std::atomic<int> calls = 0;

 private:
  Status Fail(Call call) {
    ++calls;
    if (!decide) return Done{};
    if (auto error = decide(call)) return *error;
    return Done{};
  }

  std::mutex mutex_;
  std::map<attempts::Subject, StoredAccount> accounts_;
  PhaseRecord record_;
  Drift drift_;
  uint64_t drift_epoch_ = 0;
  int last_version_ = 0;
};

inline Error Away() { return {ErrorCode::kUnavailable, "away, for the test"}; }

// One process. Several of them share the stores.
struct Process {
  Process(MigrationStore* old_store, tables::Tables* tables, const Clock* clock, Random* random,
          const attempts::Policy& policy = attempts::Policy::Default())
      : own(clock, random),
        table(attempts::kDefaultTable, tables),
        table_store(attempts::kDefaultTable, tables),
        stores({.old_store = old_store, .new_store = &table_store, .table = &table}, own.runtime(),
               MoveMetrics(&own.metrics)),
        attempts(policy, &stores, own.runtime()),
        migration(&stores, LongestLife(policy)) {}

  double MetricOf(const std::string& name) {
    const std::string text = own.metrics.Expose();
    const size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
  }

  attempts::OwnRuntime own;
  attempts::AccountTable table;
  TableStore table_store;
  TwoStores stores;
  attempts::Attempts attempts;
  Migration migration;
};

class MoveStage {
 public:
  explicit MoveStage(Phase phase) : process(&old_store, &tables, &clock, &random) {
    CHECK(process.table.Create().has_value());
    CHECK(process.stores.Start(phase).has_value());
  }

  std::unique_ptr<Process> Another() {
    return std::make_unique<Process>(&old_store, &tables, &clock, &random);
  }

  std::string NextId() { return "id-" + std::to_string(++last_id_); }
  attempts::Decision Fail(Process* by, const attempts::Name& name = attempts::kPassword,
                          int times = 1) {
    attempts::Decision last;
    for (int i = 0; i < times; ++i) {
      const std::string id = NextId();
      const auto reserved =
          ReserveNow(by->attempts, {.subject = person, .name = name, .attempt_id = id});
      EXPECT_TRUE(reserved.has_value()) << reserved.error().message;
      if (!reserved) return {.verdict = attempts::Verdict::kBlocked};
      EXPECT_EQ(reserved->verdict, attempts::Verdict::kPermitted);
      const auto settled = SettleNow(
          by->attempts, {.subject = person, .name = name, .attempt_id = id, .right = false});
      EXPECT_TRUE(settled.has_value()) << settled.error().message;
      if (settled) last = settled->decision;
    }
    return last;
  }
  attempts::Decision Fail(int times = 1) { return Fail(&process, attempts::kPassword, times); }
  attempts::Verdict VerdictOf(Process* by, const attempts::Name& name = attempts::kPassword) {
    const auto decision = by->attempts.Decide({.subject = person, .name = name});
    EXPECT_TRUE(decision.has_value()) << decision.error().message;
    return decision ? decision->verdict : attempts::Verdict::kBlocked;
  }
  attempts::Verdict VerdictOf() { return VerdictOf(&process); }
  uint64_t CountOf() { return *process.attempts.Get(person, attempts::kPassword); }

  // Changes the phase step by step, without the checks of an operator.
  void GoTo(Phase phase) {
    while (process.stores.CurrentPhase()->phase != phase) {
      const PhaseRecord record = *process.stores.CurrentPhase();
      const bool is_forward = static_cast<int>(record.phase) < static_cast<int>(phase);
      CHECK(*process.stores.ChangePhase(
          record, is_forward ? *NextOf(record.phase) : *PreviousOf(record.phase)));
    }
  }

  std::optional<item::Item> InOld(const std::string& sort_key) {
    return old_store.Find(person, sort_key);
  }
  std::optional<item::Item> InNew(const std::string& sort_key) {
    return *model.Get({.table = attempts::kDefaultTable,
                       .key = {{"subject_id", person.text()}, {"sk", sort_key}}});
  }
  void OldIsAway(bool is_away) {
    old_store.decide = nullptr;
    if (is_away) old_store.decide = [](MemoryStore::Call) { return Away(); };
  }
  void NewIsAway(bool is_away) {
    tables.decide = nullptr;
    if (is_away) tables.decide = [](testing::Operation) { return testing::Throttled(); };
  }
  void Pass(int64_t seconds) { clock.Advance(std::chrono::seconds(seconds)); }
  Phase PhaseNow() { return process.stores.CurrentPhase()->phase; }

  ManualClock clock;
  model::ModelTables model{clock};
  testing::FaultyTables tables{&model};
  MemoryStore old_store;
  SeededRandom random{1};
  attempts::Subject person = attempts::SubjectOf("subject-a");
  Process process;
  std::ostringstream& log = process.own.log;

 private:
  int last_id_ = 0;
};

inline constexpr Phase kAllPhases[] = {Phase::kOld, Phase::kDualOldDecides, Phase::kDualNewDecides,
                                       Phase::kNewOldReadable, Phase::kNew};
inline const std::string kCountKey = "SIGN_IN#ERROR_COUNT#PASSWORD_ENTRY";
inline const std::string kLockKey = "SIGN_IN#LOCK#PASSWORD_RESET";
inline const std::string kBlockedKey = "ACCOUNT_INTERVENTION#STATE#BLOCKED";

}  // namespace tidemark::moving
