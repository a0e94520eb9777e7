#include "slack/web_api.h"

#include <deque>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/manual_time.h"
#include "tests/support/test_runtime.h"

namespace tidemark::slack {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

http::Exchange Answered(std::string body, int status = 200, http::Headers headers = {}) {
  return {.outcome = http::Outcome::kAnswered,
          .response = {.status = status, .headers = std::move(headers), .body = std::move(body)}};
}

http::Exchange Failed(http::Outcome outcome) { return {.outcome = outcome, .detail = "no"}; }

http::Exchange Limited(std::string retry_after = "") {
  http::Headers headers;
  if (!retry_after.empty()) headers.Add("Retry-After", std::move(retry_after));
  return Answered("", 429, std::move(headers));
}

const char* const kTeam = R"({"ok":true,"team":{"id":"T01234567","name":"n"}})";
const char* const kUser = R"({"ok":true,"user":{"id":"U01234567","deleted":false}})";
const char* const kChannel = R"({"ok":true,"channel":{"id":"C01234567","is_archived":false}})";

// A scripted Slack: each method has a list of answers, and the last one is repeated.
class ScriptedClient final : public http::Client {
 public:
  explicit ScriptedClient(ManualClock* clock) : clock_(*clock) {}

  std::vector<http::Exchange> SendAll(std::span<const http::OutgoingRequest> requests,
                                      const Deadline& deadline) override {
    batches.push_back(requests.size());
    std::vector<http::Exchange> exchanges;
    milliseconds longest{0};
    for (const http::OutgoingRequest& request : requests) {
      sent.push_back(request);
      exchanges.push_back(Next(request.url));
      if (exchanges.back().outcome == http::Outcome::kTimedOut) {
        const auto left = std::chrono::duration_cast<milliseconds>(deadline.Remaining());
        longest = std::max(longest, std::min(request.timeout, left));
      }
    }
    clock_.Advance(longest);
    return exchanges;
  }

  // How often a method was called.
  size_t CallsOf(std::string_view method) const {
    return static_cast<size_t>(std::count_if(sent.begin(), sent.end(), [&](const auto& request) {
      return request.url.find(method) != std::string::npos;
    }));
  }

  std::map<std::string, std::deque<http::Exchange>> scripts;  // By method.
  std::vector<http::OutgoingRequest> sent;
  std::vector<size_t> batches;  // How many went out together, each time.

 private:
  http::Exchange Next(const std::string& url) {
    const size_t begin = url.rfind('/') + 1;
    std::deque<http::Exchange>& script = scripts[url.substr(begin, url.find('?') - begin)];
    http::Exchange exchange = script.empty() ? Answered("{}", 500) : script.front();
    if (script.size() > 1) script.pop_front();
    return exchange;
  }

  ManualClock& clock_;
};

struct WebApiTest : ::testing::Test {
  WebApiTest() {
    client.scripts = {{"team.info", {Answered(kTeam)}},
                      {"users.info", {Answered(kUser)}},
                      {"conversations.info", {Answered(kChannel)}}};
  }

  std::vector<LookupReply> LookUp(std::vector<Lookup> lookups, milliseconds length = seconds(60)) {
    return api.LookUp(token, lookups, Deadline::After(clock, length));
  }
  // One user, whose answers are these.
  LookupReply LookUpUser(std::deque<http::Exchange> script, milliseconds length = seconds(60)) {
    client.scripts["users.info"] = std::move(script);
    return LookUp({kUserLookup}, length).front();
  }

  const Lookup kTeamLookup{EntityKind::kTeam, "T01234567"};
  const Lookup kUserLookup{EntityKind::kUser, "U01234567"};
  const Lookup kChannelLookup{EntityKind::kChannel, "C01234567"};

  const Secret token{std::string("xoxb-test-token")};
  tidemark::testing::TestRuntime test;
  ManualClock& clock = test.clock;
  ManualSleeper& sleeper = test.sleeper;
  ScriptedClient client{&clock};
  Metrics& metrics = test.metrics;
  WebApi api{{.url = "http://slack.test/api"}, &client, test.runtime()};
};

// Three round trips one after the other would not fit into Slack's three seconds.
// Spec: 000-26
TEST_F(WebApiTest, LooksUpEachIdOnceAndAllAtTheSameTime) {
  const auto replies = LookUp({kTeamLookup, kUserLookup, kChannelLookup});
  ASSERT_THAT(replies, SizeIs(3));
  for (const LookupReply& reply : replies) {
    EXPECT_EQ(reply.outcome, LookupOutcome::kActive) << reply.error;
    EXPECT_EQ(reply.error, "");
    EXPECT_EQ(reply.attempts, 1u);
  }
  EXPECT_THAT(client.batches, ElementsAre(3));
  ASSERT_THAT(client.sent, SizeIs(3));
  EXPECT_EQ(client.sent[0].url, "http://slack.test/api/team.info?team=T01234567");
  EXPECT_EQ(client.sent[1].url, "http://slack.test/api/users.info?user=U01234567");
  EXPECT_EQ(client.sent[2].url, "http://slack.test/api/conversations.info?channel=C01234567");
  EXPECT_THAT(LookUp({}), IsEmpty());
}

// The token is only in the header and not in the URL, because URLs are logged.
TEST_F(WebApiTest, SendsTheTokenInTheHeaderOnly) {
  LookUp({kUserLookup});
  EXPECT_EQ(client.sent[0].headers.Find("Authorization"), "Bearer xoxb-test-token");
  EXPECT_THAT(client.sent[0].url, Not(HasSubstr("xoxb")));
  EXPECT_EQ(client.sent[0].body, "");
  EXPECT_EQ(client.sent[0].method, http::Method::kGet);
  EXPECT_EQ(client.sent[0].max_retries, 0u) << "retries are decided here alone";
}

// Ids are checked before. If one were not, it must still be one parameter.
TEST_F(WebApiTest, PercentEncodesIds) {
  LookUp({{EntityKind::kUser, "U1&token=x#y"}});
  EXPECT_EQ(client.sent[0].url, "http://slack.test/api/users.info?user=U1%26token%3Dx%23y");
}

// "ok" is not enough: it must be the one that was asked for, and active.
// Spec: 000-28
TEST_F(WebApiTest, ReportsAnotherIdAndInactiveEntities) {
  client.scripts["team.info"] = {Answered(R"({"ok":true,"team":{"id":"T76543210"}})")};
  client.scripts["users.info"] = {
      Answered(R"({"ok":true,"user":{"id":"U01234567","deleted":true}})")};
  client.scripts["conversations.info"] = {
      Answered(R"({"ok":true,"channel":{"id":"C01234567","is_archived":true}})")};
  const auto replies = LookUp({kTeamLookup, kUserLookup, kChannelLookup});
  EXPECT_EQ(replies[0].outcome, LookupOutcome::kNotFound);
  EXPECT_EQ(replies[0].error, "id_mismatch");
  EXPECT_EQ(replies[1].outcome, LookupOutcome::kInactive);
  EXPECT_EQ(replies[2].outcome, LookupOutcome::kInactive);
}

// Only these words of Slack open a channel to the archive.
// Review: A6
TEST_F(WebApiTest, SaysThatAChannelIsPublicOnlyIfSlackDoes) {
  const std::pair<const char*, bool> cases[] = {{R"("is_private":false)", true},
                                                {R"("is_private":true)", false},
                                                {R"("is_channel":true)", false},
                                                {R"("is_private":false,"is_im":true)", false},
                                                {R"("is_private":false,"is_mpim":true)", false}};
  for (const auto& [says, is_public] : cases) {
    client.scripts["conversations.info"] = {
        Answered(std::string(R"({"ok":true,"channel":{"id":"C01234567",)") + says + "}}")};
    EXPECT_EQ(LookUp({kChannelLookup})[0].is_public, is_public) << says;
  }
}

TEST_F(WebApiTest, TrustsSlackThatAnIdDoesNotExist) {
  for (const char* error :
       {"team_not_found", "user_not_found", "channel_not_found", "user_not_visible"}) {
    const auto reply =
        LookUpUser({Answered(R"({"ok":false,"error":")" + std::string(error) + "\"}")});
    EXPECT_EQ(reply.outcome, LookupOutcome::kNotFound) << error;
    EXPECT_EQ(reply.error, error);
    EXPECT_EQ(reply.attempts, 1u);
  }
}

// A hanging call is not retried.
// Spec: 000-29
TEST_F(WebApiTest, GivesUpAfterTwoSecondsWithoutARetry) {
  const auto reply = LookUpUser({Failed(http::Outcome::kTimedOut)});
  EXPECT_EQ(reply.outcome, LookupOutcome::kTimeout);
  EXPECT_EQ(reply.attempts, 1u);
  EXPECT_EQ(client.sent.at(0).timeout, seconds(2));
  EXPECT_THAT(client.sent, SizeIs(1));
  EXPECT_EQ(clock.Monotonic(), seconds(2));
  EXPECT_THAT(sleeper.slept(), IsEmpty());
}

// Spec: 000-30
TEST_F(WebApiTest, WaitsOneTwoAndFourSecondsAfter429) {
  const auto reply = LookUpUser({Limited(), Limited(), Limited(), Answered(kUser)});
  EXPECT_EQ(reply.outcome, LookupOutcome::kActive);
  EXPECT_EQ(reply.attempts, 4u);
  EXPECT_THAT(sleeper.slept(), ElementsAre(seconds(1), seconds(2), seconds(4)));
}

// The longer of our wait and Retry-After is used.
// Spec: 000-30
TEST_F(WebApiTest, WaitsForRetryAfter) {
  const auto reply = LookUpUser({Limited("3"), Limited("1"), Answered(kUser)});
  EXPECT_EQ(reply.outcome, LookupOutcome::kActive);
  EXPECT_THAT(sleeper.slept(), ElementsAre(seconds(3), seconds(2)));
}

// Slack reports some limits as an error in a 200.
TEST_F(WebApiTest, TreatsARateLimitInTheBodyLike429) {
  const auto reply =
      LookUpUser({Answered(R"({"ok":false,"error":"ratelimited"})"), Answered(kUser)});
  EXPECT_EQ(reply.outcome, LookupOutcome::kActive);
  EXPECT_EQ(reply.attempts, 2u);
  EXPECT_THAT(sleeper.slept(), ElementsAre(seconds(1)));
}

// Spec: 000-31
TEST_F(WebApiTest, StopsAfterFourAttemptsAt429) {
  const auto reply = LookUpUser({Limited()});
  EXPECT_EQ(reply.outcome, LookupOutcome::kRateLimited);
  EXPECT_EQ(reply.error, "ratelimited");
  EXPECT_EQ(reply.attempts, 4u);
  EXPECT_THAT(client.sent, SizeIs(4));
  EXPECT_THAT(sleeper.slept(), ElementsAre(seconds(1), seconds(2), seconds(4)));
}

// A retry would not help, and would use up the three seconds that Slack waits for us.
// Spec: 000-32
TEST_F(WebApiTest, RetriesNothingBut429) {
  const std::vector<std::pair<http::Exchange, std::string>> failures = {
      {Answered("", 500), "http_500"},
      {Answered("", 503, {{"Retry-After", "1"}}), "http_503"},
      {Answered("", 302, {{"Location", "http://elsewhere.test"}}), "http_302"},
      {Answered(R"({"ok":false,"error":"missing_scope"})"), "missing_scope"},
      {Answered(R"({"ok":false,"error":"invalid_auth"})"), "invalid_auth"},
      {Answered(R"({"ok":false,"error":"never_heard_of_it"})"), "never_heard_of_it"},
      {Answered("<html>"), "not_json"},
      {Answered(""), "not_json"},
      {Answered("[]"), "not_ok"},
      {Answered(R"({"ok":"true","user":{"id":"U01234567"}})"), "not_ok"},
      {Answered(R"({"ok":true})"), "no_id"},
      {Answered(R"({"ok":true,"user":{"id":7}})"), "no_id"},
      {Failed(http::Outcome::kNotSent), "not_sent"},
      {Failed(http::Outcome::kBroken), "broken"},
      {Failed(http::Outcome::kTooLarge), "too_large"}};
  for (const auto& [exchange, error] : failures) {
    const auto reply = LookUpUser({exchange});
    EXPECT_EQ(reply.outcome, LookupOutcome::kApiError) << error;
    EXPECT_EQ(reply.error, error);
    EXPECT_EQ(reply.attempts, 1u) << error;
  }
  EXPECT_THAT(client.sent, SizeIs(failures.size()));
  EXPECT_THAT(sleeper.slept(), IsEmpty());
}

// The error code is logged, so its length is limited.
TEST_F(WebApiTest, CutsLongErrorCodes) {
  const auto reply =
      LookUpUser({Answered(R"({"ok":false,"error":")" + std::string(9000, 'x') + "\"}")});
  EXPECT_EQ(reply.error, std::string(64, 'x'));
}

// A wait that would end after the deadline does not begin.
// Spec: 000-33
TEST_F(WebApiTest, ReturnsByTheDeadlineDespiteRetries) {
  client.scripts["team.info"] = {Limited()};
  client.scripts["users.info"] = {Limited("30")};
  client.scripts["conversations.info"] = {Limited(), Failed(http::Outcome::kTimedOut)};
  const auto replies = LookUp({kTeamLookup, kUserLookup, kChannelLookup}, milliseconds(2500));
  EXPECT_LE(clock.Monotonic(), milliseconds(2500));
  EXPECT_EQ(replies[0].outcome, LookupOutcome::kRateLimited);
  EXPECT_EQ(replies[0].attempts, 2u) << "the wait of 2 s would pass the deadline";
  EXPECT_EQ(replies[1].outcome, LookupOutcome::kRateLimited);
  EXPECT_EQ(replies[1].attempts, 1u) << "Slack asked for more than there is";
  EXPECT_EQ(replies[2].outcome, LookupOutcome::kTimeout);
  EXPECT_EQ(replies[2].attempts, 2u);
}

TEST_F(WebApiTest, MakesNoCallAfterTheDeadline) {
  const auto replies = LookUp({kUserLookup}, milliseconds(0));
  EXPECT_EQ(replies[0].outcome, LookupOutcome::kTimeout);
  EXPECT_EQ(replies[0].attempts, 0u);
  EXPECT_THAT(client.sent, IsEmpty());
}

// A rate limit on one call does not repeat the other calls.
TEST_F(WebApiTest, RepeatsOnlyRateLimitedCalls) {
  client.scripts["users.info"] = {Limited(), Answered(kUser)};
  const auto replies = LookUp({kTeamLookup, kUserLookup, kChannelLookup});
  for (const LookupReply& reply : replies) EXPECT_EQ(reply.outcome, LookupOutcome::kActive);
  EXPECT_THAT(client.batches, ElementsAre(3, 1));
  EXPECT_EQ(client.CallsOf("users.info"), 2u);
}

// Our own budget stops a flood of unknown ids before Slack does, and only for that method.
TEST_F(WebApiTest, MakesNoCallBeyondTheBudget) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(LookUp({kChannelLookup})[0].outcome, LookupOutcome::kActive);
  }
  const auto replies = LookUp({kChannelLookup, kUserLookup});
  EXPECT_EQ(replies[0].outcome, LookupOutcome::kRateLimited);
  EXPECT_EQ(replies[0].error, "budget");
  EXPECT_EQ(replies[0].attempts, 0u);
  EXPECT_EQ(replies[1].outcome, LookupOutcome::kActive);
  EXPECT_EQ(client.CallsOf("conversations.info"), 50u);
  clock.Advance(seconds(60));
  EXPECT_EQ(LookUp({kChannelLookup})[0].outcome, LookupOutcome::kActive);
}

// After a Retry-After of 30 s no request makes that call earlier.
TEST_F(WebApiTest, MakesNoCallOfALimitedMethodBeforeRetryAfter) {
  LookUpUser({Limited("30"), Answered(kUser)}, seconds(2));
  EXPECT_EQ(client.CallsOf("users.info"), 1u);
  clock.Advance(milliseconds(29'999));
  EXPECT_EQ(LookUp({kUserLookup})[0].outcome, LookupOutcome::kRateLimited);
  EXPECT_EQ(client.CallsOf("users.info"), 1u);
  EXPECT_EQ(LookUp({kTeamLookup})[0].outcome, LookupOutcome::kActive);
  clock.Advance(milliseconds(1));
  EXPECT_EQ(LookUp({kUserLookup})[0].outcome, LookupOutcome::kActive);
}

TEST_F(WebApiTest, CountsCallsByMethodAndOutcome) {
  LookUpUser({Limited(), Answered(kUser)});
  const std::string text = metrics.Expose();
  const std::string calls = "tidemark_slack_calls_total{method=\"users.info\",outcome=";
  EXPECT_THAT(text, HasSubstr(calls + "\"ok\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(calls + "\"rate_limited\"} 1\n"));
  EXPECT_THAT(text, HasSubstr(calls + "\"error\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("tidemark_slack_call_seconds_count{method=\"users.info\"} 2\n"));
}

TEST_F(WebApiTest, CountsEveryOutcomeUnderItsName) {
  LookUpUser({Failed(http::Outcome::kTimedOut)});
  LookUpUser({Answered(R"({"ok":false,"error":"user_not_found"})")});
  LookUpUser({Answered(R"({"ok":false,"error":"invalid_auth"})")});
  LookUpUser({Answered("", 500)});
  LookUpUser({Limited("60")}, seconds(1));
  LookUpUser({Answered(kUser)});
  for (const char* outcome :
       {"timeout", "not_found", "denied", "error", "rate_limited", "budget"}) {
    EXPECT_THAT(metrics.Expose(),
                HasSubstr("{method=\"users.info\",outcome=\"" + std::string(outcome) + "\"} 1\n"));
  }
}

TEST_F(WebApiTest, ReturnsTheIdentityOfAToken) {
  client.scripts["auth.test"] = {
      Answered(R"({"ok":true,"team_id":"T01234567","user_id":"U0BOT","bot_id":"B0BOT"})", 200,
               {{"x-oauth-scopes", "channels:read, users:read,team:read"}})};
  const auto result = api.TestAuth(token, Deadline::After(clock, seconds(2)));
  const AuthTest& test = std::get<AuthTest>(result);
  EXPECT_EQ(test.team_id, "T01234567");
  EXPECT_EQ(test.user_id, "U0BOT");
  EXPECT_EQ(test.bot_id, "B0BOT");
  EXPECT_THAT(test.scopes, ElementsAre("channels:read", "users:read", "team:read"));
  EXPECT_EQ(client.sent[0].url, "http://slack.test/api/auth.test");
}

TEST_F(WebApiTest, ReturnsSlacksErrorForABadToken) {
  client.scripts["auth.test"] = {Answered(R"({"ok":false,"error":"token_revoked"})")};
  const auto result = api.TestAuth(token, Deadline::After(clock, seconds(2)));
  EXPECT_EQ(std::get<CallError>(result).failure, CallFailure::kDenied);
  EXPECT_EQ(std::get<CallError>(result).error, "token_revoked");
}

TEST_F(WebApiTest, DescribesAFile) {
  client.scripts["files.info"] = {Answered(
      R"({"ok":true,"file":{"id":"F0ONE","name":"a.png","mode":"hosted","mimetype":"image/png",
          "url_private_download":"https://files.slack.com/a","size":12,"is_external":false}})")};
  const auto result = api.GetFile(token, "F0ONE", Deadline::After(clock, seconds(2)));
  const FileInfo& file = std::get<FileInfo>(result);
  EXPECT_EQ(file.name, "a.png");
  EXPECT_EQ(file.mode, "hosted");
  EXPECT_EQ(file.mimetype, "image/png");
  EXPECT_EQ(file.url_private_download, "https://files.slack.com/a");
  EXPECT_EQ(file.size, 12);
  EXPECT_FALSE(file.is_external);
  EXPECT_EQ(client.sent[0].url, "http://slack.test/api/files.info?file=F0ONE");
}

// Some files have no url_private_download.
TEST_F(WebApiTest, UsesUrlPrivateWithoutADownloadUrl) {
  client.scripts["files.info"] = {
      Answered(R"({"ok":true,"file":{"id":"F0ONE","url_private":"https://files.slack.com/b"}})")};
  const auto result = api.GetFile(token, "F0ONE", Deadline::After(clock, seconds(2)));
  EXPECT_EQ(std::get<FileInfo>(result).url_private_download, "https://files.slack.com/b");
}

// Secrets are sent in the body and not in the URL, because URLs are logged.
TEST_F(WebApiTest, RefreshesATokenWithAFormPost) {
  client.scripts["oauth.v2.access"] = {Answered(
      R"({"ok":true,"access_token":"xoxe.a","refresh_token":"xoxe-b","expires_in":43200})")};
  const TokenRefresh refresh{
      .client_id = "1.2", .client_secret = Secret("s&="), .refresh_token = Secret("xoxe-1")};
  const auto result = api.RefreshToken(refresh, Deadline::After(clock, seconds(2)));
  const auto& refreshed = std::get<RefreshedToken>(result);
  EXPECT_EQ(refreshed.access_token.Reveal(), "xoxe.a");
  EXPECT_EQ(refreshed.refresh_token.Reveal(), "xoxe-b");
  EXPECT_EQ(refreshed.expires_in, std::chrono::hours(12));
  EXPECT_EQ(client.sent[0].url, "http://slack.test/api/oauth.v2.access");
  EXPECT_EQ(client.sent[0].method, http::Method::kPost);
  EXPECT_EQ(client.sent[0].body,
            "grant_type=refresh_token&client_id=1.2&client_secret=s%26%3D&refresh_token=xoxe-1");
  EXPECT_FALSE(client.sent[0].headers.Find("Authorization"));
}

// An incomplete pair must not replace the old refresh token.
TEST_F(WebApiTest, RefusesAnIncompleteTokenPair) {
  for (const char* body : {R"({"ok":true})", R"({"ok":true,"access_token":"a","expires_in":1})",
                           R"({"ok":true,"access_token":"a","refresh_token":"r"})",
                           R"({"ok":true,"access_token":"","refresh_token":"r","expires_in":1})"}) {
    client.scripts["oauth.v2.access"] = {Answered(body)};
    const auto result = api.RefreshToken(
        {.client_id = "1", .client_secret = Secret("s"), .refresh_token = Secret("r")},
        Deadline::After(clock, seconds(2)));
    EXPECT_EQ(std::get<CallError>(result).error, "incomplete") << body;
  }
}

TEST_F(WebApiTest, DistinguishesDeletedFilesFromForbiddenOnes) {
  const auto failure = [&](std::string body) {
    client.scripts["files.info"] = {Answered(std::move(body))};
    const auto result = api.GetFile(token, "F0ONE", Deadline::After(clock, seconds(2)));
    return std::get<CallError>(result).failure;
  };
  EXPECT_EQ(failure(R"({"ok":false,"error":"file_not_found"})"), CallFailure::kNotFound);
  EXPECT_EQ(failure(R"({"ok":false,"error":"file_deleted"})"), CallFailure::kNotFound);
  EXPECT_EQ(failure(R"({"ok":true,"file":{"id":"F0TWO"}})"), CallFailure::kNotFound);
  EXPECT_EQ(failure(R"({"ok":true})"), CallFailure::kOther);
  EXPECT_EQ(failure(R"({"ok":false,"error":"access_denied"})"), CallFailure::kDenied);
}

// ---- Lists ----

// Review: A16
TEST_F(WebApiTest, ReadsAPageOfChannels) {
  client.scripts["conversations.list"] = {
      Answered(R"({"ok":true,"channels":[)"
               R"({"id":"C01","name":"general","is_private":false,"is_archived":false,)"
               R"("topic":{"value":"tides"},"purpose":{"value":"harbour"}},)"
               R"({"id":"C02","name":"old","is_private":false,"is_archived":true,"topic":null},)"
               R"({"id":"C03","is_private":true},{"id":"C04"},{"name":"without an id"}],)"
               R"("response_metadata":{"next_cursor":"dGVhbTpDMDY="}})")};
  const auto answer = *api.ListConversations(token, ConversationType::kPublic, {.team = "T01"},
                                             Deadline::After(clock, seconds(9)))
                           .Wait();
  const auto& page = std::get<ListPage<Conversation>>(answer);
  EXPECT_THAT(
      page.entries,
      ElementsAre(Conversation{.id = "C01",
                               .name = "general",
                               .topic = "tides",
                               .purpose = "harbour",
                               .is_public = true},
                  Conversation{.id = "C02", .name = "old", .is_public = true, .is_archived = true},
                  Conversation{.id = "C03"}, Conversation{.id = "C04"}));
  EXPECT_EQ(page.next_cursor, "dGVhbTpDMDY=");
  EXPECT_EQ(client.sent[0].url,
            "http://slack.test/api/conversations.list?limit=999&team_id=T01&types=public_channel");
}

// The cursor ends with '=', which has another meaning in an address. All parameters are repeated.
TEST_F(WebApiTest, AsksForTheNextPageWithTheSameParameters) {
  client.scripts["users.list"] = {Answered(
      R"({"ok":true,"members":[{"id":"U01","name":"ann","deleted":false,"is_bot":false,)"
      R"("profile":{"real_name":"Ann Lee","display_name":"ann","image_48":"https://a/48"}},)"
      R"({"id":"W02","deleted":true,"profile":null}]})")};
  const auto answer = *api.ListUsers(token, {.team = "T01", .cursor = "dXM6VTA=", .limit = 200},
                                     Deadline::After(clock, seconds(9)))
                           .Wait();
  const auto& page = std::get<ListPage<Person>>(answer);
  EXPECT_THAT(page.entries, ElementsAre(Person{.id = "U01",
                                               .name = "ann",
                                               .real_name = "Ann Lee",
                                               .display_name = "ann",
                                               .avatar = "https://a/48"},
                                        Person{.id = "W02", .is_deactivated = true}));
  EXPECT_EQ(page.next_cursor, "") << "a missing cursor is the end";
  EXPECT_EQ(client.sent[0].url,
            "http://slack.test/api/users.list?limit=200&team_id=T01&cursor=dXM6VTA%3D");
}

TEST_F(WebApiTest, TakesAnAnswerWithoutAListForAFailure) {
  client.scripts["users.list"] = {Answered(R"({"ok":true})")};
  const auto answer =
      *api.ListUsers(token, {.team = "T01"}, Deadline::After(clock, seconds(9))).Wait();
  EXPECT_EQ(std::get<CallError>(answer).error, "no_list");
}

// Slack allows 20 pages of a list a minute.
TEST_F(WebApiTest, ReadsNoMorePagesThanTheBudget) {
  client.scripts["users.list"] = {Answered(R"({"ok":true,"members":[]})")};
  const auto read = [&] {
    const auto answer =
        *api.ListUsers(token, {.team = "T01"}, Deadline::After(clock, seconds(9))).Wait();
    return std::holds_alternative<ListPage<Person>>(answer);
  };
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(read());
  EXPECT_FALSE(read());
  EXPECT_EQ(client.CallsOf("users.list"), 20u);
  clock.Advance(seconds(60));
  EXPECT_TRUE(read());
}

// Names are kept of what events name, also when no list has it.
// Review: A8
TEST_F(WebApiTest, DescribesWhatItLooksUp) {
  client.scripts["conversations.info"] = {
      Answered(R"({"ok":true,"channel":{"id":"C01234567","name":"general","is_private":false}})")};
  client.scripts["users.info"] = {
      Answered(R"({"ok":true,"user":{"id":"U01234567","name":"ann","real_name":"Ann Lee"}})")};
  const auto replies = LookUp({kUserLookup, kChannelLookup, kTeamLookup});
  EXPECT_EQ(std::get<Person>(replies[0].entity).real_name, "Ann Lee");
  EXPECT_EQ(std::get<Conversation>(replies[1].entity).name, "general");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(replies[2].entity));
}

}  // namespace
}  // namespace tidemark::slack
