// Attempts over HTTP: each route, the answers when the store fails, and that addresses are neither
// stored nor logged.
#include <atomic>
#include <cctype>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "item/json.h"
#include "tests/front_door/front_door.h"

namespace tidemark::testing {
namespace {

using http::Method;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAddress = "Ann.Berth@example.com";
// A part of the address that would be visible in any encoding.
constexpr const char* kAddressPart = "berth";

class AttemptsApiTest : public ::testing::Test {
 protected:
  explicit AttemptsApiTest(const FrontDoor::Adjust& adjust = FrontDoor::WithAttempts)
      : door_(adjust) {}

  static std::string Of(const std::string& subject, const std::string& rest) {
    return "/api/v1/subjects/" + subject + rest;
  }
  http::Response Post(const std::string& path, const std::string& body) {
    return door_.Call(Method::kPost, path, body);
  }
  std::string Get(const std::string& path) { return door_.Call(Method::kGet, path).body; }
  int Delete(const std::string& path) { return door_.Call(Method::kDelete, path).status; }

  // A password of the subject; `more` are further members.
  static std::string Password(const std::string& attempt_id, const std::string& more = "") {
    return fmt::format(
        R"({{"journey":"SIGN_IN","count_type":"ERROR_COUNT","classifier":"PASSWORD_ENTRY",)"
        R"("attempt_id":"{}"{}}})",
        attempt_id, more);
  }
  http::Response Reserve(const std::string& attempt_id, const std::string& subject = "ann") {
    return Post(Of(subject, "/attempts/reserve"), Password(attempt_id));
  }
  http::Response Settle(const std::string& attempt_id, bool right,
                        const std::string& subject = "ann") {
    return Post(Of(subject, "/attempts/settle"),
                Password(attempt_id, right ? R"(,"right":true)" : R"(,"right":false)"));
  }
  void Fail(int times, const std::string& subject = "ann") {
    for (int i = 0; i < times; ++i) {
      const std::string id = fmt::format("wrong-{}", i);
      ASSERT_THAT(Reserve(id, subject).body, HasSubstr(R"("verdict":"permitted")"));
      ASSERT_EQ(Settle(id, false, subject).status, 200);
    }
  }
  // What the table of attempts holds, as text.
  std::string Stored() {
    std::string text;
    const auto page = door_.tables().Scan({.table = "authentication-attempts", .consistent = true});
    for (const item::Item& row : page.value().items) text += item::ToJson(row) + "\n";
    return text;
  }

  FrontDoor door_;
};

TEST_F(AttemptsApiTest, ASlotIsTakenAndGivenBack) {
  const http::Response slot = Reserve("a");
  EXPECT_EQ(slot.status, 200);
  EXPECT_THAT(slot.body, HasSubstr(R"({"verdict":"permitted","count":0,"remaining":)"));
  const http::Response settled = Settle("a", true);
  EXPECT_THAT(settled.body,
              HasSubstr(R"({"known":true,"right":true,"verdict":"permitted","count":0)"));
}

// Spec: 003-23, 003-24, 003-29
TEST_F(AttemptsApiTest, TheSixthFailureLocksAndTheAnswerSaysUntilWhen) {
  Fail(5);
  ASSERT_EQ(Reserve("last").status, 200);
  EXPECT_THAT(
      Settle("last", false).body,
      AllOf(HasSubstr(R"("verdict":"temporarily_locked")"), HasSubstr(R"("just_reached":true)"),
            HasSubstr(R"("classifier":"PASSWORD_RESET")"), HasSubstr(R"("kind":"STANDARD")"),
            HasSubstr(R"("until":)")));
  const http::Response refused = Reserve("right-this-time");
  EXPECT_EQ(refused.status, 200);
  EXPECT_THAT(refused.body, HasSubstr(R"("verdict":"temporarily_locked")"));
  EXPECT_THAT(Get(Of("ann", "/locks")), HasSubstr(R"("journey":"SIGN_IN")"));
}

// A caller that could invent types of methods would have six more guesses for each of them.
// Review: T12
TEST_F(AttemptsApiTest, AMethodTypeThatThePolicyDoesNotListIsRefused) {
  EXPECT_EQ(Post(Of("ann", "/attempts/reserve"), Password("a", R"(,"method_type":"SMS")")).status,
            200);
  for (const std::string call : {"reserve", "settle", "spend", "decide"}) {
    const http::Response refused = Post(Of("ann", "/attempts/" + call),
                                        Password("b", R"(,"method_type":"SMS2","right":false)"));
    EXPECT_EQ(refused.status, 400) << call;
    if (call == "settle") {
      EXPECT_THAT(refused.body, HasSubstr("do not contain \\\"SMS2\\\"; they are AUTH_APP"));
    }
  }
  EXPECT_EQ(Post(Of("ann", "/counts/increment"),
                 R"({"journey":"SIGN_IN","count_type":"ERROR_COUNT","method_type":"SMS2"})")
                .status,
            400);
}

// A wrong password for each of many people reaches the limit of nobody.
// Review: T5
TEST_F(AttemptsApiTest, ASourceThatTriesManyPeopleIsLocked) {
  const std::string source = R"(,"source":"203.0.113.7")";
  for (int i = 0; i < 100; ++i) {
    const std::string victim = fmt::format("victim-{}", i);
    ASSERT_THAT(Post(Of(victim, "/attempts/reserve"), Password("a", source)).body,
                HasSubstr(R"("verdict":"permitted")"));
    ASSERT_EQ(Settle("a", false, victim).status, 200);
  }
  for (const std::string call : {"reserve", "decide"}) {
    EXPECT_THAT(Post(Of("ann", "/attempts/" + call), Password("a", source)).body,
                AllOf(HasSubstr(R"("verdict":"temporarily_locked")"),
                      HasSubstr(R"("journey":"SOURCE")"), HasSubstr(R"("just_reached":false)")));
  }
  EXPECT_THAT(Reserve("b").body, HasSubstr(R"("verdict":"permitted")"));
  EXPECT_THAT(Stored(), AllOf(HasSubstr("source~"), Not(HasSubstr("203.0.113"))));
  EXPECT_EQ(Post(Of("ann", "/attempts/reserve"), Password("c", R"(,"source":"")")).status, 400);
  EXPECT_EQ(Post(Of("ann", "/attempts/spend"), Password("c", source)).status, 400);
}

// Review: T11
TEST_F(AttemptsApiTest, APersonWithTwoIdsHasSixSlots) {
  const auto reserve = [&](const std::string& id, const std::string& also, int attempt) {
    return Post(Of(id, "/attempts/reserve"),
                fmt::format(R"({{"journey":"REAUTHENTICATION","count_type":"ERROR_COUNT",)"
                            R"("classifier":"PASSWORD_ENTRY","attempt_id":"{}","also":["{}"]}})",
                            attempt, also))
        .body;
  };
  for (int i = 0; i < 6; ++i) {
    const std::string body =
        i % 2 == 0 ? reserve("ann", "pairwise~p", i) : reserve("pairwise~p", "ann", i);
    EXPECT_THAT(body, HasSubstr(R"("verdict":"permitted")")) << i;
  }
  EXPECT_THAT(reserve("ann", "pairwise~p", 7), HasSubstr(R"("verdict":"busy")"));
  EXPECT_THAT(reserve("pairwise~p", "ann", 8), HasSubstr(R"("verdict":"busy")"));
}

// Zero is no length. A page that sends it must not get the policy's.
// Review: T16
TEST_F(AttemptsApiTest, ALockOfNoSecondsIsRefused) {
  ASSERT_EQ(Reserve("a").status, 200);
  const http::Response refused =
      Post(Of("ann", "/attempts/settle"), Password("a", R"(,"right":false,"lock_seconds":0)"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("between 1 and"));
}

// Review: T16
TEST_F(AttemptsApiTest, ShowsReasonsDevicesAndTheWayToTheCeiling) {
  ASSERT_EQ(Post(Of("ann", "/attempts/reserve"), Password("a", R"(,"device":"d")")).status, 200);
  ASSERT_EQ(
      Post(Of("ann", "/attempts/settle"), Password("a", R"(,"device":"d","right":true)")).status,
      200);
  Fail(2);
  ASSERT_EQ(Post(Of("ann", "/states"), R"({"state":"SUSPENDED","reason":"ticket 7"})").status, 200);
  EXPECT_THAT(
      Get(Of("ann", "")),
      AllOf(HasSubstr(R"("states":["SUSPENDED"])"),
            HasSubstr(R"("state_details":[{"state":"SUSPENDED","reason":"ticket 7","since":)"),
            HasSubstr(R"("succeeded_at":["PASSWORD_ENTRY"],"until":)"),
            HasSubstr(R"("failures_in_a_row":[{"classifier":"PASSWORD_ENTRY","failures":2}])"),
            HasSubstr(R"("ceiling":100)")));
}

TEST_F(AttemptsApiTest, DecidingTakesNoSlot) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(Post(Of("ann", "/attempts/decide"), Password("")).body,
                HasSubstr(R"("verdict":"permitted","count":0,"remaining":6)"));
  }
}

TEST_F(AttemptsApiTest, ASpentSlotIsNotGivenBack) {
  const auto spend = [&](int i) {
    return Post(Of("ann", "/attempts/spend"),
                fmt::format(R"({{"journey":"SIGN_IN","count_type":"CODE_REQUEST_COUNT",)"
                            R"("classifier":"MFA_CODE","attempt_id":"code-{}"}})",
                            i))
        .body;
  };
  for (int i = 0; i < 5; ++i) EXPECT_THAT(spend(i), HasSubstr(R"("verdict":"permitted")"));
  EXPECT_THAT(spend(5), HasSubstr(R"("verdict":"temporarily_locked")"));
}

TEST_F(AttemptsApiTest, CountsAreRaisedReadSummedAndReset) {
  const auto increment = [&](const std::string& method) {
    return Post(Of("ann", "/counts/increment"),
                fmt::format(R"({{"journey":"LOGIN","count_type":"ERROR_COUNT",)"
                            R"("classifier":"MFA_CODE_ENTRY","method":"{}"}})",
                            method))
        .body;
  };
  EXPECT_EQ(increment("sms-1"), R"({"count":1})");
  EXPECT_EQ(increment("sms-1"), R"({"count":2})");
  EXPECT_EQ(increment("app-1"), R"({"count":1})");
  const std::string count = Of("ann", "/counts/SIGN_IN/ERROR_COUNT/MFA_CODE_ENTRY");
  EXPECT_EQ(Get(count + "?method=sms-1"), R"({"count":2})");
  EXPECT_EQ(Get(count + "/sum"), R"({"sum":3})");
  EXPECT_THAT(Get(Of("ann", "/counts")), HasSubstr(R"("method":"app-1","count":1)"));
  EXPECT_EQ(Delete(count + "?method=sms-1"), 200);
  EXPECT_EQ(Get(count + "/sum"), R"({"sum":1})");
  EXPECT_EQ(Delete(Of("ann", "/counts")), 200);
  EXPECT_EQ(Get(Of("ann", "/counts")), R"({"counts":[]})");
}

TEST_F(AttemptsApiTest, AnIncrementWithAnIdCountsOnce) {
  const std::string body = Password("same");
  EXPECT_EQ(Post(Of("ann", "/counts/increment"), body).body, R"({"count":1})");
  EXPECT_EQ(Post(Of("ann", "/counts/increment"), body).body, R"({"count":1})");
}

TEST_F(AttemptsApiTest, ALockIsSetNeverMovedAndLifted) {
  const std::string locks = Of("ann", "/locks");
  const std::string first =
      Post(locks, R"({"journey":"SIGN_IN","classifier":"PASSWORD_RESET","reason":"help desk"})")
          .body;
  EXPECT_THAT(first, HasSubstr(R"("reason":"help desk")"));
  EXPECT_EQ(Post(locks, R"({"journey":"SIGN_IN","classifier":"PASSWORD_RESET","seconds":5})").body,
            first);
  EXPECT_THAT(Reserve("a").body, HasSubstr(R"("verdict":"temporarily_locked")"));
  EXPECT_EQ(Delete(locks + "/SIGN_IN/PASSWORD_RESET"), 200);
  EXPECT_THAT(Reserve("b").body, HasSubstr(R"("verdict":"permitted")"));
}

TEST_F(AttemptsApiTest, AStateBlocksUntilItIsCleared) {
  EXPECT_EQ(Post(Of("ann", "/states"), R"({"state":"SUSPENDED","reason":"fraud team"})").status,
            200);
  EXPECT_EQ(Get(Of("ann", "/states")), R"({"states":["SUSPENDED"]})");
  EXPECT_THAT(Reserve("a").body, HasSubstr(R"("verdict":"blocked","count":0,"state":"SUSPENDED")"));
  EXPECT_EQ(Delete(Of("ann", "/states/SUSPENDED")), 200);
  EXPECT_THAT(Reserve("b").body, HasSubstr(R"("verdict":"permitted")"));
}

TEST_F(AttemptsApiTest, TheCeilingIsShownAndLifted) {
  for (int i = 0; i < 100; ++i) {
    const std::string id = fmt::format("w{}", i);
    Reserve(id);
    Settle(id, false);
    if (i % 6 == 5) Delete(Of("ann", "/locks/SIGN_IN/PASSWORD_RESET"));
  }
  Delete(Of("ann", "/locks/SIGN_IN/PASSWORD_RESET"));
  EXPECT_THAT(Reserve("a").body, HasSubstr(R"("verdict":"indefinitely_locked")"));
  EXPECT_THAT(Get(Of("ann", "")), HasSubstr(R"("indefinitely_locked":["PASSWORD_ENTRY"])"));
  EXPECT_EQ(Delete(Of("ann", "/ceiling")), 200);
  EXPECT_THAT(Reserve("b").body, HasSubstr(R"("verdict":"permitted")"));
}

// For a person with two ids, the counts of both ids decide.
TEST_F(AttemptsApiTest, AJourneyIsDecidedForAllIdsOfAPerson) {
  for (int i = 0; i < 3; ++i) {
    for (const char* id : {"ann", "pairwise~p1"}) {
      Post(Of(id, "/counts/increment"),
           R"({"journey":"REAUTHENTICATION","count_type":"ERROR_COUNT",)"
           R"("classifier":"EMAIL_ENTRY"})");
    }
  }
  const std::string journey = Of("ann", "/journeys/REAUTHENTICATION");
  const std::string also = R"({"also":["pairwise~p1"]})";
  EXPECT_THAT(Post(journey + "/decide", "").body, HasSubstr(R"("verdict":"permitted")"));
  EXPECT_THAT(Post(journey + "/decide", also).body,
              AllOf(HasSubstr(R"("verdict":"temporarily_locked")"), HasSubstr(R"("blocking":[)")));
  EXPECT_EQ(Post(journey + "/clear", also).body, "{}");
  EXPECT_THAT(Post(journey + "/decide", also).body, HasSubstr(R"("verdict":"permitted")"));
}

// An unknown id is null, and a repeated id counts once.
// Spec: 003-20
TEST_F(AttemptsApiTest, NullsAndRepeatedIdsOfAPersonCountOnce) {
  for (int i = 0; i < 3; ++i) {
    Post(Of("ann", "/counts/increment"),
         R"({"journey":"REAUTHENTICATION","count_type":"ERROR_COUNT",)"
         R"("classifier":"EMAIL_ENTRY"})");
  }
  const std::string decide = Of("ann", "/journeys/REAUTHENTICATION/decide");
  const std::string alone = Post(decide, "").body;
  EXPECT_THAT(alone, HasSubstr(R"("verdict":"permitted","count":3)"));
  for (const char* also : {R"({"also":null})", R"({"also":[null]})", R"({"also":["ann","ann"]})",
                           R"({"also":[null,"ann",null,"ann"]})"}) {
    const http::Response decided = Post(decide, also);
    EXPECT_EQ(decided.status, 200) << also;
    EXPECT_EQ(decided.body, alone) << also;
  }
  EXPECT_EQ(Post(decide, R"({"also":[""]})").status, 400);
  EXPECT_EQ(Post(decide, R"({"also":[1]})").status, 400);
}

// As a web page does it: after the new password is stored, the lock is lifted and the counts are
// zero.
// Spec: 003-32
TEST_F(AttemptsApiTest, AFinishedPasswordResetLiftsTheLock) {
  Fail(6);
  EXPECT_THAT(Reserve("a").body, HasSubstr("temporarily_locked"));
  EXPECT_EQ(Post(Of("ann", "/journeys/PASSWORD_RESET/clear"), "").status, 200);
  EXPECT_THAT(Reserve("b").body, HasSubstr(R"("verdict":"permitted","count":0)"));
}

// Wrong passwords hold or lock other journeys too. They were wrong about the password that is gone.
TEST_F(AttemptsApiTest, AFinishedPasswordResetEndsWhatWrongPasswordsDidInOtherJourneys) {
  for (const std::string journey : {"REAUTHENTICATION", "ACCOUNT_MANAGEMENT"}) {
    const auto attempt = [&](const std::string& step, int number) {
      return Post(Of("ann", "/attempts/" + step),
                  fmt::format(R"({{"journey":"{}","count_type":"ERROR_COUNT","attempt_id":"{}",)"
                              R"("classifier":"PASSWORD_ENTRY"{}}})",
                              journey, number, step == "settle" ? R"(,"right":false)" : ""))
          .body;
    };
    for (int i = 0; i < 6; ++i) {
      EXPECT_THAT(attempt("reserve", i), HasSubstr(R"("verdict":"permitted")")) << journey;
      attempt("settle", i);
    }
    EXPECT_THAT(attempt("reserve", 7), HasSubstr("temporarily_locked")) << journey;
    EXPECT_EQ(Post(Of("ann", "/journeys/PASSWORD_RESET/clear"), "").status, 200);
    EXPECT_THAT(attempt("reserve", 8), HasSubstr(R"("verdict":"permitted","count":0)")) << journey;
  }
}

// Two pages name the same person under two ids, in turns.
TEST_F(AttemptsApiTest, APersonWithTwoIdsHasOneCeiling) {
  const auto attempt = [&](const std::string& step, const std::string& id, const std::string& also,
                           int number, const std::string& more = "") {
    return Post(Of(id, "/attempts/" + step),
                Password(std::to_string(number), fmt::format(R"(,"also":["{}"]{})", also, more)))
        .body;
  };
  int guesses = 0;
  std::string answer;
  for (int i = 0; i < 200; ++i) {
    const std::string id = i % 2 == 0 ? "ann" : "pairwise~p";
    const std::string also = i % 2 == 0 ? "pairwise~p" : "ann";
    answer = attempt("reserve", id, also, i);
    if (answer.find(R"("verdict":"temporarily_locked")") != std::string::npos) {
      // The guesser waits for each lock to end.
      for (const char* one : {"ann", "pairwise~p"}) {
        EXPECT_EQ(Delete(Of(one, "/locks/SIGN_IN/PASSWORD_RESET")), 200);
      }
      answer = attempt("reserve", id, also, i);
    }
    if (answer.find(R"("verdict":"permitted")") == std::string::npos) break;
    ++guesses;
    attempt("settle", id, also, i, R"(,"right":false)");
  }
  EXPECT_EQ(guesses, 100);
  EXPECT_THAT(answer, HasSubstr(R"("verdict":"indefinitely_locked","count":100)"));
}

// The write of the subject is stored and its reply is lost. The slot of the source must be given
// back all the same: if not, it counts as a failure of everybody in that network after a minute.
TEST_F(AttemptsApiTest, ASettleWithALostReplyEndsTheSlotOfItsSource) {
  ASSERT_EQ(
      Post(Of("ann", "/attempts/reserve"), Password("a", R"(,"source":"203.0.113.7")")).status,
      200);
  ASSERT_THAT(Stored(), HasSubstr(R"("open")"));
  door_.faults().decide = [met = false](Operation operation) mutable -> std::optional<Fault> {
    if (!Writes(operation) || std::exchange(met, true)) return std::nullopt;
    return LostReply();
  };
  EXPECT_THAT(Settle("a", true).body, HasSubstr(R"({"known":true,"right":true)"));
  door_.faults().decide = nullptr;
  EXPECT_THAT(Stored(), Not(HasSubstr(R"("open")")));
}

// A server with the previous key runs beside one with the new key, so both ids have failures.
class RotatedKeyTest : public AttemptsApiTest {
 protected:
  RotatedKeyTest()
      : AttemptsApiTest([](api::ServiceOptions* options) {
          FrontDoor::WithAttempts(options);
          options->attempts->previous_email_key = Secret("the key before");
        }) {}
};

TEST_F(RotatedKeyTest, TheStricterOfTwoCountsHolds) {
  const std::string before = attempts::Subject::OfEmail(kAddress, Secret("the key before"))->text();
  const std::string after =
      attempts::Subject::OfEmail(kAddress, Secret("the key of the tests"))->text();
  Fail(5, before);
  Fail(2, after);
  const auto identify = [&] {
    EXPECT_THAT(
        Post("/api/v1/subjects/identify", fmt::format(R"({{"email":"{}"}})", kAddress)).body,
        HasSubstr(after));
  };
  const std::string count = Of(after, "/counts/SIGN_IN/ERROR_COUNT/PASSWORD_ENTRY");
  for (int i = 0; i < 2; ++i) {
    identify();
    EXPECT_EQ(Get(count), R"({"count":5})");
  }
  EXPECT_EQ(Delete(count), 200);
  identify();
  EXPECT_EQ(Get(count), R"({"count":0})") << "what was cleared does not come back";
}

TEST_F(AttemptsApiTest, AnAddressIsPendingAllowedOrDenied) {
  const std::string id = "email~" + std::string(64, 'a');
  EXPECT_EQ(Get(Of(id, "/email-fraud")), R"({"state":"PENDING"})");
  EXPECT_EQ(Post(Of(id, "/email-fraud"), R"({"state":"DENY","life_seconds":900})").status, 200);
  EXPECT_EQ(Get(Of(id, "/email-fraud")), R"({"state":"DENY"})");
  EXPECT_EQ(Post(Of(id, "/email-fraud"), R"({"state":"ALLOW"})").status, 200);
  EXPECT_EQ(Get(Of(id, "/email-fraud")), R"({"state":"ALLOW"})");
}

TEST_F(AttemptsApiTest, ShowsAllThatIsKnown) {
  Fail(2);
  Post(Of("ann", "/states"), R"({"state":"REPROVE_IDENTITY"})");
  EXPECT_THAT(Get(Of("ann", "")),
              AllOf(HasSubstr(R"({"id":"ann","counts":[{"journey":"SIGN_IN")"),
                    HasSubstr(R"("count":2)"), HasSubstr(R"("states":["REPROVE_IDENTITY"])")));
  // The answer for an unknown person is the same as for a person without failures.
  EXPECT_EQ(Get(Of("nobody", "")),
            R"({"id":"nobody","counts":[],"locks":[],"states":[],"indefinitely_locked":[],)"
            R"("email_fraud":"PENDING","state_details":[],"devices":[],"failures_in_a_row":[],)"
            R"("ceiling":100})");
}

// An address appears in no key, no row and no log line.
TEST_F(AttemptsApiTest, AnAddressIsNeitherStoredNorLogged) {
  const auto identify = [&](const std::string& address) {
    return Post("/api/v1/subjects/identify", R"({"email":")" + address + R"("})").body;
  };
  const std::string reply = identify(kAddress);
  ASSERT_THAT(reply, HasSubstr(R"({"id":"email~)"));
  EXPECT_EQ(identify("ann.berth@EXAMPLE.com"), reply);
  const std::string id = reply.substr(7, reply.size() - 9);
  Fail(6, id);
  // An address in the path, in any encoding, is refused and not logged.
  for (const char* mistake :
       {"Ann.Berth@example.com", "Ann.Berth%40example.com", "session~berth", "/Ann.Berth@x"}) {
    Reserve("a", mistake);
  }
  Get("//api/v1/subjects/session~berth/counts");
  Get("/api/v1/%73ubjects/session~berth/counts");
  EXPECT_EQ(Reserve("a", "Ann.Berth%40example.com").status, 400);
  EXPECT_THAT(Stored(), AllOf(HasSubstr(id), Not(HasSubstr("example.com"))));
  std::string log = door_.log();
  for (char& c : log) c = static_cast<char>(std::tolower(c));
  EXPECT_THAT(log, AllOf(HasSubstr("/api/v1/subjects/{id}/attempts/reserve"),
                         HasSubstr("/api/v1/subjects/identify"), Not(HasSubstr(kAddressPart))));
}

// The response time must not reveal who has an account, so the store does the same work for
// everybody.
TEST_F(AttemptsApiTest, AnUnknownPersonCostsTheSameWork) {
  Fail(1, "known");
  std::mutex mutex;
  std::vector<Operation> operations;
  door_.faults().decide = [&](Operation operation) -> std::optional<Fault> {
    const std::lock_guard lock(mutex);
    operations.push_back(operation);
    return std::nullopt;
  };
  const auto work_of = [&](const std::string& subject) {
    Reserve("next", subject);
    Settle("next", false, subject);
    const std::lock_guard lock(mutex);
    return std::exchange(operations, {});
  };
  const std::vector<Operation> known = work_of("known");
  EXPECT_FALSE(known.empty());
  EXPECT_EQ(work_of("email~" + std::string(64, 'b')), known);
  door_.faults().decide = nullptr;
}

// When the store fails, nothing is permitted: an attacker who makes the store fail must not get an
// attempt.
// Spec: 003-46
TEST_F(AttemptsApiTest, NothingIsPermittedWithoutADecision) {
  Fail(6);
  for (const ErrorCode code : {ErrorCode::kInvalid, ErrorCode::kNotFound, ErrorCode::kInUse,
                               ErrorCode::kConflict, ErrorCode::kUnavailable, ErrorCode::kUnknown,
                               ErrorCode::kDenied, ErrorCode::kCorrupt, ErrorCode::kInternal}) {
    door_.faults().decide = [&](Operation) { return Fault{{code, "for the test"}}; };
    for (const http::Response& response :
         {Reserve("a"), Settle("a", true), Post(Of("ann", "/attempts/spend"), Password("a")),
          Post(Of("ann", "/attempts/decide"), Password("a")),
          Post(Of("ann", "/journeys/REAUTHENTICATION/decide"), "")}) {
      EXPECT_TRUE(response.status == 500 || response.status == 503)
          << ToString(code) << ": " << response.status;
      EXPECT_THAT(response.body, AllOf(HasSubstr(R"("title":)"), Not(HasSubstr("verdict"))));
    }
  }
  door_.faults().decide = nullptr;
  EXPECT_THAT(Reserve("a").body, HasSubstr("temporarily_locked"));
}

// Without a complete identifier in the path there is no decision.
// Spec: 003-47
TEST_F(AttemptsApiTest, WithoutAnIdentifierNothingIsDecided) {
  for (const char* nobody : {"", "%20", "pairwise~", "session~", "email~"}) {
    for (const char* how : {"reserve", "spend", "decide"}) {
      const http::Response refused =
          Post(Of(nobody, fmt::format("/attempts/{}", how)), Password("a"));
      EXPECT_EQ(refused.status, 400) << nobody << " " << how;
      EXPECT_THAT(refused.body, Not(HasSubstr("verdict")));
    }
    EXPECT_EQ(Settle("a", true, nobody).status, 400) << nobody;
    EXPECT_EQ(Post(Of(nobody, "/journeys/REAUTHENTICATION/decide"), "").status, 400) << nobody;
  }
  EXPECT_EQ(Stored(), "");
}

TEST_F(AttemptsApiTest, SaysWhatIsWrongWithARequest) {
  const auto status = [&](const std::string& path, const std::string& body) {
    return Post(path, body).status;
  };
  EXPECT_EQ(status(Of("email~ann", "/attempts/reserve"), Password("a")), 400);
  EXPECT_EQ(status(Of("ann", "/attempts/reserve"), Password("")), 400);
  EXPECT_THAT(Post(Of("ann", "/attempts/reserve"), R"({"attempt_id":"a"})").body,
              HasSubstr("'journey' is missing"));
  EXPECT_THAT(Post(Of("ann", "/attempts/settle"), Password("a")).body,
              HasSubstr("'right' is missing"));
  EXPECT_THAT(Post(Of("ann", "/attempts/reserve"),
                   R"({"journey":"NOWHERE","count_type":"ERROR_COUNT","attempt_id":"a"})")
                  .body,
              HasSubstr("NOWHERE"));
  EXPECT_THAT(Post(Of("ann", "/states"), R"({"state":"SAD"})").body,
              HasSubstr("BLOCKED, SUSPENDED, RESET_PASSWORD, REPROVE_IDENTITY"));
  EXPECT_EQ(status(Of("ann", "/locks"), R"({"journey":"SIGN_IN","seconds":0})"), 400);
  EXPECT_EQ(
      door_.Call(Method::kGet, Of("ann", "/counts/SIGN_IN/ERROR_COUNT/GENERAL?metod=x")).status,
      400);
}

class WithoutEmailKeyTest : public AttemptsApiTest {
 protected:
  WithoutEmailKeyTest()
      : AttemptsApiTest([](api::ServiceOptions* options) { options->attempts.emplace(); }) {}
};

TEST_F(WithoutEmailKeyTest, AnAddressIsRefusedAndTheSettingNamed) {
  const http::Response refused =
      Post("/api/v1/subjects/identify", R"({"email":"ann@example.com"})");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("attempts.email-key is not set"));
}

// There are so few addresses that a hash without a secret hides none of them.
TEST_F(WithoutEmailKeyTest, ASourceIsRefusedAndTheSettingNamed) {
  for (const std::string call : {"reserve", "decide"}) {
    const http::Response refused =
        Post(Of("ann", "/attempts/" + call), Password("a", R"(,"source":"203.0.113.7")"));
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(refused.body, HasSubstr("attempts.email-key is not set"));
  }
  EXPECT_THAT(Stored(), Not(HasSubstr("source~")));
}

// Of many concurrent guesses only as many are verified as the limit allows.
// Spec: 003-31
TEST_F(AttemptsApiTest, OfFiftyGuessesAtOnceSixAreVerified) {
  std::atomic<int> verified = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 50; ++i) {
    threads.emplace_back([&, i] {
      const std::string id = fmt::format("guess-{}", i);
      if (Reserve(id).body.find(R"("verdict":"permitted")") == std::string::npos) return;
      ++verified;
      Settle(id, false);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(verified, 6);
  EXPECT_EQ(door_.CounterOf("tidemark_attempts_locks_total"), 1);
}

}  // namespace
}  // namespace tidemark::testing
