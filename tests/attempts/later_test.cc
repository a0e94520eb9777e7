// Reserve and Settle that return a Later: the same decisions, and only a worker blocks.
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "base/worker_pool.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/attempts/stage.h"
#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"
#include "tests/support/threads.h"

namespace tidemark::attempts {
namespace {

using testing::LostReply;
using testing::LostRequest;
using testing::Operation;
using testing::Throttled;

class LaterTest : public ::testing::Test, protected Stage {
 protected:
  Result<Decision> ReserveLater(const std::string& id, const Name& name = kPassword) {
    return attempts.Reserve({.subject = person, .name = name, .attempt_id = id}, &workers).Wait();
  }
  Result<SettleReply> SettleLater(const std::string& id, bool right) {
    return attempts
        .Settle({.subject = person, .name = kPassword, .attempt_id = id, .right = right}, &workers)
        .Wait();
  }
  // Another process changes the account between the load and the next write.
  void ChangeMeanwhile() {
    tables.decide = [this, met = false](Operation operation) mutable {
      if (testing::Writes(operation) && !std::exchange(met, true)) Add(kMfaCode);
      last_caller = std::this_thread::get_id();
      return std::optional<testing::Fault>();
    };
  }
  bool HasEndedOnAWorker() const { return last_caller != std::this_thread::get_id(); }

  std::thread::id last_caller =
      std::this_thread::get_id();  // The thread of the last call to the tables.
  WorkerPool workers{{.threads = 1, .max_waiting = 10}};
};

TEST_F(LaterTest, DecidesLikeTheBlockingForm) {
  for (int i = 1; i <= 6; ++i) {
    const std::string id = NextId();
    EXPECT_EQ(ReserveLater(id)->verdict, Verdict::kPermitted);
    const auto settled = SettleLater(id, false);
    EXPECT_EQ(settled->decision.verdict, i < 6 ? Verdict::kPermitted : Verdict::kTemporarilyLocked);
  }
  EXPECT_EQ(ReserveLater(NextId())->verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(Reserve({.subject = person, .name = kPassword, .attempt_id = NextId()}).verdict,
            Verdict::kTemporarilyLocked);
}

TEST_F(LaterTest, ReturnsErrorsLikeTheBlockingForm) {
  EXPECT_EQ(ReserveLater("").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ReserveLater("a", ErrorsOf("NO_SUCH", "PASSWORD_ENTRY")).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(SettleLater("", true).error().code, ErrorCode::kInvalid);
  tables.decide = [](Operation) { return Throttled(); };
  EXPECT_EQ(ReserveLater("a").error().code, ErrorCode::kUnavailable);
}

TEST_F(LaterTest, DecidesWithoutASlotLikeTheBlockingForm) {
  const ReserveRequest request{.subject = person, .name = kPassword};
  EXPECT_EQ(attempts.SubmitDecide(request).Wait()->verdict, Verdict::kPermitted);
  for (int i = 1; i <= 6; ++i) {
    const std::string id = NextId();
    EXPECT_EQ(ReserveLater(id)->verdict, Verdict::kPermitted);
    EXPECT_TRUE(SettleLater(id, false).has_value());
  }
  EXPECT_EQ(attempts.SubmitDecide(request).Wait()->verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(
      attempts.SubmitDecide({.subject = person, .name = ErrorsOf("NO_SUCH", "PASSWORD_ENTRY")})
          .Wait()
          .error()
          .code,
      ErrorCode::kInvalid);
  tables.decide = [](Operation) { return Throttled(); };
  EXPECT_EQ(attempts.SubmitDecide(request).Wait().error().code, ErrorCode::kUnavailable);
}

// A new round blocks, so it runs on a thread that may.
TEST_F(LaterTest, DecidesAgainOnAWorker) {
  ChangeMeanwhile();
  EXPECT_EQ(ReserveLater("a")->verdict, Verdict::kPermitted);
  EXPECT_TRUE(HasEndedOnAWorker());
  EXPECT_EQ(CountOf(kMfaCode), 1);
  ChangeMeanwhile();
  EXPECT_TRUE(SettleLater("a", false)->known);
  EXPECT_TRUE(HasEndedOnAWorker());
  EXPECT_EQ(CountOf(kPassword), 1);
}

// The caller gets an error, which never means permitted.
TEST_F(LaterTest, ReturnsAnErrorWhenNoWorkerIsFree) {
  ChangeMeanwhile();
  workers.Stop();
  EXPECT_EQ(ReserveLater("a").error().code, ErrorCode::kUnavailable);
}

// Whether the lost write was applied or not, it is made once and audited once.
TEST_F(LaterTest, FindsItsOwnWriteAfterALostReply) {
  for (const testing::Fault& fault : {LostReply(), LostRequest()}) {
    attempts.ResetAll(person).value();
    Fail(kPassword, 5);
    const std::string id = NextId();
    EXPECT_EQ(ReserveLater(id)->verdict, Verdict::kPermitted);
    log.str("");
    tables.decide = [fault, met = false](Operation operation) mutable {
      const bool fails = testing::Writes(operation) && !std::exchange(met, true);
      return fails ? std::optional(fault) : std::nullopt;
    };
    const auto settled = SettleLater(id, false);
    EXPECT_EQ(settled->decision.verdict, Verdict::kTemporarilyLocked);
    const std::string told = Logged();
    const size_t first = told.find("\"lock set\"");
    EXPECT_NE(first, std::string::npos) << told;
    EXPECT_EQ(told.find("\"lock set\"", first + 1), std::string::npos) << told;
    attempts.Unlock(person, kPasswordLock).value();
  }
}

// Spec: 003-31
// All guesses are in flight at once, over a real store.
TEST(LaterEmbeddedTest, EvaluatesSixOfFiftyWrongGuessesInFlight) {
  TempFolder folder;
  ManualClock clock;
  SeededRandom random(1);
  const auto tables = *embedded::EmbeddedTables::Open(
      {.folder = folder.path() + "/data", .background = false, .clock = &clock});
  AccountTable table(kDefaultTable, tables.get());
  ASSERT_TRUE(table.Create());
  OwnRuntime own(&clock, &random);
  Attempts attempts(Policy::Default(), &table, own.runtime());
  constexpr int kGuesses = 50;
  std::atomic<int> verified = 0;
  WorkerPool workers({.threads = 4, .max_waiting = 2 * kGuesses});
  testing::RunThreads(kGuesses, [&](int guesser) {
    const Subject person = SubjectOf("subject-a");
    const std::string id = "guess-" + std::to_string(guesser);
    const auto slot =
        attempts.Reserve({.subject = person, .name = kPassword, .attempt_id = id}, &workers).Wait();
    if (slot->verdict != Verdict::kPermitted) return;
    ++verified;
    const auto settled =
        attempts.Settle({.subject = person, .name = kPassword, .attempt_id = id}, &workers).Wait();
    EXPECT_TRUE(settled->known);
  });
  EXPECT_EQ(verified, 6);
  EXPECT_EQ(attempts.Locks(SubjectOf("subject-a"))->size(), 1U);
}

}  // namespace
}  // namespace tidemark::attempts
