// The old store over a real Redis: the shapes of its keys, programs beside us, and a whole move.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/attempts/moving/redis/redis_store.h"
#include "tests/attempts_migration/move_stage.h"
#include "tests/support/redis_server.h"

namespace tidemark::moving {
namespace {

using attempts::kPassword;
using attempts::kPasswordLock;
using attempts::NumberIn;
using attempts::Verdict;
using ::testing::HasSubstr;

const char* const kSingle =
    "SIGN_IN#ERROR_COUNT#PASSWORD_ENTRY=multiple-incorrect-passwords:{subject}, "
    "SIGN_IN#LOCK#PASSWORD_RESET=code-blocked:{subject}";

// A clock that begins now, as the Redis has its own.
class RedisStage {
 public:
  explicit RedisStage(Phase phase) : process(&store, &model, &clock, &random, &logger) {
    CHECK(process.attempts.CreateTable().has_value());
    CHECK(process.stores.Start(phase).has_value());
  }

  attempts::Decision Fail(int times = 1) {
    attempts::Decision last;
    for (int i = 0; i < times; ++i) {
      const std::string id = "id-" + std::to_string(++last_id_);
      const auto reserved =
          process.attempts.Reserve({.subject = person, .name = kPassword, .attempt_id = id});
      EXPECT_TRUE(reserved.has_value()) << reserved.error().message;
      const auto settled = process.attempts.Settle(
          {.subject = person, .name = kPassword, .attempt_id = id, .right = false});
      EXPECT_TRUE(settled.has_value()) << settled.error().message;
      if (settled) last = settled->decision;
    }
    return last;
  }
  Verdict VerdictOf() {
    const auto decision = process.attempts.Decide({.subject = person, .name = kPassword});
    EXPECT_TRUE(decision.has_value()) << decision.error().message;
    return decision ? decision->verdict : Verdict::kBlocked;
  }
  uint64_t CountOf() { return *process.attempts.Get(person, kPassword); }
  std::string Ask(const std::vector<std::string>& words) {
    const auto reply = client.Run(words);
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    if (!reply) return "";
    return reply->AsText().empty() ? std::to_string(reply->AsInt()) : reply->AsText();
  }
  void Pass(int64_t seconds) { clock.Advance(std::chrono::seconds(seconds)); }

  testing::RedisServer server;
  redis::Client client{server.options()};
  ManualClock clock{SystemClock().NowSeconds()};
  RedisStore store{*KeyMap::Make({.single = kSingle}, KnownSortKeys(attempts::Policy::Default())),
                   server.options(), &clock};
  model::ModelTables model{clock};
  SeededRandom random{1};
  std::ostringstream log;
  Logger logger{{}, clock, &log};
  attempts::Subject person = attempts::SubjectOf("subject-a");
  Process process;

 private:
  int last_id_ = 0;
};

// As the programs before us read and write them: an integer and a mark, each with a life.
// Spec: 003-50
TEST(RedisShapesTest, CountsAndLocksAreWhereTheyWere) {
  RedisStage stage(Phase::kOld);
  stage.Fail(5);
  EXPECT_EQ(stage.Ask({"GET", "multiple-incorrect-passwords:subject-a"}), "5");
  const int life = std::stoi(stage.Ask({"TTL", "multiple-incorrect-passwords:subject-a"}));
  EXPECT_GT(life, 880);
  EXPECT_LE(life, 900);
  EXPECT_EQ(stage.Fail(1).verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(stage.Ask({"EXISTS", "multiple-incorrect-passwords:subject-a"}), "0");
  EXPECT_EQ(stage.Ask({"GET", "code-blocked:subject-a"}), "blocked");
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  ASSERT_TRUE(stage.process.attempts.Unlock(stage.person, kPasswordLock).has_value());
  EXPECT_EQ(stage.Ask({"EXISTS", "code-blocked:subject-a"}), "0");
}

TEST(RedisShapesTest, PermanentStatesHaveNoLife) {
  RedisStage stage(Phase::kOld);
  ASSERT_TRUE(
      stage.process.attempts.SetState(stage.person, attempts::AccountState::kBlocked, "fraud")
          .has_value());
  const std::string key = "account-state:ACCOUNT_INTERVENTION#STATE#BLOCKED:subject-a";
  EXPECT_EQ(stage.Ask({"GET", key}), "BLOCKED");
  EXPECT_EQ(stage.Ask({"TTL", key}), "-1");
  EXPECT_EQ(stage.Ask({"TTL", "tidemark-attempts:subject-a"}), "-1");
  EXPECT_EQ(stage.VerdictOf(), Verdict::kBlocked);
}

// What was there before us counts from the first call on.
TEST(RedisBesideTest, CountsAndLocksOfOthersAreHonoured) {
  RedisStage stage(Phase::kDualNewDecides);
  stage.Ask({"SET", "multiple-incorrect-passwords:subject-a", "5", "EX", "600"});
  EXPECT_EQ(stage.CountOf(), 5u);
  EXPECT_EQ(stage.Fail(1).verdict, Verdict::kTemporarilyLocked);
  stage.Ask({"SET", "code-blocked:subject-b", "blocked", "EX", "600"});
  const auto decision = stage.process.attempts.Decide(
      {.subject = attempts::SubjectOf("subject-b"), .name = kPassword});
  EXPECT_EQ(decision->verdict, Verdict::kTemporarilyLocked);
  EXPECT_NEAR(static_cast<double>(decision->remaining_seconds), 600, 2);
}

// The other program goes on counting, and clears, between our calls.
TEST(RedisBesideTest, WhatOthersCountAndClearMeanwhileIsFollowed) {
  RedisStage stage(Phase::kDualOldDecides);
  stage.Fail(2);
  stage.Ask({"INCR", "multiple-incorrect-passwords:subject-a"});
  EXPECT_EQ(stage.CountOf(), 3u);
  stage.Fail(1);
  EXPECT_EQ(stage.Ask({"GET", "multiple-incorrect-passwords:subject-a"}), "4");
  stage.Ask({"DEL", "multiple-incorrect-passwords:subject-a"});
  EXPECT_EQ(stage.CountOf(), 0u);
  stage.Ask({"SET", "multiple-incorrect-passwords:subject-a", "1", "EX", "900"});
  EXPECT_EQ(stage.CountOf(), 1u);
  EXPECT_EQ(stage.Fail(5).verdict, Verdict::kTemporarilyLocked);
  stage.Ask({"DEL", "code-blocked:subject-a"});
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
}

// Garbage is no way to have a count cleared.
TEST(RedisBesideTest, AValueThatIsNoNumberChangesNothing) {
  RedisStage stage(Phase::kOld);
  stage.Fail(3);
  stage.Ask({"SET", "multiple-incorrect-passwords:subject-a", "none", "EX", "900"});
  EXPECT_EQ(stage.CountOf(), 3u);
}

// Between our reading and our writing somebody else counts: the write is refused and made anew.
TEST(RedisBesideTest, AWriteBetweenOursIsNotOverwritten) {
  RedisStage stage(Phase::kOld);
  stage.Fail(1);
  const StoredAccount before = *stage.store.Load(stage.person);
  stage.Ask({"INCR", "multiple-incorrect-passwords:subject-a"});
  const Replacement replacement{.subject = stage.person,
                                .before = before,
                                .items = before.items,
                                .epoch = before.epoch,
                                .now = stage.clock.NowSeconds()};
  EXPECT_EQ(*stage.store.Replace(replacement), Outcome::kChanged);
  EXPECT_EQ(stage.CountOf(), 2u);
}

// At the end of a life by our clock it is over, though the key may be there a moment longer.
TEST(RedisBesideTest, AKeyThatOutlivesItsRowIsOver) {
  RedisStage stage(Phase::kOld);
  stage.Fail(6);
  stage.Pass(899);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  stage.Ask({"PEXPIRE", "code-blocked:subject-a", "700"});
  stage.Pass(1);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
}

TEST(RedisStoreTest, AWriteOfAnotherEpochIsRefused) {
  RedisStage stage(Phase::kOld);
  stage.Fail(1);
  const StoredAccount before = *stage.store.Load(stage.person);
  EXPECT_EQ(before.epoch, 1u);
  Replacement replacement{.subject = stage.person,
                          .before = before,
                          .items = {},
                          .epoch = 7,
                          .now = stage.clock.NowSeconds()};
  EXPECT_EQ(*stage.store.Replace(replacement), Outcome::kOtherEpoch);
  EXPECT_EQ(stage.CountOf(), 1u);
  replacement.epoch = 1;
  EXPECT_EQ(*stage.store.Replace(replacement), Outcome::kApplied);
  EXPECT_EQ(stage.CountOf(), 0u);
  EXPECT_EQ(stage.Ask({"EXISTS", "tidemark-attempts:subject-a"}), "0");
}

// A server that was restarted is found again; what it kept is there.
TEST(RedisStoreTest, FindsAServerThatWasAway) {
  RedisStage stage(Phase::kDualNewDecides);
  stage.Fail(2);
  stage.server.Stop();
  stage.Fail(1);
  EXPECT_THAT(stage.log.str(), HasSubstr("the store that does not decide failed"));
  stage.server.Start();
  stage.Fail(1);
  EXPECT_EQ(stage.Ask({"GET", "multiple-incorrect-passwords:subject-a"}), "4");
}

// Without a reply a write may have been applied; without one to a question nothing was.
TEST(RedisStoreTest, ASilentServerLeavesAWriteUnknown) {
  testing::RedisServer server;
  redis::ClientOptions options = server.options();
  options.reply_timeout = std::chrono::milliseconds(20);
  ManualClock clock;
  RedisStore store(*KeyMap::Make({}, {}), options, &clock);
  const attempts::Subject person = attempts::SubjectOf("subject-a");
  ASSERT_TRUE(store.Load(person).has_value());
  server.Pause();
  EXPECT_EQ(store.Load(person).error().code, ErrorCode::kUnavailable);
  const auto replaced = store.Replace({.subject = person,
                                       .before = {},
                                       .items = {},
                                       .epoch = std::nullopt,
                                       .now = clock.NowSeconds()});
  ASSERT_FALSE(replaced.has_value());
  EXPECT_EQ(replaced.error().code, ErrorCode::kUnknown);
  server.GoOn();
}

// The server may do it yet, and twice what was asked for once is wrong; nor would a server that is
// slow get well by being asked more.
TEST(RedisClientTest, WhatTimesOutIsNotRepeated) {
  testing::RedisServer server;
  redis::ClientOptions options = server.options();
  options.reply_timeout = std::chrono::milliseconds(100);
  redis::Client client(options);
  ASSERT_TRUE(client.Run({"SET", "count", "0"}).has_value());
  server.Pause();
  const auto reply = client.Run({"INCR", "count"}, redis::Repeat::kYes);
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kUnknown);
  server.GoOn();
  EXPECT_EQ(redis::Client(server.options()).Run({"GET", "count"})->AsText(), "1");
}

// On a connection that is gone nobody knows how far a command came: only what may be done twice is
// sent again.
TEST(RedisClientTest, OnlyWhatMayBeRepeatedIsSentOnANewConnection) {
  testing::RedisServer server;
  redis::Client client(server.options());
  const auto restart = [&] {
    ASSERT_TRUE(client.Run({"PING"}).has_value());
    server.Stop();
    server.Start();
  };
  restart();
  const auto write = client.Run({"INCR", "count"});
  ASSERT_FALSE(write.has_value());
  EXPECT_EQ(write.error().code, ErrorCode::kUnknown);
  restart();
  const auto question = client.Run({"GET", "count"}, redis::Repeat::kYes);
  ASSERT_TRUE(question.has_value()) << question.error().message;
  EXPECT_TRUE(question->IsNil());
}

// A Redis that is loading, read-only or full says so with an error: nothing was done, and nobody
// who asked is at fault. Spec: 003-46
TEST(RedisStoreTest, AnErrorReplyMeansThatNothingCanBeDecided) {
  RedisStage stage(Phase::kOld);
  stage.Fail(1);
  const auto wrong = stage.client.Run({"INCR", "tidemark-attempts:subject-a"});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(wrong.error().message, HasSubstr("WRONGTYPE"));
  // After a failover the server that we know may be a replica.
  stage.Ask({"REPLICAOF", "127.0.0.1", "1"});
  const auto refused = stage.process.attempts.Reserve(
      {.subject = stage.person, .name = kPassword, .attempt_id = "a"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("read only replica"));
  stage.Ask({"REPLICAOF", "NO", "ONE"});
  EXPECT_EQ(stage.CountOf(), 1u);
}

TEST(RedisStoreTest, NeedsThePasswordWhenThereIsOne) {
  testing::RedisServer server("open sesame");
  redis::Client client(server.options());
  EXPECT_TRUE(client.Run({"SET", "a", "b"}).has_value());
  redis::ClientOptions options = server.options();
  options.password = Secret(std::string("wrong"));
  redis::Client stranger(options);
  const auto reply = stranger.Run({"GET", "a"});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kUnavailable);
}

// From the first phase to the last and back again, with people in all conditions: those whom
// somebody touches on the way, and those whom only the copy can carry.
// Spec: 003-56, 003-58
TEST(RedisMoveTest, ThereAndBackAgain) {
  RedisStage stage(Phase::kOld);
  stage.Ask({"SET", "account-state:ACCOUNT_INTERVENTION#STATE#SUSPENDED:sleeper", "SUSPENDED"});
  const auto sleeper = attempts::SubjectOf("sleeper");
  const auto longest = LongestLife(attempts::Policy::Default()).count();
  ASSERT_EQ(stage.process.migration.Advance()->held_by, "");
  for (int i = 0; i < 3; ++i) {
    stage.Pass(longest + 1);
    ASSERT_EQ(stage.process.migration.Advance()->held_by, "");
  }
  EXPECT_EQ(stage.process.stores.CurrentPhase()->phase, Phase::kNew);
  EXPECT_EQ(stage.process.attempts.States(sleeper)->size(), 1u);
  stage.Fail(3);
  uint64_t count = 3;
  while (stage.process.stores.CurrentPhase()->phase != Phase::kOld) {
    stage.Pass(20);
    ASSERT_EQ(stage.process.migration.Back(Force::kNo)->held_by, "");
    EXPECT_EQ(stage.CountOf(), count);
    EXPECT_EQ(stage.process.attempts.States(sleeper)->size(), 1u);
  }
  EXPECT_EQ(stage.Ask({"GET", "multiple-incorrect-passwords:subject-a"}), "3");
  EXPECT_EQ(stage.Ask({"GET", "account-state:ACCOUNT_INTERVENTION#STATE#SUSPENDED:sleeper"}),
            "SUSPENDED");
  EXPECT_EQ(stage.Fail(3).verdict, Verdict::kTemporarilyLocked);
}

}  // namespace
}  // namespace tidemark::moving
