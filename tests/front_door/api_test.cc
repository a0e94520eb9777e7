// The API over HTTP: tokens, claims, existence, and that its description is true.
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/front_door/front_door.h"

namespace tidemark::testing {
namespace {

using http::Method;
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

TEST_F(ApiTest, AsksForATokenEverywhereButAtHealth) {
  EXPECT_EQ(door_.CallWithoutToken(Method::kGet, "/healthz").status, 200);
  for (const std::string& route : door_.service().Routes()) {
    const std::string path = route.substr(route.find(' ') + 1);
    if (path == "/healthz" || path == "/slack/events") continue;
    const Method method = route.starts_with("POST")     ? Method::kPost
                          : route.starts_with("DELETE") ? Method::kDelete
                                                        : Method::kGet;
    EXPECT_EQ(door_.CallWithoutToken(method, path).status, 401) << route;
  }
}

// What a store denies us is not what we deny the caller, and its lost table is not an empty one.
TEST_F(ApiTest, AStoreThatRefusesUsIsAFaultOfTheServer) {
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

TEST_F(ApiTest, OneClaimsAndTheOtherIsToldWhoDoes) {
  const http::Response first = Take("k");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(TextIn(first, "outcome"), "new");
  EXPECT_EQ(TextIn(Take("k"), "outcome"), "running");
  EXPECT_EQ(Settle("complete", first.body).status, 200);
  EXPECT_EQ(TextIn(Take("k"), "outcome"), "done");
}

TEST_F(ApiTest, WhatWasReleasedIsFreeAgain) {
  const http::Response first = Take("k");
  EXPECT_EQ(Settle("release", first.body).status, 200);
  const http::Response second = Take("k");
  EXPECT_EQ(TextIn(second, "outcome"), "new");
  // The first holder's claim is worth nothing any more.
  EXPECT_EQ(Settle("complete", first.body).status, 409);
  EXPECT_EQ(Settle("complete", second.body).status, 200);
}

TEST_F(ApiTest, WorkThatFailsTooOftenEnds) {
  for (int i = 0; i < 5; ++i) {
    const http::Response taken = Take("k");
    ASSERT_EQ(TextIn(taken, "outcome"), "new") << i;
    ASSERT_EQ(Settle("fail", taken.body).status, 200);
  }
  EXPECT_EQ(TextIn(Take("k"), "outcome"), "failed");
}

TEST_F(ApiTest, ARenewedClaimIsStillItsHolders) {
  const http::Response taken = Take("k");
  const http::Response renewed = Settle("renew", taken.body);
  EXPECT_EQ(renewed.status, 200);
  EXPECT_EQ(Settle("complete", renewed.body).status, 200);
}

TEST_F(ApiTest, MarkIsTheOneCallForm) {
  const std::string body =
      R"({"keys":["Ev1","F1_1.2"],"metadata":{"user_id":null,"file_id":"F1"}})";
  EXPECT_EQ(TextIn(Settle("mark", body), "outcome"), "new");
  EXPECT_EQ(TextIn(Settle("mark", body), "outcome"), "done");
  // Either name alone is taken.
  EXPECT_EQ(TextIn(Settle("mark", R"({"key":"F1_1.2"})"), "outcome"), "done");
}

TEST_F(ApiTest, ListsWhatIsRemembered) {
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

// With a store that was never away there is nothing to report.
TEST_F(ApiTest, ReportsWhatMayHaveBeenHandledTwice) {
  const http::Response report = door_.Call(Method::kGet, "/api/v1/claims/possible-duplicates");
  EXPECT_EQ(report.status, 200);
  EXPECT_EQ(report.body, R"({"possible_duplicates":[]})");
}

TEST_F(ApiTest, SaysWhatIsWrongWithARequest) {
  EXPECT_THAT(Settle("mark", "{").body, HasSubstr("the body"));
  EXPECT_THAT(Settle("mark", "{}").body, HasSubstr("give 'key'"));
  EXPECT_THAT(Settle("mark", R"({"kei":"a"})").body, HasSubstr("'kei' is not known"));
  EXPECT_THAT(Settle("mark", R"({"key":""})").status, 400);
  EXPECT_THAT(Settle("complete", "{}").body, HasSubstr("'claim' is missing"));
  EXPECT_EQ(door_.Call(Method::kGet, "/api/v1/claims?limit=0").status, 400);
  EXPECT_EQ(door_.Call(Method::kGet, "/api/v1/existence").status, 400);
  EXPECT_EQ(door_.Call(Method::kGet, "/api/v1/existence?team=nope").status, 400);
  EXPECT_EQ(door_.Call(Method::kGet, "/api/v1/nothing").status, 404);
  EXPECT_EQ(door_.Call(Method::kDelete, "/api/v1/claims").status, 405);
}

TEST_F(ApiTest, TellsWhetherATripleExistsAndForgetsItWhenTold) {
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

// Who runs the server must be able to see what was refused, and why.
TEST_F(ApiTest, ListsWhatIsInQuarantineAndWhy) {
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

TEST_F(ApiTest, EveryRouteIsDescribedAndEveryDescriptionIsARoute) {
  std::vector<std::string> routes = door_.service().Routes();
  // A path that lacks a part of another one has the other's description.
  std::erase_if(routes, [](const std::string& route) { return route.find("//") != route.npos; });
  EXPECT_EQ(DescribedRoutes(), std::set<std::string>(routes.begin(), routes.end()));
}

// Spec: 001-72
TEST_F(ApiTest, TheReadmeSaysWhatTheWorkspaceAgreesTo) {
  const std::string readme = ReadFile("README.md");
  EXPECT_THAT(readme, HasSubstr("a risk for the privacy of everybody in the workspace"));
  EXPECT_THAT(readme, HasSubstr("before you set `archive.consent = true`"));
}

// A metric that nobody can look up is no help at night.
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

}  // namespace
}  // namespace tidemark::testing
