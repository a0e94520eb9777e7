// For tests of attempts: a policy, the model of the tables behind a decorator that can fail, a
// clock that the test moves, and the log.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apps/attempts/account_table.h"
#include "apps/attempts/attempts.h"
#include "base/clock.h"
#include "base/random.h"
#include "item/attributes.h"
#include "tests/attempts/now.h"
#include "tests/attempts/own_runtime.h"
#include "tests/model/model_tables.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/manual_time.h"
#include "tests/support/print_items.h"

namespace tidemark::attempts {

inline void PrintTo(Verdict verdict, std::ostream* out) { *out << ToString(verdict); }
inline void PrintTo(EmailFraud state, std::ostream* out) { *out << ToString(state); }
inline void PrintTo(AccountState state, std::ostream* out) { *out << ToString(state); }

inline Name ErrorsOf(const std::string& journey, const std::string& classifier,
                     const std::string& method = "") {
  return {.journey = journey, .count = "ERROR_COUNT", .classifier = classifier, .method = method};
}
inline Name RequestsOf(const std::string& journey, const std::string& classifier) {
  return {.journey = journey, .count = "CODE_REQUEST_COUNT", .classifier = classifier};
}
inline Name LockOf(const std::string& journey, const std::string& classifier,
                   const std::string& method = "") {
  return {.journey = journey, .count = "LOCK", .classifier = classifier, .method = method};
}
inline const Name kPassword = ErrorsOf("SIGN_IN", "PASSWORD_ENTRY");
inline const Name kMfaCode = ErrorsOf("SIGN_IN", "MFA_CODE_ENTRY");
inline const Name kPasswordLock = LockOf("SIGN_IN", "PASSWORD_RESET");

inline Subject SubjectOf(const std::string& id) { return *Subject::Of(id); }

class Stage {
 public:
  explicit Stage(Policy policy = Policy::Default())
      : attempts(std::move(policy), &table, own.runtime()) {
    CHECK(table.Create().has_value());
  }

  std::string NextId() { return "id-" + std::to_string(++last_id_); }

  Decision Reserve(const ReserveRequest& request) {
    const auto decision = ReserveNow(attempts, request);
    EXPECT_TRUE(decision.has_value()) << decision.error().message;
    return decision ? *decision : Decision{.verdict = Verdict::kBlocked};
  }
  Decision Settle(const SettleRequest& request) {
    const auto reply = SettleNow(attempts, request);
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    if (!reply) return {.verdict = Verdict::kBlocked};
    EXPECT_TRUE(reply->known);
    return reply->decision;
  }
  // Reserves and settles; the reservation must be permitted.
  Decision Try(const Name& name, bool right, const std::string& method_type = "") {
    const std::string id = NextId();
    const Decision reserved =
        Reserve({.subject = person, .name = name, .attempt_id = id, .method_type = method_type});
    EXPECT_EQ(reserved.verdict, Verdict::kPermitted);
    return Settle({.subject = person,
                   .name = name,
                   .attempt_id = id,
                   .method_type = method_type,
                   .right = right});
  }
  Decision Fail(const Name& name, int times = 1, const std::string& method_type = "") {
    Decision last;
    for (int i = 0; i < times; ++i) last = Try(name, false, method_type);
    return last;
  }
  Decision Spend(const Name& name) {
    const auto decision = attempts.Spend({.subject = person, .name = name, .attempt_id = NextId()});
    EXPECT_TRUE(decision.has_value()) << decision.error().message;
    return decision ? *decision : Decision{.verdict = Verdict::kBlocked};
  }
  Verdict VerdictOf(const Name& name, const std::string& method_type = "") {
    const auto decision =
        attempts.Decide({.subject = person, .name = name, .method_type = method_type});
    EXPECT_TRUE(decision.has_value()) << decision.error().message;
    return decision ? decision->verdict : Verdict::kBlocked;
  }
  uint64_t CountOf(const Name& name) { return *attempts.Get(person, name); }
  uint64_t Add(const Name& name) { return *attempts.Increment({.subject = person, .name = name}); }
  std::vector<Lock> Locks() { return *attempts.Locks(person); }
  void Pass(int64_t seconds) { clock.Advance(std::chrono::seconds(seconds)); }

  std::optional<item::Item> Stored(const Subject& subject, const std::string& sort_key) {
    return *model.Get(
        {.table = kDefaultTable, .key = {{"subject_id", subject.text()}, {"sk", sort_key}}});
  }
  std::optional<item::Item> Stored(const std::string& sort_key) { return Stored(person, sort_key); }
  void Store(item::Item row) {
    row.Set("subject_id", person.text());
    CHECK(model.Put({.table = kDefaultTable, .item = std::move(row)}).has_value());
  }
  std::string Logged() const { return log.str(); }

  ManualClock clock;
  model::ModelTables model{clock};
  testing::FaultyTables tables{&model};
  AccountTable table{kDefaultTable, &tables};
  SeededRandom random{1};
  OwnRuntime own{&clock, &random};
  std::ostringstream& log = own.log;
  Subject person = SubjectOf("subject-a");
  Attempts attempts;

 private:
  int last_id_ = 0;
};

using item::TextIn;

inline int64_t NumberIn(const item::Item& item, std::string_view name) {
  return item::IntIn(item, name).value_or(-1);
}

inline item::Value Int(int64_t value) { return item::Number::FromInt(value); }

}  // namespace tidemark::attempts
