// Moving from a real Redis with the built program: a server, and the operator's commands.
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/serve_fixture.h"
#include "tests/support/redis_server.h"

namespace tidemark::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MigrateTest : public ServeFixture {
 protected:
  Words Environment() const {
    return {"TIDEMARK_ARCHIVE_ENABLED=false", "TIDEMARK_ATTEMPTS_MIGRATION=old",
            "TIDEMARK_ATTEMPTS_OLD_URL=" + redis_.options().address,
            "TIDEMARK_ATTEMPTS_OLD_PASSWORD=open sesame",
            "TIDEMARK_ATTEMPTS_OLD_KEYS=SIGN_IN#LOCK#PASSWORD_RESET=code-blocked:{subject}"};
  }
  Outcome Migrate(Words step) const {
    step.insert(step.begin(), {"attempts", "migrate"});
    step.insert(step.end(), {"--server", url(), "--token-file", "token"});
    return Run(step);
  }

  RedisServer redis_{"open sesame"};
  redis::Client redis_client_{redis_.options()};
};

// A lock that another program has set holds, and is copied into the table.
TEST_F(MigrateTest, MovesARunningServer) {
  ASSERT_TRUE(redis_client_.Run({"SET", "code-blocked:ann", "blocked", "EX", "800"}).has_value());
  std::ofstream(path("token")) << CreateToken("test");
  Serve({}, Environment());
  EXPECT_THAT(Migrate({"status"}).out, HasSubstr(R"("phase":"old","epoch":1)"));
  const Outcome moved = Migrate({"advance"});
  EXPECT_EQ(moved.exit_code, kOk) << moved.err;
  EXPECT_THAT(moved.out, HasSubstr(R"("phase":"dual-old-decides")"));
  EXPECT_EQ(Migrate({"verify"}).exit_code, kOk) << "the first dual phase has copied";
  ASSERT_TRUE(redis_client_.Run({"SET", "code-blocked:bob", "blocked", "EX", "800"}).has_value());
  const Outcome differing = Migrate({"verify", "--copy"});
  EXPECT_EQ(differing.exit_code, kNotMet);
  EXPECT_THAT(differing.out, AllOf(HasSubstr(R"("differing":1)"), HasSubstr(R"("example":"bob")")));
  EXPECT_EQ(Migrate({"verify"}).exit_code, kOk);
  EXPECT_THAT(Migrate({"status"}).out, HasSubstr(R"("drift":1)"));
  const Outcome held = Migrate({"advance"});
  EXPECT_EQ(held.exit_code, kNotMet);
  EXPECT_THAT(held.err, HasSubstr("more seconds without a difference"));

  // The same commands on the folder, and what the copy left there.
  ASSERT_EQ(StopServer(), 0);
  EXPECT_THAT(Do({"tables", "scan", "authentication-attempts"}),
              HasSubstr("SIGN_IN#LOCK#PASSWORD_RESET"));
  EXPECT_EQ(Run({"attempts", "unlock", "ann"}, Environment()).exit_code, kOk);
  EXPECT_EQ(redis_client_.Run({"EXISTS", "code-blocked:ann"})->AsInt(), 0);
  EXPECT_THAT(Do({"attempts", "migrate", "back"}, Environment()), HasSubstr(R"("phase":"old")"));
}

// Counts and locks of this policy live for a second, so a phase may end after two.
constexpr const char* kShortLives = R"({
"journeys": ["SIGN_IN"], "counts": ["ERROR_COUNT"],
"classifiers": ["PASSWORD_ENTRY", "PASSWORD_RESET"], "verification_seconds": 1,
"lock_seconds": {"STANDARD": 1, "REDUCED": 1},
"rules": [{"journey": "SIGN_IN", "count": "ERROR_COUNT", "classifier": "PASSWORD_ENTRY",
           "lock_classifier": "PASSWORD_RESET", "life": 1}]})";

TEST_F(MigrateTest, MovesThroughAllPhasesAndLeavesTheRedis) {
  std::ofstream(path("policy.json")) << kShortLives;
  Words environment = Environment();
  environment.emplace_back("TIDEMARK_ATTEMPTS_POLICY=policy.json");
  std::ofstream(path("token")) << CreateToken("test");
  Serve({}, environment);
  const auto help_desk = [&](Words words) {
    words.insert(words.begin(), "attempts");
    words.insert(words.end(), {"--server", url(), "--token-file", "token"});
    return Run(words);
  };
  ASSERT_EQ(help_desk({"state", "ann", "SUSPENDED", "--reason", "ticket 7"}).exit_code, kOk);
  for (const char* phase : {"dual-old-decides", "dual-new-decides", "new-old-readable", "new"}) {
    Outcome moved = Migrate({"advance"});
    // Each try takes a while, and the phase may change after two seconds.
    for (int tries = 0; moved.exit_code == kNotMet && tries < 500; ++tries) {
      EXPECT_THAT(moved.err, HasSubstr("more seconds without a difference"));
      moved = Migrate({"advance"});
    }
    ASSERT_EQ(moved.exit_code, kOk) << moved.err;
    EXPECT_THAT(moved.out, HasSubstr(std::string(R"("phase":")") + phase + "\""));
    EXPECT_THAT(help_desk({"show", "ann"}).out, HasSubstr("SUSPENDED")) << phase;
  }
  // The Redis can go. The table alone decides now, also after a restart.
  redis_.Stop();
  EXPECT_THAT(help_desk({"show", "ann"}).out, HasSubstr("ticket 7"));
  KillServer();
  Serve();
  EXPECT_THAT(help_desk({"show", "ann"}).out, HasSubstr("ticket 7"));
  EXPECT_THAT(Migrate({"status"}).out, HasSubstr(R"("phase":"new")"));
  EXPECT_THAT(Migrate({"advance"}).err, HasSubstr("the move is complete"));
}

// Review: T18
TEST_F(MigrateTest, SendsNothingPlainlyToAnotherMachine) {
  Words environment = Environment();
  environment[2] = "TIDEMARK_ATTEMPTS_OLD_URL=redis://192.0.2.1:6379";
  const Outcome refused = Run({"serve", "--listen", own_host_ + ":0"}, environment);
  EXPECT_EQ(refused.exit_code, kInvalid);
  EXPECT_THAT(refused.err, HasSubstr("attempts.old.plainly"));
}

TEST_F(MigrateTest, StartsNoServerWithoutTheDecidingOldStore) {
  Words environment = Environment();
  redis_.Stop();
  const Outcome away = Run({"serve", "--listen", own_host_ + ":0"}, environment);
  EXPECT_NE(away.exit_code, kOk);
  EXPECT_THAT(away.err, HasSubstr("attempts.old.url"));
  environment[2] = "TIDEMARK_ATTEMPTS_OLD_URL=";
  const Outcome refused = Run({"serve", "--listen", own_host_ + ":0"}, environment);
  EXPECT_EQ(refused.exit_code, kInvalid);
  EXPECT_THAT(refused.err, HasSubstr("attempts.old.url is empty"));
}

// Review: T2
TEST_F(MigrateTest, StartsNoServerOnARedisThatMayDropLocks) {
  ASSERT_TRUE(redis_client_.Run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"}).has_value());
  const Outcome refused = Run({"serve", "--listen", own_host_ + ":0"}, Environment());
  EXPECT_EQ(refused.exit_code, kInvalid);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("maxmemory-policy allkeys-lru"),
                                 HasSubstr("attempts.old.accept-eviction")));
}

TEST_F(MigrateTest, HasHelpWithAnExample) {
  for (const char* command : {"status", "advance", "back", "verify"}) {
    EXPECT_THAT(Do({"attempts", "migrate", command, "--help"}),
                HasSubstr("Example:\n  tidemark attempts migrate "));
  }
}

}  // namespace
}  // namespace tidemark::testing
