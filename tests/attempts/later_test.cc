// Reserve and Settle for callers that do not wait: the same decisions, and never a thread that
// blocks before the rest of the work is handed to one that may.
#include <atomic>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "tables/embedded/embedded_tables.h"
#include "tests/attempts/stage.h"
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
  // The model answers at once.
  Outcome<Decision> ReserveLater(const std::string& id, const Name& name = kPassword) {
    std::optional<Outcome<Decision>> outcome;
    attempts.Reserve({.subject = person, .name = name, .attempt_id = id},
                     [&](Outcome<Decision> given) { outcome = std::move(given); });
    return *std::move(outcome);
  }
  Outcome<SettleReply> SettleLater(const std::string& id, bool right) {
    std::optional<Outcome<SettleReply>> outcome;
    attempts.Settle({.subject = person, .name = kPassword, .attempt_id = id, .right = right},
                    [&](Outcome<SettleReply> given) { outcome = std::move(given); });
    return *std::move(outcome);
  }
  // The next write meets a change that somebody else made after the account was loaded.
  void ChangeMeanwhile() {
    tables.decide = [this, met = false](Operation operation) mutable {
      if (testing::Writes(operation) && !std::exchange(met, true)) Add(kMfaCode);
      return std::optional<testing::Fault>();
    };
  }
};

template <typename Reply>
const Result<Reply>& Ready(const Outcome<Reply>& outcome) {
  return std::get<Result<Reply>>(outcome);
}
template <typename Reply>
const Rest<Reply>& Left(const Outcome<Reply>& outcome) {
  return std::get<Rest<Reply>>(outcome);
}

TEST_F(LaterTest, DecidesAsThoseWhoWait) {
  for (int i = 1; i <= 6; ++i) {
    const std::string id = NextId();
    EXPECT_EQ(Ready(ReserveLater(id))->verdict, Verdict::kPermitted);
    const auto settled = SettleLater(id, false);
    EXPECT_EQ(Ready(settled)->decision.verdict,
              i < 6 ? Verdict::kPermitted : Verdict::kTemporarilyLocked);
  }
  EXPECT_EQ(Ready(ReserveLater(NextId()))->verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(Reserve({.subject = person, .name = kPassword, .attempt_id = NextId()}).verdict,
            Verdict::kTemporarilyLocked);
}

TEST_F(LaterTest, RefusesWhatCannotBeDecided) {
  EXPECT_EQ(Ready(ReserveLater("")).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Ready(ReserveLater("a", ErrorsOf("NO_SUCH", "PASSWORD_ENTRY"))).error().code,
            ErrorCode::kInvalid);
  EXPECT_EQ(Ready(SettleLater("", true)).error().code, ErrorCode::kInvalid);
  tables.decide = [](Operation) { return Throttled(); };
  EXPECT_EQ(Ready(ReserveLater("a")).error().code, ErrorCode::kUnavailable);
}

// Deciding anew may take long, so it is left to a thread that may block.
TEST_F(LaterTest, LeavesADecisionToBeMadeAnew) {
  ChangeMeanwhile();
  const auto reserved = ReserveLater("a");
  EXPECT_EQ(CountOf(kMfaCode), 1);
  EXPECT_EQ(Left(reserved)()->verdict, Verdict::kPermitted);
  ChangeMeanwhile();
  const auto settled = SettleLater("a", false);
  EXPECT_TRUE(Left(settled)()->known);
  EXPECT_EQ(CountOf(kPassword), 1);
}

// Whether it was written or not, the slot is taken once, and what happened is told once.
TEST_F(LaterTest, FindsWhatWasWrittenWithoutAReply) {
  for (const testing::Fault& fault : {LostReply(), LostRequest()}) {
    attempts.ResetAll(person).value();
    Fail(kPassword, 5);
    const std::string id = NextId();
    EXPECT_EQ(Ready(ReserveLater(id))->verdict, Verdict::kPermitted);
    log.str("");
    tables.decide = [fault, met = false](Operation operation) mutable {
      const bool fails = testing::Writes(operation) && !std::exchange(met, true);
      return fails ? std::optional(fault) : std::nullopt;
    };
    const auto settled = SettleLater(id, false);
    EXPECT_EQ(Left(settled)()->decision.verdict, Verdict::kTemporarilyLocked);
    const std::string told = Logged();
    const size_t first = told.find("\"lock set\"");
    EXPECT_NE(first, std::string::npos) << told;
    EXPECT_EQ(told.find("\"lock set\"", first + 1), std::string::npos) << told;
    attempts.Unlock(person, kPasswordLock).value();
  }
}

// Spec: 003-31
// The bound, with all guesses in flight at once over a real store.
TEST(LaterEmbeddedTest, OfFiftyWrongGuessesInFlightSixAreEvaluated) {
  TempFolder folder;
  ManualClock clock;
  SeededRandom random(1);
  const auto tables = *embedded::EmbeddedTables::Open(
      {.folder = folder.path() + "/data", .background = false, .clock = &clock});
  Attempts attempts({}, Policy::Default(), tables.get(), &clock, &random, nullptr, nullptr);
  ASSERT_TRUE(attempts.CreateTable());
  constexpr int kGuesses = 50;
  std::atomic<int> verified = 0;
  const auto wait = [](auto outcome) {
    using Reply = std::decay_t<decltype(std::get<0>(outcome).value())>;
    auto* ready = std::get_if<Result<Reply>>(&outcome);
    return ready != nullptr ? std::move(*ready) : std::get<Rest<Reply>>(outcome)();
  };
  testing::RunThreads(kGuesses, [&](int guesser) {
    const Subject person = SubjectOf("subject-a");
    const std::string id = "guess-" + std::to_string(guesser);
    std::binary_semaphore answered(0);
    std::optional<Outcome<Decision>> slot;
    attempts.Reserve({.subject = person, .name = kPassword, .attempt_id = id},
                     [&](Outcome<Decision> outcome) {
                       slot = std::move(outcome);
                       answered.release();
                     });
    answered.acquire();
    if (wait(*std::move(slot))->verdict != Verdict::kPermitted) return;
    ++verified;
    std::optional<Outcome<SettleReply>> settled;
    attempts.Settle({.subject = person, .name = kPassword, .attempt_id = id},
                    [&](Outcome<SettleReply> outcome) {
                      settled = std::move(outcome);
                      answered.release();
                    });
    answered.acquire();
    EXPECT_TRUE(wait(*std::move(settled))->known);
  });
  EXPECT_EQ(verified, 6);
  EXPECT_EQ(attempts.Locks(SubjectOf("subject-a"))->size(), 1U);
}

}  // namespace
}  // namespace tidemark::attempts
