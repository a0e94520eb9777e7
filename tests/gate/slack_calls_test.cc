// The gate with the real client of Slack's Web API over a scripted HTTP client: which verdict each
// failure of the calls gives, and when.
#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <sys/stat.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/sleeper.h"
#include "http/client.h"
#include "item/json.h"
#include "slack/token_file.h"
#include "slack/web_api.h"
#include "tests/gate/gate_stage.h"
#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"

namespace tidemark::gate {

using namespace testing;
using std::chrono::milliseconds;
using std::chrono::seconds;

http::Exchange Answer(std::string body, int status = 200, http::Headers headers = {}) {
  return {.outcome = http::Outcome::kAnswered,
          .response = {.status = status, .headers = std::move(headers), .body = std::move(body)}};
}
http::Exchange Hang() { return {.outcome = http::Outcome::kTimedOut}; }

// Each method gives its answers in order and repeats the last. A hanging call lasts until its
// timeout.
class PretendHttp final : public http::Client {
 public:
  explicit PretendHttp(ManualClock* clock) : clock_(*clock) {
    answers["team.info"] = {Answer(R"({"ok":true,"team":{"id":"T01234567"}})")};
    answers["users.info"] = {Answer(R"({"ok":true,"user":{"id":"U01234567"}})")};
    answers["conversations.info"] = {Answer(R"({"ok":true,"channel":{"id":"C01234567"}})")};
  }

  std::vector<http::Exchange> SendAll(std::span<const http::OutgoingRequest> requests,
                                      const Deadline& deadline) override {
    std::vector<http::Exchange> exchanges;
    milliseconds took(0);
    for (const http::OutgoingRequest& request : requests) {
      const size_t begin = request.url.rfind('/') + 1;
      const std::string method = request.url.substr(begin, request.url.find('?') - begin);
      ++calls[method];
      std::deque<http::Exchange>& script = answers[method];
      exchanges.push_back(script.front());
      if (script.size() > 1) script.pop_front();
      if (exchanges.back().outcome != http::Outcome::kTimedOut) continue;
      auto left = std::chrono::duration_cast<milliseconds>(deadline.Remaining());
      took = std::max(took, std::min(request.timeout, left));
    }
    clock_.Advance(took);
    return exchanges;
  }

  std::map<std::string, std::deque<http::Exchange>> answers;
  std::map<std::string, int> calls;

 private:
  ManualClock& clock_;
};

class SlackCallsTest : public ::testing::Test {
 protected:
  Verdict Check() {
    const Runtime runtime = stage_.AnotherRuntime();
    Existence existence({}, &stage_.tables, &api_, &stage_.tokens, runtime);
    Gate gate({}, slack::SignatureVerifier({}), &existence, runtime);
    return gate.CheckExistence(Message(), "request-1");
  }
  bool IsAudited(const std::string& reason) {
    return stage_.LogLines("gate refused decision=unknown reason=" + reason) == 1;
  }
  bool IsCached() { return stage_.Row(kTripleKey).has_value(); }

  Stage stage_;
  PretendHttp http_{&stage_.clock};
  slack::WebApi api_{{}, &http_, stage_.AnotherRuntime()};
};

TEST_F(SlackCallsTest, AllowsAnEventWhenSlackAnswers) {
  EXPECT_EQ(Check(), Allowed(Reason::kVerified));
  EXPECT_EQ(http_.calls, (std::map<std::string, int>{
                             {"team.info", 1}, {"users.info", 1}, {"conversations.info", 1}}));
}

// Spec: 000-28
TEST_F(SlackCallsTest, RefusesAnAnswerWithAnotherId) {
  http_.answers["users.info"] = {Answer(R"({"ok":true,"user":{"id":"U99999999"}})")};
  EXPECT_EQ(Check(), Refused(Reason::kUserNotFound));
}

// Spec: 000-29
TEST_F(SlackCallsTest, GivesUpAHangingCallAfterTwoSeconds) {
  http_.answers["users.info"] = {Hang()};
  EXPECT_EQ(Check(), NotKnown(Reason::kTimeout));
  EXPECT_EQ(stage_.clock.Monotonic(), seconds(2));
  EXPECT_EQ(http_.calls["users.info"], 1);
  EXPECT_TRUE(IsAudited("timeout"));
  EXPECT_FALSE(IsCached());
}

// Spec: 000-30
TEST_F(SlackCallsTest, AllowsAfterARetryOf429) {
  http_.answers["users.info"].push_front(Answer("", 429));
  EXPECT_EQ(Check(), Allowed(Reason::kVerified));
  EXPECT_EQ(stage_.sleeper.slept(), std::vector<milliseconds>{seconds(1)});
  EXPECT_TRUE(IsCached());
}

// Spec: 000-31
TEST_F(SlackCallsTest, StoresNothingWhenEveryCallGets429) {
  http_.answers["users.info"] = {Answer("", 429)};
  EXPECT_EQ(Check(), NotKnown(Reason::kRateLimited));
  // The second wait would end after the deadline.
  EXPECT_EQ(http_.calls["users.info"], 2);
  EXPECT_EQ(stage_.sleeper.slept(), std::vector<milliseconds>{seconds(1)});
  EXPECT_TRUE(IsAudited("rate_limited"));
  EXPECT_FALSE(IsCached());
  EXPECT_FALSE(stage_.Row("entity#user#U01234567"));
}

// Spec: 000-32
TEST_F(SlackCallsTest, OtherErrorsAreUnknownWithoutARetry) {
  const std::vector<http::Exchange> troubles = {
      Answer("", 500), Answer(R"({"ok":false,"error":"missing_scope"})"),
      Answer(R"({"ok":false,"error":"invalid_auth"})"), Answer("no JSON at all")};
  for (const http::Exchange& trouble : troubles) {
    http_.answers["conversations.info"] = {trouble};
    http_.calls.clear();
    EXPECT_EQ(Check(), NotKnown(Reason::kApiError));
    EXPECT_EQ(http_.calls["conversations.info"], 1);
    EXPECT_EQ(stage_.clock.Monotonic(), seconds(0));
    EXPECT_FALSE(IsCached());
  }
  EXPECT_EQ(stage_.LogLines("reason=api_error"), troubles.size());
}

// Slack waits three seconds for our answer, no matter how slow its own answers are.
// Spec: 000-33
TEST_F(SlackCallsTest, AnswersByTheDeadline) {
  ASSERT_LT(ExistenceOptions().deadline, seconds(3));
  http_.answers["team.info"] = {Answer("", 429), Hang()};
  http_.answers["users.info"] = {Answer("", 429, {{"Retry-After", "1"}})};
  http_.answers["conversations.info"] = {Answer("", 429, {{"Retry-After", "60"}})};
  EXPECT_EQ(Check().decision, Decision::kUnknown);
  EXPECT_LE(stage_.clock.Monotonic(), ExistenceOptions().deadline);
  EXPECT_GT(stage_.clock.Monotonic(), seconds(1));  // It did try.
}

// With the default limits and without a table, each request is verified, up to the number of calls
// that Slack allows in a minute. Above it the verdict is "unknown": the server keeps the event in
// quarantine and checks it again. Slack is not called then, so that other calls still work
// (docs/decisions/0009).
// Spec: 000-46
TEST_F(SlackCallsTest, WithoutATableABurstIsVerifiedUpToTheBudget) {
  Existence existence({.table = ""}, &stage_.tables, &api_, &stage_.tokens,
                      stage_.AnotherRuntime());
  const int budget = static_cast<int>(slack::WebApiOptions().team_info_budget);
  for (int minute = 1; minute <= 2; ++minute) {
    for (int i = 0; i < 200; ++i) {
      EXPECT_EQ(existence.Check(Triple()),
                i < budget ? Allowed(Reason::kVerified) : NotKnown(Reason::kRateLimited));
    }
    EXPECT_EQ(http_.calls["team.info"], minute * budget);
    stage_.clock.Advance(seconds(60));
  }
  EXPECT_EQ(stage_.reads + stage_.writes, 0);
  EXPECT_EQ(stage_.LogLines("warning existence cache is off"), 1U);
}

// The only store of tokens is the file of the app with token rotation.
struct TokenFile {
  std::string Bytes() const {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  // Changes when the file is written or replaced.
  std::string Version() const {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return fmt::format("{} {} {}", status.st_ino, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
  }

  TempFolder folder;
  const std::string path = folder.path() + "/pair.json";
};

// A correctly signed event of a team that does not exist. It also contains a token, which must not
// be stored. Spec: 000-40
TEST_F(SlackCallsTest, StoresNoTokenOfAnUnverifiedTeam) {
  TokenFile file;
  ASSERT_TRUE(
      slack::WriteTokenPair(file.path, {.access_token = Secret("xoxe.xoxb-canary"),
                                        .refresh_token = Secret("xoxe-canary"),
                                        .expires_at = stage_.clock.NowSeconds() + 12 * 3600}));
  const std::string bytes = file.Bytes();
  const std::string version = file.Version();
  const Runtime runtime = stage_.AnotherRuntime();
  const auto tokens =
      RotatingTokens::Open(
          {.file = file.path, .client_id = "1.2", .client_secret = Secret("canary-secret")}, &api_,
          runtime)
          .value();
  Existence existence({}, &stage_.tables, &api_, tokens.get(), runtime);
  const Secret key("8f742231b10e8888abcd99yyyzzz85a5");
  Gate gate({}, slack::SignatureVerifier({{.id = "current", .value = key}}), &existence, runtime);
  http_.answers["team.info"] = {Answer(R"({"ok":false,"error":"team_not_found"})")};
  const std::string body =
      R"({"type":"event_callback","team_id":"T0FAKE00","event_id":"Ev01","token":"xoxb-canary-2",)"
      R"("event":{"type":"message","user":"U01234567","channel":"C01234567","text":"hello"}})";
  const std::string timestamp = std::to_string(stage_.clock.NowSeconds());
  const std::string signature = slack::Sign(key, timestamp, body);
  const slack::SignedRequest request{
      .timestamps = {timestamp}, .signatures = {signature}, .body = body};

  ASSERT_TRUE(gate.Authenticate(request, "request-1").authentic);
  const auto event = std::get<slack::EventCallback>(slack::ParseEnvelope(body).value());
  EXPECT_EQ(gate.CheckExistence(event, "request-1"), Refused(Reason::kTeamNotFound));
  tokens->Step();
  EXPECT_EQ(file.Bytes(), bytes);
  EXPECT_EQ(file.Version(), version);
  EXPECT_EQ(http_.calls["team.info"], 1);
  size_t rows = 0;
  const std::vector<std::string> tables = stage_.model.ListTables({}).value().tables;
  for (const std::string& table : tables) {
    for (const item::Item& row : stage_.AllRows(table)) {
      ++rows;
      EXPECT_EQ(item::ToJson(row).find("canary"), std::string::npos) << item::ToJson(row);
    }
  }
  EXPECT_GT(rows, 0U);  // The rows remember that the team does not exist. They contain no token.
}

}  // namespace tidemark::gate
