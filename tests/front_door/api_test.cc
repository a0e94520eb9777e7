// The API over HTTP: tokens, claims, existence, and whether docs/openapi.yaml describes it.
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/dedup/claims.h"
#include "base/json.h"
#include "servers/api/api_tokens.h"
#include "tests/front_door/front_door.h"
#include "tests/support/process_runtime.h"
#include "tests/support/raw_connection.h"

namespace tidemark::testing {
namespace {

using http::Method;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ApiTest : public ::testing::Test {
 protected:
  // The text of a member of the reply's object; "" when there is none.
  static std::string TextIn(const http::Response& response, std::string_view name) {
    const auto document = JsonDocument::Parse(response.body);
    if (!document) return "";
    const auto member = document->root().Find(name);
    return member && member->AsString() ? std::string(*member->AsString()) : "";
  }
  http::Response Take(const std::string& key) {
    return door_.Call(Method::kPost, "/api/v1/claims", R"({"key":")" + key + R"("})");
  }
  http::Response Settle(const std::string& how, const std::string& body) {
    return door_.Call(Method::kPost, "/api/v1/claims/" + how, body);
  }

  FrontDoor door_{FrontDoor::WithEverything};
};

// "PUT" as a method.
std::optional<Method> MethodOf(std::string_view name) {
  for (const Method method : {Method::kGet, Method::kHead, Method::kPost, Method::kPut,
                              Method::kPatch, Method::kDelete, Method::kOptions}) {
    if (http::ToString(method) == name) return method;
  }
  return std::nullopt;
}

// Each route by its own method: with another one the answer would be 405, whatever the token.
TEST_F(ApiTest, RequiresATokenExceptForHealth) {
  EXPECT_EQ(door_.CallWithoutToken(Method::kGet, "/healthz").status, 200);
  for (const std::string& route : door_.service().Routes()) {
    const std::string path = route.substr(route.find(' ') + 1);
    const auto method = MethodOf(route.substr(0, route.find(' ')));
    ASSERT_TRUE(method) << route;
    if (path == "/healthz" || path == "/slack/events") continue;
    EXPECT_EQ(door_.CallWithoutToken(*method, path).status, 401) << route;
    EXPECT_EQ(door_.Call(*method, path).headers.FindAll("WWW-Authenticate").size(), 0u) << route;
  }
}

// When the store denies access or a table is missing, the caller must not get 403, 404 or an empty
// list.
TEST_F(ApiTest, AnswersADenialOfTheStoreWith500) {
  for (const ErrorCode code : {ErrorCode::kDenied, ErrorCode::kNotFound}) {
    door_.faults().decide = [&](Operation) { return Fault{{code, "for the test"}}; };
    for (const char* path : {"/api/v1/claims", "/api/v1/teams", "/api/v1/teams/T1X/channels/C9X",
                             "/api/v1/teams/T1X/channels/C9X/messages/1700000000.000200",
                             "/api/v1/teams/T1X/channels/C9X/messages/1700000000.000200/files/F1X",
                             "/archives/C9X/p1700000000000200", "/api/v1/subjects/ann"}) {
      const int status = door_.Call(Method::kGet, path).status;
      EXPECT_GE(status, 500) << path << " when the store says " << ToString(code);
    }
  }
  door_.faults().decide = nullptr;
}

// A load balancer must not send requests to a server whose store refuses every write.
// Review: F5
TEST_F(ApiTest, IsNotReadyWhileTheStoreRefusesWrites) {
  door_.faults().decide = [](Operation operation) -> std::optional<Fault> {
    if (!Writes(operation)) return std::nullopt;
    return Fault{{ErrorCode::kUnavailable, "the disk is full"}};
  };
  const http::Response refused = door_.Call(Method::kGet, "/readyz");
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, ::testing::HasSubstr("the disk is full"));
  door_.faults().decide = nullptr;
  EXPECT_EQ(door_.Call(Method::kGet, "/readyz").status, 200);
}

TEST_F(ApiTest, GivesAClaimToOneCallerOnly) {
  const http::Response first = Take("k");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(TextIn(first, "outcome"), "new");
  EXPECT_EQ(TextIn(Take("k"), "outcome"), "running");
  EXPECT_EQ(Settle("complete", first.body).status, 200);
  EXPECT_EQ(TextIn(Take("k"), "outcome"), "done");
}

TEST_F(ApiTest, AReleasedKeyCanBeClaimedAgain) {
  const http::Response first = Take("k");
  EXPECT_EQ(Settle("release", first.body).status, 200);
  const http::Response second = Take("k");
  EXPECT_EQ(TextIn(second, "outcome"), "new");
  // The first holder's claim is not valid any more.
  EXPECT_EQ(Settle("complete", first.body).status, 409);
  EXPECT_EQ(Settle("complete", second.body).status, 200);
}

TEST_F(ApiTest, GivesUpWorkThatFailsTooOften) {
  for (int i = 0; i < 5; ++i) {
    const http::Response taken = Take("k");
    ASSERT_EQ(TextIn(taken, "outcome"), "new") << i;
    ASSERT_EQ(Settle("fail", taken.body).status, 200);
  }
  EXPECT_EQ(TextIn(Take("k"), "outcome"), "failed");
}

TEST_F(ApiTest, ARenewedClaimKeepsItsHolder) {
  const http::Response taken = Take("k");
  const http::Response renewed = Settle("renew", taken.body);
  EXPECT_EQ(renewed.status, 200);
  EXPECT_EQ(Settle("complete", renewed.body).status, 200);
}

TEST_F(ApiTest, MarkClaimsAndCompletesInOneCall) {
  const std::string body =
      R"({"keys":["Ev1","F1_1.2"],"metadata":{"user_id":null,"file_id":"F1"}})";
  EXPECT_EQ(TextIn(Settle("mark", body), "outcome"), "new");
  EXPECT_EQ(TextIn(Settle("mark", body), "outcome"), "done");
  // Each of the two keys is claimed.
  EXPECT_EQ(TextIn(Settle("mark", R"({"key":"F1_1.2"})"), "outcome"), "done");
}

TEST_F(ApiTest, ListsTheRememberedClaims) {
  Settle("mark", R"({"key":"a"})");
  Take("b");
  const http::Response all = door_.Call(Method::kGet, "/api/v1/claims");
  EXPECT_THAT(all.body, HasSubstr(R"("key":"a","status":"done")"));
  EXPECT_THAT(all.body, HasSubstr(R"("key":"b","status":"claimed")"));
  const http::Response first = door_.Call(Method::kGet, "/api/v1/claims?limit=1");
  const std::string cursor = TextIn(first, "cursor");
  ASSERT_FALSE(cursor.empty());
  const http::Response second = door_.Call(Method::kGet, "/api/v1/claims?limit=1&cursor=" + cursor);
  EXPECT_NE(first.body, second.body);
}

// The store was never unavailable, so there is nothing to report.
TEST_F(ApiTest, ReportsPossibleDuplicates) {
  const http::Response report = door_.Call(Method::kGet, "/api/v1/claims/possible-duplicates");
  EXPECT_EQ(report.status, 200);
  EXPECT_EQ(report.body, R"({"possible_duplicates":[]})");
}

// While the store is unavailable, memory grants a key that another process has marked in the store.
TEST(PossibleDuplicatesTest, ListsWhatMemoryGrantedAndTheStoreHad) {
  FrontDoor door([](api::ServiceOptions*) {}, FrontDoor::Time::kManual);
  const auto mark = [&](const std::string& key) {
    return door.Call(Method::kPost, "/api/v1/claims/mark", R"({"key":")" + key + R"("})").body;
  };
  ProcessRuntime process(door.manual_clock(), &door.manual_clock(), 1);
  dedup::Claims elsewhere({}, &door.tables(), process.runtime());
  ASSERT_TRUE(elsewhere.Mark({.keys = {"k"}}));
  door.faults().decide = [](Operation) { return Throttled(); };
  EXPECT_THAT(mark("k"), HasSubstr(R"("outcome":"new")"));
  door.faults().decide = nullptr;
  door.manual_clock().Advance(std::chrono::seconds(61));
  EXPECT_THAT(mark("other"), HasSubstr(R"("outcome":"new")"));
  const http::Response report = door.Call(Method::kGet, "/api/v1/claims/possible-duplicates");
  EXPECT_EQ(report.status, 200);
  EXPECT_THAT(report.body, HasSubstr(R"({"possible_duplicates":[{"key":"k","reason":")"));
}

TEST_F(ApiTest, SaysWhatIsWrongWithARequest) {
  EXPECT_THAT(Settle("mark", "{").body, HasSubstr("the body"));
  EXPECT_THAT(Settle("mark", "{}").body, HasSubstr("give 'key'"));
  EXPECT_THAT(Settle("mark", R"({"kei":"a"})").body, HasSubstr("'kei' is not known"));
  EXPECT_THAT(Settle("mark", R"({"key":""})").status, 400);
  // Review: F14
  EXPECT_EQ(Take(std::string(2'049, 'k')).status, 400);
  EXPECT_THAT(Settle("complete", "{}").body, HasSubstr("'claim' is missing"));
  EXPECT_EQ(door_.Call(Method::kGet, "/api/v1/claims?limit=0").status, 400);
  EXPECT_EQ(door_.Call(Method::kGet, "/api/v1/existence").status, 400);
  EXPECT_EQ(door_.Call(Method::kGet, "/api/v1/existence?team=nope").status, 400);
  EXPECT_EQ(door_.Call(Method::kGet, "/api/v1/nothing").status, 404);
  EXPECT_EQ(door_.Call(Method::kDelete, "/api/v1/claims").status, 405);
}

TEST_F(ApiTest, ChecksATripleAndInvalidatesIt) {
  const FrontDoor::Ids ids = door_.real_ids();
  const std::string path =
      "/api/v1/existence?team=" + ids.team + "&user=" + ids.user + "&channel=" + ids.channel;
  EXPECT_EQ(TextIn(door_.Call(Method::kGet, path), "reason"), "verified");
  EXPECT_EQ(TextIn(door_.Call(Method::kGet, path), "reason"), "cached");
  EXPECT_EQ(door_.Call(Method::kDelete, "/api/v1/existence?user=" + ids.user).status, 200);
  EXPECT_EQ(TextIn(door_.Call(Method::kGet, path), "reason"), "verified");
  const http::Response fake =
      door_.Call(Method::kGet, "/api/v1/existence?team=" + ids.team + "&user=U0FAKE00");
  EXPECT_EQ(TextIn(fake, "decision"), "deny");
  EXPECT_EQ(TextIn(fake, "reason"), "user_not_found");
}

// Operators must be able to see which events were refused, and why.
TEST_F(ApiTest, ListsTheQuarantineWithReasons) {
  EXPECT_EQ(door_.Call(Method::kGet, "/api/v1/quarantine").body, R"({"events":[]})");
  const FrontDoor::Ids ids = door_.real_ids();
  door_.Send(FrontDoor::Message("Ev1", {ids.team, "U0FAKE00", ids.channel}));
  const http::Response listed = door_.Call(Method::kGet, "/api/v1/quarantine");
  EXPECT_THAT(listed.body, HasSubstr(":Ev1\",\"team_id\":\"" + ids.team));
  EXPECT_THAT(listed.body, HasSubstr(R"("reason":"user_not_found")"));
  EXPECT_THAT(listed.body, Not(HasSubstr("hello")));
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(std::string(TIDEMARK_SOURCE_FOLDER) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The paths and methods of the description: "  /path:" and "    get:" in the section `paths`.
std::set<std::string> DescribedRoutes() {
  std::set<std::string> routes;
  std::istringstream lines(ReadFile("docs/openapi.yaml"));
  std::string line;
  std::string path;
  bool in_paths = false;
  while (std::getline(lines, line)) {
    if (!line.empty() && line[0] != ' ') in_paths = line == "paths:";
    if (!in_paths) continue;
    if (line.starts_with("  /")) path = line.substr(2, line.size() - 3);
    for (const auto& [name, method] :
         {std::pair("    get:", "GET"), std::pair("    post:", "POST"),
          std::pair("    put:", "PUT"), std::pair("    delete:", "DELETE")}) {
      if (line == name) routes.insert(std::string(method) + " " + path);
    }
  }
  return routes;
}

TEST_F(ApiTest, TheOpenApiDocumentDescribesExactlyTheRoutes) {
  std::vector<std::string> routes = door_.service().Routes();
  // The route with an empty part is described under the route that has the part.
  std::erase_if(routes, [](const std::string& route) { return route.find("//") != route.npos; });
  EXPECT_EQ(DescribedRoutes(), std::set<std::string>(routes.begin(), routes.end()));
}

// Spec: 001-72
TEST_F(ApiTest, TheReadmeSaysWhatTheWorkspaceAgreesTo) {
  const std::string readme = ReadFile("README.md");
  EXPECT_THAT(readme, HasSubstr("a privacy risk for every member of the workspace"));
  EXPECT_THAT(readme, HasSubstr("before you set `archive.consent = true`"));
}

// Operators must be able to look up every metric.
TEST_F(ApiTest, EveryMetricIsDocumentedWithItsKindAndMeaning) {
  const std::string document = ReadFile("docs/metrics.md");
  size_t documented = 0;
  for (size_t at = document.find("\n| `tidemark_"); at != std::string::npos;
       at = document.find("\n| `tidemark_", at + 1)) {
    ++documented;
  }
  for (const auto& [name, description] : door_.metrics().List()) {
    const std::string row =
        "| `" + name + "` | " + description.kind + " | " + description.help + " |";
    EXPECT_THAT(document, HasSubstr(row));
  }
  EXPECT_EQ(door_.metrics().List().size(), documented);
}

// A stranger must not make the server hold a body of 16 MiB, or wait for it.
// Review: F10
TEST_F(ApiTest, AsksForTheTokenBeforeTheBody) {
  const std::string head =
      "PUT /api/v1/documents/CHG-1 HTTP/1.1\r\nHost: a\r\nContent-Length: 16000000\r\n";
  const auto port =
      static_cast<uint16_t>(std::stoi(door_.url().substr(door_.url().rfind(':') + 1)));
  RawConnection stranger(port);
  stranger.Send(head + "\r\n{");
  EXPECT_EQ(stranger.ReadReply().status, 401);
  EXPECT_TRUE(stranger.IsClosedByPeer());
  RawConnection elsewhere(port);
  elsewhere.Send("POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n{");
  EXPECT_EQ(elsewhere.ReadReply().status, 404);
  RawConnection known(port);
  known.Send(head + "Authorization: Bearer " + door_.token() + "\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(known.ReadReply().status, 100);
}

// The token that Prometheus has must not read the archive or lift locks, and the access log says
// whose token it was.
// Review: F9, F14
TEST(TokenScopeTest, AMetricsTokenReadsMetricsOnlyAndTheLogNamesIt) {
  SystemRandom random;
  std::string file;
  FrontDoor door([&](api::ServiceOptions* options) { file = options->tokens_file; });
  const std::string token =
      api::CreateToken(file, "prometheus", SystemClock(), random, api::TokenScope::kMetrics)
          .value();
  const auto call = [&](const std::string& path) { return door.CallAs(token, path); };
  EXPECT_EQ(call("/metrics").status, 200);
  EXPECT_EQ(call("/api/v1/claims").status, 403);
  EXPECT_EQ(call("/readyz").status, 403);
  const http::Response claims = door.Call(http::Method::kGet, "/api/v1/claims");
  EXPECT_EQ(claims.headers.Find("Cache-Control"), "no-store");
  EXPECT_EQ(claims.headers.Find("X-Content-Type-Options"), "nosniff");
  const http::Response refused = door.CallWithoutToken(http::Method::kGet, "/api/v1/claims");
  EXPECT_EQ(refused.headers.FindAll("Cache-Control").size(), 1u);
  EXPECT_EQ(refused.headers.Find("X-Content-Type-Options"), "nosniff");
  door.service().Stop(std::chrono::milliseconds(0));
  EXPECT_THAT(door.log(), HasSubstr("token=prometheus"));
  EXPECT_THAT(door.log(), HasSubstr("token=test"));
}

// Who lifted a lock is a question that is asked later.
// Review: F9
TEST(TokenScopeTest, TheAuditLogNamesTheTokenThatLiftedALock) {
  FrontDoor door(FrontDoor::WithAttempts);
  const std::string locks = "/api/v1/subjects/ann/locks";
  ASSERT_EQ(door.Call(http::Method::kPost, locks,
                      R"({"journey":"SIGN_IN","classifier":"PASSWORD_RESET"})")
                .status,
            200);
  ASSERT_EQ(door.Call(http::Method::kDelete, locks + "/SIGN_IN/PASSWORD_RESET",
                      R"({"reason":"ticket 7"})")
                .status,
            200);
  door.service().Stop(std::chrono::milliseconds(0));
  const std::string log = door.log();
  const size_t at = log.find("attempts audit event=\"lock lifted\"");
  ASSERT_NE(at, std::string::npos);
  EXPECT_THAT(log.substr(at, log.find('\n', at) - at),
              AllOf(HasSubstr("reason=\"ticket 7\""), HasSubstr("actor=test request_id=")));
}

}  // namespace
}  // namespace tidemark::testing
