// Names, rows and counting: statements 003-01 to 003-22.
#include <atomic>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/attempts/stage.h"
#include "tests/support/threads.h"

namespace tidemark::attempts {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr EpochSeconds kStart = 1'700'000'000;

// The key of the seed, and its default classifier.
// Spec: 003-01, 003-02
TEST(CountsTest, KeysARowBySubjectAndThreeParts) {
  Stage stage;
  stage.Fail(kPassword);
  const auto row = stage.Stored("SIGN_IN#ERROR_COUNT#PASSWORD_ENTRY");
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(TextIn(*row, "subject_id"), "subject-a");
  stage.Add({.journey = "SESSION", .count = "RETRY_COUNT"});
  EXPECT_TRUE(stage.Stored("SESSION#RETRY_COUNT#GENERAL").has_value());
}

// A field that is not set is absent, and not null.
// Spec: 003-03
TEST(CountsTest, StoresNumbersAndOnlyTheFieldsThatAreSet) {
  Stage stage;
  stage.Fail(kPassword);
  const item::Item plain = *stage.Stored("SIGN_IN#ERROR_COUNT#PASSWORD_ENTRY");
  EXPECT_EQ(NumberIn(plain, "count"), 1);
  EXPECT_EQ(NumberIn(plain, "ttl"), kStart + 900);
  EXPECT_EQ(NumberIn(plain, "last_updated"), kStart);
  for (const char* absent : {"notification_type", "mfa_method_type", "block_type", "block_duration",
                             "intervention_state"}) {
    EXPECT_FALSE(plain.Contains(absent)) << absent;
  }
  stage.Reserve({.subject = stage.person,
                 .name = kMfaCode,
                 .attempt_id = "a",
                 .notification_type = "MFA_SMS",
                 .method_type = "SMS"});
  stage.Settle({.subject = stage.person, .name = kMfaCode, .attempt_id = "a"});
  const item::Item typed = *stage.Stored("SIGN_IN#ERROR_COUNT#MFA_CODE_ENTRY#SMS");
  EXPECT_EQ(TextIn(typed, "notification_type"), "MFA_SMS");
  EXPECT_EQ(TextIn(typed, "mfa_method_type"), "SMS");
}

TEST(CountsTest, StoresTheFieldsOfLocksAndStates) {
  Stage stage;
  stage.Fail(kPassword, 6);
  const item::Item lock = *stage.Stored("SIGN_IN#LOCK#PASSWORD_RESET");
  EXPECT_EQ(TextIn(lock, "block_type"), "STANDARD");
  EXPECT_EQ(NumberIn(lock, "block_duration"), 900);
  EXPECT_EQ(NumberIn(lock, "ttl") - NumberIn(lock, "last_updated"), 900);
  EXPECT_FALSE(lock.Contains("count"));
  ASSERT_TRUE(stage.attempts.SetState(stage.person, AccountState::kBlocked, "asked for"));
  const item::Item state = *stage.Stored("ACCOUNT_INTERVENTION#STATE#BLOCKED");
  EXPECT_EQ(TextIn(state, "block_type"), "PERMANENT");
  EXPECT_EQ(TextIn(state, "intervention_state"), "BLOCKED");
  EXPECT_FALSE(state.Contains("ttl"));
  EXPECT_FALSE(state.Contains("block_duration"));
}

// The example of the seed overwrites one with the other.
// Spec: 003-04
TEST(CountsTest, CountsErrorsOfSmsAndAppSeparately) {
  Stage stage;
  stage.Fail(kMfaCode, 2, "SMS");
  stage.Fail(kMfaCode, 1, "AUTH_APP");
  EXPECT_EQ(stage.CountOf(ErrorsOf("SIGN_IN", "MFA_CODE_ENTRY", "SMS")), 2u);
  EXPECT_EQ(stage.CountOf(ErrorsOf("SIGN_IN", "MFA_CODE_ENTRY", "AUTH_APP")), 1u);
}

// A part that contains '#' would make the key of another row.
// Spec: 003-05
TEST(CountsTest, RefusesInvalidPartsOfAName) {
  Stage stage;
  const std::vector<Name> bad = {ErrorsOf("SIGN_IN#X", "PASSWORD_ENTRY"),
                                 ErrorsOf("", "PASSWORD_ENTRY"),
                                 ErrorsOf("SIGN_IN", ""),
                                 ErrorsOf("SIGN_IN", "PASSWORD#ENTRY"),
                                 ErrorsOf("SIGN_OUT", "PASSWORD_ENTRY"),
                                 ErrorsOf("SIGN_IN", "MFA_CODE_ENTRY", "a#b"),
                                 ErrorsOf("SIGN_IN", "NO_SUCH_THING"),
                                 {.journey = "SIGN_IN", .count = "LOCK"},
                                 {.journey = "SIGN_IN", .count = "ERRORS"}};
  for (const Name& name : bad) {
    const auto counted = stage.attempts.Increment({.subject = stage.person, .name = name});
    ASSERT_FALSE(counted.has_value()) << name.journey << " " << name.count;
    EXPECT_EQ(counted.error().code, ErrorCode::kInvalid);
    EXPECT_FALSE(stage.attempts.Get(stage.person, name).has_value());
  }
  EXPECT_FALSE(
      stage.attempts.Increment({.subject = stage.person, .name = kMfaCode, .method_type = "S#S"}));
  EXPECT_FALSE(stage.attempts.Increment(
      {.subject = stage.person, .name = kMfaCode, .notification_type = "a b"}));
}

// A key that parses is the same when it is made again.
TEST(CountsTest, RefusesASortKeyWithAnEmptyPart) {
  for (const char* key :
       {"A#B", "A#B#", "A#B#C#", "A@#B#C", "#B#C", "A#B#C#D#E", "A@x@y#B#C", ""}) {
    EXPECT_FALSE(ParseSortKey(key).has_value()) << key;
  }
  for (const char* key : {"A#B#C", "A#B#C#D", "A@x#B#C#D"}) {
    EXPECT_EQ(*SortKeyOf(*ParseSortKey(key)), key);
  }
}

// A person who registers has no subject id yet.
// Spec: 003-06
TEST(CountsTest, CountsUnderOtherIdentifiersWithoutASubjectId) {
  Stage stage;
  const Secret key("of the test");
  const Subject pairwise = *Subject::OfPairwise("rp-1234");
  const Subject email = *Subject::OfEmail("Ann@Example.COM", key);
  EXPECT_EQ(email, *Subject::OfEmail("ann@example.com", key));
  EXPECT_NE(email, *Subject::OfEmail("ann@example.com", Secret("another")));
  EXPECT_EQ(email.text().find("ann"), std::string::npos);
  EXPECT_NE(pairwise, SubjectOf("rp-1234"));
  for (const Subject& subject : {pairwise, email}) {
    EXPECT_EQ(*stage.attempts.Increment({.subject = subject, .name = kPassword}), 1u);
    EXPECT_TRUE(stage.Stored(subject, "SIGN_IN#ERROR_COUNT#PASSWORD_ENTRY").has_value());
  }
  EXPECT_FALSE(Subject::OfEmail("ann@example.com", Secret()).has_value());
  // An address in the place of an id is not taken for one.
  EXPECT_FALSE(Subject::Of("ann@example.com").has_value());
}

// Spec: 003-47
TEST(CountsTest, RefusesAMissingIdentifier) {
  for (const auto& subject : {Subject::Of(""), Subject::OfPairwise(""), Subject::OfSession(""),
                              Subject::OfEmail("", Secret("k")), Subject::Of("a~b"),
                              Subject::Of(std::string(257, 'a'))}) {
    ASSERT_FALSE(subject.has_value());
    EXPECT_EQ(subject.error().code, ErrorCode::kInvalid);
  }
  Stage stage;
  EXPECT_EQ(stage.attempts.DecideJourney({}, "SIGN_IN").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ReserveNow(stage.attempts, {.subject = stage.person, .name = kPassword}).error().code,
            ErrorCode::kInvalid);
}

// The code of the seed fails here, and sets no end.
// Spec: 003-07, 003-08
TEST(CountsTest, CreatesTheRowAtTheFirstIncrementAndThenAddsToIt) {
  Stage stage;
  EXPECT_EQ(stage.Add(kPassword), 1u);
  const item::Item row = *stage.Stored("SIGN_IN#ERROR_COUNT#PASSWORD_ENTRY");
  EXPECT_EQ(NumberIn(row, "count"), 1);
  EXPECT_EQ(NumberIn(row, "ttl"), kStart + 900);
  EXPECT_EQ(NumberIn(row, "last_updated"), kStart);
  stage.Pass(5);
  EXPECT_EQ(stage.Add(kPassword), 2u);
  EXPECT_EQ(stage.CountOf(kPassword), 2u);
  EXPECT_EQ(NumberIn(*stage.Stored("SIGN_IN#ERROR_COUNT#PASSWORD_ENTRY"), "last_updated"),
            kStart + 5);
}

// Five failures of yesterday and one of today are not six. In the second of its end a row is
// expired.
// Spec: 003-09, 003-10
TEST(CountsTest, TreatsAnExpiredRowAsAbsent) {
  for (const int64_t late : {0, 1, 100'000}) {
    Stage stage;
    for (int i = 0; i < 5; ++i) stage.Add(kPassword);
    stage.Pass(900 + late);
    EXPECT_EQ(stage.CountOf(kPassword), 0u);
    EXPECT_TRUE(stage.attempts.GetAll(stage.person)->empty());
    EXPECT_EQ(stage.Add(kPassword), 1u);
    EXPECT_EQ(NumberIn(*stage.Stored("SIGN_IN#ERROR_COUNT#PASSWORD_ENTRY"), "ttl"),
              kStart + 900 + late + 900);
  }
}

TEST(CountsTest, KeepsACountUntilTheLastSecond) {
  Stage stage;
  stage.Add(kPassword);
  stage.Pass(899);
  EXPECT_EQ(stage.CountOf(kPassword), 1u);
  EXPECT_EQ(stage.Add(kPassword), 2u);
}

// No increment is lost between two that read the same count.
// Spec: 003-11
TEST(CountsTest, LosesNoneOfAHundredIncrementsAtOnce) {
  Stage stage;
  testing::RunThreads(20, [&](int) {
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(stage.attempts.Increment({.subject = stage.person, .name = kPassword}));
    }
  });
  EXPECT_EQ(stage.CountOf(kPassword), 100u);
}

constexpr std::string_view kWindows = R"({
"journeys": ["SIGN_IN"], "counts": ["ERROR_COUNT"], "classifiers": ["A", "B"],
"rules": [{"journey": "SIGN_IN", "count": "ERROR_COUNT", "classifier": "A", "life": 100},
          {"journey": "SIGN_IN", "count": "ERROR_COUNT", "classifier": "B", "life": 100,
           "window": "sliding"}]})";

// Spec: 003-12
TEST(CountsTest, KeepsTheEndOfAFixedWindowAndMovesThatOfASlidingOne) {
  Stage stage(*Policy::Parse(kWindows));
  const Name fixed = ErrorsOf("SIGN_IN", "A");
  const Name sliding = ErrorsOf("SIGN_IN", "B");
  for (const Name& name : {fixed, sliding}) stage.Add(name);
  stage.Pass(60);
  for (const Name& name : {fixed, sliding}) EXPECT_EQ(stage.Add(name), 2u);
  EXPECT_EQ(NumberIn(*stage.Stored("SIGN_IN#ERROR_COUNT#A"), "ttl"), kStart + 100);
  EXPECT_EQ(NumberIn(*stage.Stored("SIGN_IN#ERROR_COUNT#B"), "ttl"), kStart + 160);
  stage.Pass(60);
  EXPECT_EQ(stage.CountOf(fixed), 0u);
  EXPECT_EQ(stage.CountOf(sliding), 2u);
}

// Spec: 003-13
TEST(CountsTest, KeepsKindsOfCountsSeparate) {
  const std::vector<Name> kinds = {kPassword,
                                   ErrorsOf("REAUTHENTICATION", "EMAIL_ENTRY"),
                                   kMfaCode,
                                   RequestsOf("SIGN_IN", "MFA_CODE"),
                                   ErrorsOf("ACCOUNT_CREATION", "EMAIL_CODE_ENTRY"),
                                   ErrorsOf("REAUTHENTICATION", "PASSWORD_ENTRY")};
  for (const Name& raised : kinds) {
    Stage stage;
    stage.Add(raised);
    for (const Name& name : kinds) EXPECT_EQ(stage.CountOf(name), name == raised ? 1u : 0u);
  }
}

// Spec: 003-14
TEST(CountsTest, KeepsJourneysSeparate) {
  const std::vector<std::string> journeys = {"SIGN_IN",          "REAUTHENTICATION",
                                             "ACCOUNT_CREATION", "PASSWORD_RESET",
                                             "ACCOUNT_RECOVERY", "PASSWORD_RESET_MFA"};
  for (const std::string& raised : journeys) {
    Stage stage;
    stage.Add(ErrorsOf(raised, "MFA_CODE_ENTRY"));
    for (const std::string& journey : journeys) {
      EXPECT_EQ(stage.CountOf(ErrorsOf(journey, "MFA_CODE_ENTRY")), journey == raised ? 1u : 0u);
    }
  }
}

// The text of the seed uses other names than its table.
TEST(CountsTest, ResolvesAliasesOfAJourney) {
  Stage stage;
  stage.Add(ErrorsOf("LOGIN", "MFA_CODE_ENTRY"));
  EXPECT_EQ(stage.CountOf(kMfaCode), 1u);
  stage.Add(ErrorsOf("REGISTRATION", "MFA_CODE_ENTRY"));
  EXPECT_EQ(stage.CountOf(ErrorsOf("ACCOUNT_CREATION", "MFA_CODE_ENTRY")), 1u);
}

// Spec: 003-15
TEST(CountsTest, ReadsAllCountsWithOneQuery) {
  Stage stage;
  stage.Fail(kPassword, 3);
  stage.Fail(kMfaCode, 2);
  stage.Add(RequestsOf("PASSWORD_RESET", "EMAIL_CODE"));
  ASSERT_TRUE(stage.attempts.Reset(stage.person, RequestsOf("PASSWORD_RESET", "EMAIL_CODE")));
  stage.Store({{"sk", "SIGN_IN#ERROR_COUNT#CODE_ENTRY"}, {"count", Int(4)}, {"ttl", Int(kStart)}});
  stage.Store(
      {{"sk", "SIGN_IN#ERROR_COUNT#EMAIL_ENTRY"}, {"count", Int(0)}, {"ttl", Int(kStart + 9)}});
  int calls = 0;
  stage.tables.decide = [&](testing::Operation) {
    ++calls;
    return std::nullopt;
  };
  const auto all = *stage.attempts.GetAll(stage.person);
  EXPECT_EQ(calls, 1);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], (Count{.name = kMfaCode, .count = 2, .until = kStart + 900}));
  EXPECT_EQ(all[1], (Count{.name = kPassword, .count = 3, .until = kStart + 900}));
}

// The number of rows is not the sum of their counts.
// Spec: 003-16
TEST(CountsTest, SumsAllMethodsOfACount) {
  Stage stage;
  const Name a = ErrorsOf("LOGIN", "MFA_CODE_ENTRY", "EF444945-A8A9-4CBD-8E71-552C735E78A0");
  const Name b = ErrorsOf("LOGIN", "MFA_CODE_ENTRY", "72CB4E28-CD8D-48A0-9899-02601480CE10");
  stage.Fail(a, 3);
  stage.Fail(b, 2);
  EXPECT_EQ(*stage.attempts.Sum(stage.person, kMfaCode), 5u);
  EXPECT_EQ(stage.CountOf(a), 3u);
  EXPECT_EQ(stage.CountOf(b), 2u);
}

constexpr std::string_view kAlike = R"({
"journeys": ["SIGN_IN"], "counts": ["ERROR", "ERRORS"],
"classifiers": ["MFA", "MFA_APP", "MFA-2", "MFAS"], "rules": []})";

// Spec: 003-17
TEST(CountsTest, DoesNotSumNamesThatOnlyShareAPrefix) {
  Stage stage(*Policy::Parse(kAlike));
  const auto name = [](const char* count, const char* classifier, const char* method = "") {
    return Name{.journey = "SIGN_IN", .count = count, .classifier = classifier, .method = method};
  };
  stage.Add(name("ERROR", "MFA"));
  stage.Add(name("ERROR", "MFA", "a"));
  for (const Name& other : {name("ERRORS", "MFA"), name("ERROR", "MFA_APP"), name("ERROR", "MFA-2"),
                            name("ERROR", "MFAS", "a"), name("ERRORS", "MFA", "a")}) {
    stage.Add(other);
  }
  EXPECT_EQ(*stage.attempts.Sum(stage.person, name("ERROR", "MFA")), 2u);
}

// Spec: 003-19
TEST(CountsTest, ResetsOneCountOrAllCountsOfOneUser) {
  Stage stage;
  const Subject other = SubjectOf("subject-b");
  stage.Fail(kPassword, 2);
  stage.Fail(kMfaCode, 2);
  ASSERT_TRUE(stage.attempts.Increment({.subject = other, .name = kPassword}));
  ASSERT_TRUE(stage.attempts.Reset(stage.person, kPassword));
  EXPECT_EQ(stage.CountOf(kPassword), 0u);
  EXPECT_EQ(stage.CountOf(kMfaCode), 2u);
  stage.Fail(kPassword);
  ASSERT_TRUE(stage.attempts.ResetAll(stage.person));
  EXPECT_TRUE(stage.attempts.GetAll(stage.person)->empty());
  EXPECT_EQ(*stage.attempts.Get(other, kPassword), 1u);
}

// More rows than one transaction may have.
TEST(CountsTest, ResetsMoreCountsThanOneTransactionCanHold) {
  Stage stage;
  for (int i = 0; i < 150; ++i) {
    stage.Add(ErrorsOf("SIGN_IN", "MFA_CODE_ENTRY", std::to_string(i)));
  }
  ASSERT_TRUE(stage.attempts.ResetAll(stage.person));
  EXPECT_TRUE(stage.attempts.GetAll(stage.person)->empty());
}

// A reset forgets failures, but not open attempts: these may still fail.
TEST(CountsTest, KeepsOpenAttemptsAtAReset) {
  Stage stage;
  stage.Fail(kPassword, 2);
  stage.Reserve({.subject = stage.person, .name = kPassword, .attempt_id = "a"});
  ASSERT_TRUE(stage.attempts.ResetAll(stage.person));
  stage.Settle({.subject = stage.person, .name = kPassword, .attempt_id = "a"});
  EXPECT_EQ(stage.CountOf(kPassword), 1u);
}

// A caller that repeats a call must not be locked out by it.
// Spec: 003-21
TEST(CountsTest, CountsTheSameAttemptOnce) {
  Stage stage;
  const IncrementRequest first{.subject = stage.person, .name = kPassword, .attempt_id = "a"};
  IncrementRequest second = first;
  second.attempt_id = "b";
  EXPECT_EQ(*stage.attempts.Increment(first), 1u);
  EXPECT_EQ(*stage.attempts.Increment(second), 2u);
  EXPECT_EQ(*stage.attempts.Increment(first), 1u);
  EXPECT_EQ(stage.CountOf(kPassword), 2u);
}

// Spec: 003-21
TEST(CountsTest, CountsAnIncrementOnceWhenItsReplyIsLost) {
  Stage stage;
  int writes = 0;
  stage.tables.decide = [&](testing::Operation operation) -> std::optional<testing::Fault> {
    if (!testing::Writes(operation) || ++writes > 1) return std::nullopt;
    return testing::LostReply();
  };
  EXPECT_EQ(stage.Add(kPassword), 1u);
  EXPECT_EQ(stage.CountOf(kPassword), 1u);
}

// Spec: 003-22
TEST(CountsTest, RefusesAnInvalidLife) {
  Stage stage;
  for (const auto life : {0s, -1s, std::chrono::seconds(1'000'000'000)}) {
    const auto counted =
        stage.attempts.Increment({.subject = stage.person, .name = kPassword, .life = life});
    ASSERT_FALSE(counted.has_value());
    EXPECT_EQ(counted.error().code, ErrorCode::kInvalid);
  }
  EXPECT_EQ(stage.CountOf(kPassword), 0u);
  for (const char* life : {"0", "-5", "\"soon\"", "1.5", "null"}) {
    const std::string text = R"({"journeys": ["A"], "counts": ["B"], "classifiers": ["C"],
        "rules": [{"journey": "A", "count": "B", "classifier": "C", "life": )" +
                             std::string(life) + "}]}";
    const auto policy = Policy::Parse(text);
    ASSERT_FALSE(policy.has_value()) << life;
    EXPECT_THAT(policy.error().message, HasSubstr("policy.rules[0].life"));
  }
}

// Spec: 003-44
TEST(CountsTest, KeepsCountsOfASessionSeparate) {
  Stage stage;
  const Subject session = *Subject::OfSession("0123-4567");
  const std::vector<Name> names = {{.journey = "SESSION", .count = "RETRY_COUNT"},
                                   {.journey = "SESSION", .count = "PASSWORD_RESET_COUNT"},
                                   RequestsOf("SESSION", "EMAIL_CODE"),
                                   RequestsOf("SESSION", "MFA_CODE")};
  for (size_t raised = 0; raised < names.size(); ++raised) {
    ASSERT_EQ(*stage.attempts.Increment({.subject = session, .name = names[raised]}), 1u);
    for (size_t i = 0; i < names.size(); ++i) {
      EXPECT_EQ(*stage.attempts.Get(session, names[i]), i <= raised ? 1u : 0u);
    }
  }
  const Subject next = *Subject::OfSession("0123-9999");
  EXPECT_TRUE(stage.attempts.GetAll(next)->empty());
  stage.Pass(3600);
  EXPECT_TRUE(stage.attempts.GetAll(session)->empty());
  // No line has the id of a session, because a person who knows the id can use the session.
  ASSERT_TRUE(stage.attempts.Increment({.subject = session, .name = names[0]}));
  ASSERT_TRUE(stage.attempts.ResetAll(session));
  EXPECT_TRUE(stage.attempts.GetAll(session)->empty());
  EXPECT_EQ(stage.Logged().find("0123-4567"), std::string::npos);
}

// An index or an eventually consistent read may miss the last write.
// Spec: 003-45
TEST(CountsTest, ReadsItsOwnWrites) {
  Stage stage;
  class Strong final : public testing::ForwardingTables {
   public:
    using ForwardingTables::ForwardingTables;
    Result<tables::Page> Query(const tables::QueryRequest& request) override {
      EXPECT_TRUE(request.consistent);
      EXPECT_FALSE(request.index.has_value());
      return ForwardingTables::Query(request);
    }
  } strong(&stage.model);
  AccountTable table(kDefaultTable, &strong);
  OwnRuntime own(&stage.clock, &stage.random);
  Attempts attempts(Policy::Default(), &table, own.runtime());
  for (uint64_t i = 1; i < 6; ++i) {
    EXPECT_EQ(*attempts.Increment({.subject = stage.person, .name = kPassword}), i);
    EXPECT_EQ(*attempts.Get(stage.person, kPassword), i);
  }
  ASSERT_TRUE(attempts.SetLock(stage.person, {.name = kPasswordLock}, 900s));
  EXPECT_EQ(attempts.Locks(stage.person)->size(), 1u);
  EXPECT_EQ(attempts.Decide({.subject = stage.person, .name = kPassword})->verdict,
            Verdict::kTemporarilyLocked);
  EXPECT_TRUE(attempts.DecideJourney({stage.person}, "REAUTHENTICATION").has_value());
}

// A newer or older program may have written rows that we cannot read.
// Spec: 003-48
TEST(CountsTest, IgnoresUnreadableRowsWithAWarning) {
  Stage stage;
  stage.Fail(kPassword, 2);
  const auto later = Int(kStart + 900);
  stage.Store({{"sk", "SIGN_IN#ERROR_COUNT#MFA_CODE_ENTRY"}, {"ttl", later}});
  stage.Store({{"sk", "SIGN_IN#ERROR_COUNT#CODE_ENTRY"}, {"ttl", later}, {"count", "three"}});
  stage.Store({{"sk", "SIGN_IN#ERROR_COUNT#EMAIL_ENTRY"}, {"ttl", later}, {"count", Int(-3)}});
  stage.Store({{"sk", "SIGN_IN#NEW_COUNT#GENERAL"}, {"ttl", later}, {"count", Int(3)}});
  stage.Store({{"sk", "FLYING#ERROR_COUNT#GENERAL"}, {"ttl", later}, {"count", Int(3)}});
  stage.Store({{"sk", "what is this"}, {"count", Int(3)}});
  const auto all = *stage.attempts.GetAll(stage.person);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].count, 2u);
  for (const char* named : {"MFA_CODE_ENTRY", "SIGN_IN#ERROR_COUNT#CODE_ENTRY", "EMAIL_ENTRY",
                            "NEW_COUNT", "FLYING", "what is this"}) {
    EXPECT_THAT(stage.Logged(), HasSubstr(named));
  }
  EXPECT_THAT(stage.Logged(), HasSubstr("warning"));
  EXPECT_EQ(stage.Fail(kPassword).count, 3u);
}

// Spec: 003-49
TEST(CountsTest, AcceptsNewNamesFromAPolicyFile) {
  Stage stage(*Policy::Parse(R"({
    "journeys": ["PASSKEY_SETUP"], "counts": ["REFUSAL_COUNT"], "classifiers": ["PASSKEY_ENTRY"],
    "rules": [{"journey": "PASSKEY_SETUP", "count": "REFUSAL_COUNT",
               "classifier": "PASSKEY_ENTRY", "limit": 2, "life": 60}]})"));
  const Name name{
      .journey = "PASSKEY_SETUP", .count = "REFUSAL_COUNT", .classifier = "PASSKEY_ENTRY"};
  stage.Reserve({.subject = stage.person,
                 .name = name,
                 .attempt_id = "a",
                 .notification_type = "PASSKEY_PUSH",
                 .method_type = "PASSKEY"});
  stage.Settle({.subject = stage.person, .name = name, .attempt_id = "a"});
  EXPECT_EQ(stage.Fail(name, 1, "PASSKEY").verdict, Verdict::kTemporarilyLocked);
  EXPECT_TRUE(stage.Stored("PASSKEY_SETUP#LOCK#PASSKEY_ENTRY#PASSKEY").has_value());
}

}  // namespace
}  // namespace tidemark::attempts
