// The old store with a real Redis: the format of its keys, other programs that use it, and a whole
// move.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/attempts/moving/redis/redis_store.h"
#include "tests/attempts_migration/move_stage.h"
#include "tests/support/certificate.h"
#include "tests/support/manual_time.h"
#include "tests/support/redis_server.h"
#include "tests/support/temp_folder.h"

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

// The clock starts at the real time, because the Redis has its own clock.
class RedisStage {
 public:
  explicit RedisStage(Phase phase) : process(&store, &model, &clock, &random) {
    CHECK(process.table.Create().has_value());
    CHECK(process.stores.Start(phase).has_value());
  }

  attempts::Decision Fail(int times = 1) {
    attempts::Decision last;
    for (int i = 0; i < times; ++i) {
      const std::string id = "id-" + std::to_string(++last_id_);
      const auto reserved =
          ReserveNow(process.attempts, {.subject = person, .name = kPassword, .attempt_id = id});
      EXPECT_TRUE(reserved.has_value()) << reserved.error().message;
      const auto settled =
          SettleNow(process.attempts,
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
  attempts::Subject person = attempts::SubjectOf("subject-a");
  Process process;

 private:
  int last_id_ = 0;
};

// The format that other programs read and write: an integer and a mark, each with an expiry.
// Spec: 003-50
TEST(RedisShapesTest, KeepsTheKeysOfOtherPrograms) {
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

TEST(RedisShapesTest, WritesPermanentStatesWithoutAnExpiry) {
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

// Rows of other programs count from the first call on.
TEST(RedisBesideTest, CountsAndLocksOfOtherProgramsHold) {
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

// The other program counts and clears between our calls.
TEST(RedisBesideTest, FollowsCountsAndClearsOfOtherPrograms) {
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

// The program that used this Redis before is still in charge: what it sets holds, and what it
// clears is clear, whatever the table has. Spec: 003-51
TEST(RedisBesideTest, WhereTheStoresDisagreeTheOldOneDecides) {
  RedisStage stage(Phase::kDualOldDecides);
  const auto in_table = [&](const std::string& sort_key) {
    return *stage.model.Get({.table = attempts::kDefaultTable,
                             .key = {{"subject_id", stage.person.text()}, {"sk", sort_key}}});
  };
  EXPECT_EQ(stage.Fail(6).verdict, Verdict::kTemporarilyLocked);
  EXPECT_EQ(stage.Ask({"EXISTS", "code-blocked:subject-a"}), "1");
  ASSERT_TRUE(in_table(kLockKey).has_value());
  stage.Ask({"DEL", "code-blocked:subject-a"});
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
  EXPECT_TRUE(in_table(kLockKey).has_value()) << "the table alone would have refused";
  EXPECT_EQ(stage.Fail(1).count, 1u);
  EXPECT_EQ(NumberIn(*in_table(kCountKey), "count"), 1);
  // And the other way round: five of the six are known to the old store only.
  stage.Ask({"SET", "multiple-incorrect-passwords:subject-a", "5", "EX", "600"});
  EXPECT_EQ(NumberIn(*in_table(kCountKey), "count"), 1);
  EXPECT_EQ(stage.Fail(1).verdict, Verdict::kTemporarilyLocked);
  EXPECT_TRUE(in_table(kLockKey).has_value());
}

// A port of the loopback address that nobody listens on.
int FreePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  CHECK(::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
  CHECK(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(socket);
  return ntohs(address.sin_port);
}

// Review: T18
TEST(RedisClientTest, EncryptsAndTrustsOnlyTheRightCertificate) {
  const TempFolder folder;
  const testing::CertificatePaths paths{.certificate = folder.path() + "/certificate.pem",
                                        .key = folder.path() + "/key.pem"};
  testing::WriteCertificate("IP:127.0.0.1", paths);
  const std::string port = std::to_string(FreePort());
  testing::RedisServer server(
      "open sesame", {"--tls-port", port, "--tls-cert-file", paths.certificate, "--tls-key-file",
                      paths.key, "--tls-auth-clients", "no"});
  redis::ClientOptions options{.address = "rediss://127.0.0.1:" + port,
                               .authorities = paths.certificate};
  options.connect_timeout = options.reply_timeout = std::chrono::seconds(30);
  options.password = Secret("open sesame");
  redis::Client client(options);
  const std::string large(100'000, 'x');
  ASSERT_TRUE(client.Run({"SET", "key", large}).has_value());
  EXPECT_EQ(client.Run({"GET", "key"})->AsText(), large);
  const auto refused = client.Run({"NONSENSE"});
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  // Somebody in between has another certificate, or one for another name.
  const auto error_of = [](const redis::ClientOptions& of) {
    const auto reply = redis::Client(of).Run({"GET", "key"});
    return reply ? "accepted" : reply.error().message;
  };
  redis::ClientOptions unknown = options;
  unknown.authorities = "";
  EXPECT_THAT(error_of(unknown), HasSubstr("certificate of the server is not accepted"));
  redis::ClientOptions other_name = options;
  other_name.address = "rediss://localhost:" + port;
  EXPECT_THAT(error_of(other_name), HasSubstr("certificate of the server is not accepted"));
  // The server goes away. A read is repeated on a new connection, and there is none.
  server.Stop();
  const auto gone = client.Run({"GET", "key"}, redis::Repeat::kYes);
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().code, ErrorCode::kUnavailable) << gone.error().message;
}

// Review: T18
TEST(RedisStoreTest, IsRefusedWhenItIsANodeOfACluster) {
  testing::RedisServer server("", {"--cluster-enabled", "yes"});
  const ManualClock clock;
  RedisStore store{*KeyMap::Make({.single = kSingle}, KnownSortKeys(attempts::Policy::Default())),
                   server.options(), &clock, Eviction::kAccepted};
  const Status refused = store.CheckKeepsRows();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("node of a cluster"));
}

// Review: T2
TEST(RedisBesideTest, EvictionLiftsNoLockWhereTheTableDecides) {
  for (const Phase phase : {Phase::kDualNewDecides, Phase::kNewOldReadable}) {
    RedisStage stage(Phase::kDualNewDecides);
    stage.Fail(6);
    if (phase == Phase::kNewOldReadable) {
      ASSERT_TRUE(*stage.process.stores.ChangePhase(*stage.process.stores.CurrentPhase(), phase));
    }
    // One key alone, and then all that may be evicted.
    stage.Ask({"DEL", "code-blocked:subject-a"});
    EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
    stage.Ask({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"});
    stage.Ask({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_FALSE(stage.client.Run({"SET", "any", "value"}).has_value());
    stage.Ask({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_EQ(stage.Ask({"EXISTS", "code-blocked:subject-a"}), "0");
    EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
    stage.Ask({"DEL", "tidemark-attempts:subject-a"});
    EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  }
}

// Review: T2
TEST(RedisBesideTest, ALowerCountChangesNothingWhereTheTableDecides) {
  RedisStage stage(Phase::kDualNewDecides);
  stage.Fail(5);
  stage.Ask({"SET", "multiple-incorrect-passwords:subject-a", "1", "EX", "900"});
  EXPECT_EQ(stage.CountOf(), 5u);
  EXPECT_GT(stage.process.stores.GetDrift()->count, 0u) << "but it is a difference";
}

// Going back to the old store writes evicted keys again.
// Review: T2
TEST(RedisBesideTest, GoingBackRestoresEvictedKeys) {
  RedisStage stage(Phase::kDualNewDecides);
  stage.Fail(6);
  stage.Ask({"DEL", "code-blocked:subject-a"});
  ASSERT_EQ(stage.process.migration.Back(Force::kNo)->held_by, "");
  EXPECT_EQ(stage.Ask({"GET", "code-blocked:subject-a"}), "blocked");
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
}

// While the Redis decides, an evicted lock looks like a lifted one.
// Review: T2
TEST(RedisStoreTest, IsRefusedWhenItMayDropKeys) {
  RedisStage stage(Phase::kOld);
  EXPECT_TRUE(stage.store.CheckKeepsRows().has_value());
  stage.Ask({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"});
  const Status refused = stage.store.CheckKeepsRows();
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("maxmemory-policy volatile-lru"));
  EXPECT_EQ(stage.process.migration.Start(Phase::kOld).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(stage.process.migration.Advance().error().code, ErrorCode::kInvalid);
  // A running server checks this every minute.
  stage.Pass(61);
  stage.VerdictOf();
  EXPECT_THAT(stage.process.own.log.str(), HasSubstr("the old store may drop locks"));
  RedisStore accepting(*KeyMap::Make({}, {}), stage.server.options(), &stage.clock,
                       Eviction::kAccepted);
  EXPECT_TRUE(accepting.CheckKeepsRows().has_value());
}

// Otherwise a broken value would clear a count.
TEST(RedisBesideTest, IgnoresAValueThatIsNotANumber) {
  RedisStage stage(Phase::kOld);
  stage.Fail(3);
  stage.Ask({"SET", "multiple-incorrect-passwords:subject-a", "none", "EX", "900"});
  EXPECT_EQ(stage.CountOf(), 3u);
}

// Another program counts between our load and our write: the write is refused and made again.
TEST(RedisBesideTest, AWriteBetweenLoadAndReplaceIsNotOverwritten) {
  RedisStage stage(Phase::kOld);
  stage.Fail(1);
  const StoredAccount before = *stage.store.Load(stage.person);
  stage.Ask({"INCR", "multiple-incorrect-passwords:subject-a"});
  const Replacement replacement{.subject = stage.person,
                                .before = before,
                                .items = before.items,
                                .epoch = before.epoch,
                                .now = stage.clock.NowSeconds()};
  EXPECT_EQ(*stage.store.Replace(replacement), ReplaceOutcome::kChanged);
  EXPECT_EQ(stage.CountOf(), 2u);
}

// The Redis has its own clock, so a key may live a moment longer than its row.
TEST(RedisBesideTest, IgnoresAKeyThatOutlivesItsRow) {
  RedisStage stage(Phase::kOld);
  stage.Fail(6);
  stage.Pass(899);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kTemporarilyLocked);
  stage.Ask({"PEXPIRE", "code-blocked:subject-a", "700"});
  stage.Pass(1);
  EXPECT_EQ(stage.VerdictOf(), Verdict::kPermitted);
}

TEST(RedisStoreTest, RefusesAWriteOfAnotherEpoch) {
  RedisStage stage(Phase::kOld);
  stage.Fail(1);
  const StoredAccount before = *stage.store.Load(stage.person);
  EXPECT_EQ(before.epoch, 1u);
  Replacement replacement{.subject = stage.person,
                          .before = before,
                          .items = {},
                          .epoch = 7,
                          .now = stage.clock.NowSeconds()};
  EXPECT_EQ(*stage.store.Replace(replacement), ReplaceOutcome::kOtherEpoch);
  EXPECT_EQ(stage.CountOf(), 1u);
  replacement.epoch = 1;
  EXPECT_EQ(*stage.store.Replace(replacement), ReplaceOutcome::kApplied);
  EXPECT_EQ(stage.CountOf(), 0u);
  EXPECT_EQ(stage.Ask({"EXISTS", "tidemark-attempts:subject-a"}), "0");
}

// The client connects again after a restart, and finds what the server kept.
TEST(RedisStoreTest, ReconnectsAfterARestartOfTheServer) {
  RedisStage stage(Phase::kDualNewDecides);
  stage.Fail(2);
  stage.server.Stop();
  stage.Fail(1);
  EXPECT_THAT(stage.process.own.log.str(), HasSubstr("the store that does not decide failed"));
  stage.server.Start();
  stage.Fail(1);
  EXPECT_EQ(stage.Ask({"GET", "multiple-incorrect-passwords:subject-a"}), "4");
}

// A write without a reply may have been applied. A read without a reply has changed nothing.
TEST(RedisStoreTest, ReturnsUnknownForAWriteWithoutAReply) {
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

// The server may still execute the command, and must not execute it twice. More commands would also
// make a slow server slower.
TEST(RedisClientTest, DoesNotRepeatACommandThatTimedOut) {
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

// When a connection breaks, it is not known whether the command was executed. Only a command that
// may be executed twice is sent again.
TEST(RedisClientTest, RepeatsOnlyReadsOnANewConnection) {
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
  EXPECT_TRUE(std::holds_alternative<std::monostate>(question->value));
}

// A Redis that is loading, read-only or full answers with an error: nothing was done, and the
// caller made no mistake. Spec: 003-46
TEST(RedisStoreTest, AnErrorReplyIsUnavailable) {
  RedisStage stage(Phase::kOld);
  stage.Fail(1);
  const auto wrong = stage.client.Run({"INCR", "tidemark-attempts:subject-a"});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(wrong.error().message, HasSubstr("WRONGTYPE"));
  // After a failover the server that we know may be a replica.
  stage.Ask({"REPLICAOF", "127.0.0.1", "1"});
  const auto refused = ReserveNow(stage.process.attempts,
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

// From the first phase to the last and back, with people who try on the way and people whose rows
// only the copy moves.
// Spec: 003-56, 003-58
TEST(RedisMoveTest, MovesThroughAllPhasesAndBack) {
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
