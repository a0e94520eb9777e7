#include "servers/demo/pretend_slack.h"

#include <future>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/sleeper.h"
#include "http/client.h"
#include "http/url.h"

namespace tidemark::demo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kPretendSlackToken[] = "xoxb-not-a-real-token";
constexpr char kForm[] = "application/x-www-form-urlencoded";

// The real server on loopback and the real client.
class PretendSlackTest : public ::testing::Test {
 protected:
  PretendSlackTest() { StartWithScopes(DefaultScopes()); }

  void StartWithScopes(std::vector<std::string> scopes) {
    slack_ = PretendSlack::Start({.bot_token = Secret(std::string(kPretendSlackToken)),
                                  .scopes = std::move(scopes)},
                                 workspace_, {.clock = &clock_, .random = &random_})
                 .value();
  }

  http::OutgoingRequest MakeGet(std::string_view method_and_query) {
    http::OutgoingRequest request = {.url =
                                         slack_->api_url() + "/" + std::string(method_and_query)};
    request.headers.Add("Authorization", "Bearer " + std::string(kPretendSlackToken));
    return request;
  }
  http::OutgoingRequest MakePost(std::string_view method, std::string body) {
    http::OutgoingRequest request = MakeGet(method);
    request.method = http::Method::kPost;
    request.headers.Add("Content-Type", kForm);
    request.body = std::move(body);
    return request;
  }

  http::Response Send(const http::OutgoingRequest& request) {
    http::Exchange exchange =
        client_.Send(request, Deadline::After(clock_, std::chrono::seconds(20)));
    EXPECT_EQ(exchange.outcome, http::Outcome::kAnswered) << exchange.detail;
    return std::move(exchange.response);
  }
  std::string Get(std::string_view method_and_query) {
    return Send(MakeGet(method_and_query)).body;
  }

  const User& DeactivatedUser() const {
    return *std::ranges::find(workspace_.users, true, &User::deactivated);
  }
  const File& HostedFile() const {
    return *std::ranges::find(workspace_.files, "", &File::external_url);
  }
  const std::string& FirstUser() const { return workspace_.users[0].id; }
  const std::string& FirstChannel() const { return workspace_.channels[0].id; }

  SystemClock clock_;
  SystemSleeper sleeper_;
  SeededRandom random_{7};
  Workspace workspace_ = MakeWorkspace({.seed = 7});
  std::unique_ptr<PretendSlack> slack_;
  http::CurlClient client_{{}, &clock_, &sleeper_};
};

constexpr char kOk[] = "{\"ok\":true";

TEST_F(PretendSlackTest, KnowsTheTeamThePeopleAndTheChannels) {
  EXPECT_THAT(Get("team.info"), HasSubstr("\"id\":\"" + workspace_.team.id + "\""));
  EXPECT_THAT(Get("users.info?user=" + FirstUser()), HasSubstr("\"id\":\"" + FirstUser() + "\""));
  for (const Channel& channel : workspace_.channels) {
    // The manifest does not ask for direct messages.
    const bool is_direct =
        channel.kind == ChannelKind::kDirect || channel.kind == ChannelKind::kGroupDirect;
    EXPECT_THAT(Get("conversations.info?channel=" + channel.id),
                HasSubstr(is_direct ? "missing_scope" : "\"id\":\"" + channel.id + "\""));
  }
  EXPECT_THAT(Get("users.info?user=" + DeactivatedUser().id), HasSubstr("\"deleted\":true"));
  EXPECT_THAT(Get("users.info?user=U0NOBODY"), HasSubstr("user_not_found"));
  EXPECT_THAT(Get("conversations.info?channel=C0NOWHERE"), HasSubstr("channel_not_found"));
  EXPECT_THAT(Get("team.info?team=T0OTHER"), HasSubstr("team_not_found"));
  EXPECT_THAT(slack_->faults(), IsEmpty());
  EXPECT_EQ(slack_->calls("users.info"), 3u);
}

TEST_F(PretendSlackTest, TakesItsParametersByPostAsWell) {
  EXPECT_THAT(Send(MakePost("users.info", "user=" + FirstUser())).body, HasSubstr(kOk));
  EXPECT_THAT(Send(MakePost("auth.test", "")).body, HasSubstr(kOk));
  EXPECT_THAT(slack_->faults(), IsEmpty());
}

TEST_F(PretendSlackTest, ReportsTheOwnerAndTheScopesOfAToken) {
  StartWithScopes({"users:read", "team:read"});
  const http::Response response = Send(MakeGet("auth.test"));
  EXPECT_THAT(response.body, HasSubstr("\"user_id\":\"" + workspace_.bot_user + "\""));
  EXPECT_EQ(response.headers.Find("X-OAuth-Scopes"), "team:read,users:read");
}

// A missing scope is reported as Slack does it. The doctor and the gate must understand that.
TEST_F(PretendSlackTest, NamesTheScopeThatIsMissing) {
  StartWithScopes({"team:read"});
  EXPECT_THAT(Get("users.info?user=" + FirstUser()),
              HasSubstr(R"("error":"missing_scope","needed":"users:read")"));
  EXPECT_THAT(Get("conversations.info?channel=" + FirstChannel()), HasSubstr("channels:read"));
  EXPECT_THAT(slack_->faults(), IsEmpty());
}

// A page may be shorter than asked for, and even empty, and still not be the last one.
TEST_F(PretendSlackTest, CutsShortAndEmptyPages) {
  slack_ = PretendSlack::Start({.bot_token = Secret(std::string(kPretendSlackToken)),
                                .pages = {.largest = 50, .with_empty = true}},
                               workspace_, {.clock = &clock_, .random = &random_})
               .value();
  std::vector<size_t> sizes;
  std::string cursor;
  do {
    const auto page = JsonDocument::Parse(Get("users.list?limit=200&cursor=" + cursor)).value();
    sizes.push_back(page.root().Find("members")->Size());
    cursor = TextIn(*page.root().Find("response_metadata"), "next_cursor");
  } while (!cursor.empty());
  EXPECT_THAT(sizes, ElementsAre(50, 0, 50, 0, 22));
  EXPECT_THAT(slack_->faults(), IsEmpty());
}

// Each method has its own limit, and the answer says how long to wait.
TEST_F(PretendSlackTest, LimitsTheCallsOfAMinute) {
  slack_ = PretendSlack::Start({.bot_token = Secret(std::string(kPretendSlackToken)),
                                .calls_a_minute = {{"users.list", 2}}},
                               workspace_, {.clock = &clock_, .random = &random_})
               .value();
  for (int i = 0; i < 2; ++i) EXPECT_THAT(Get("users.list?limit=1"), HasSubstr(kOk));
  const http::Response limited = Send(MakeGet("users.list?limit=1"));
  EXPECT_EQ(limited.status, 429);
  EXPECT_GT(std::stoi(std::string(limited.headers.Find("Retry-After").value())), 30);
  EXPECT_EQ(slack_->limited(), 1u);
  EXPECT_THAT(Get("team.info"), HasSubstr(kOk));
}

struct OddCase {
  std::string what;
  http::OutgoingRequest request;
  std::string error;
};

// Slack tolerates all of these, but a correct client does not make them.
TEST_F(PretendSlackTest, RefusesAndNotesWhatSlackWouldForgive) {
  const std::string info = "users.info?user=" + FirstUser();
  std::vector<OddCase> cases = {
      {"unknown method", MakeGet("users.inform"), "unknown_method"},
      {"unknown parameter", MakeGet(info + "&verbose=1"), "invalid_arg_name"},
      {"token as parameter", MakeGet(info + "&token=x"), "invalid_arg_name"},
      {"repeated parameter", MakeGet(info + "&user=U1"), "invalid_form_data"},
      {"missing parameter", MakeGet("users.info"), "invalid_arguments"},
      {"impossible user", MakeGet("users.info?user=u1"), "user_not_found"},
      {"impossible channel", MakeGet("conversations.info?channel=U123"), "channel_not_found"},
      {"bad limit", MakeGet("users.list?limit=0"), "invalid_limit"},
      {"bad cursor", MakeGet("users.list?cursor=zzz"), "invalid_cursor"},
      {"bad type", MakeGet("conversations.list?types=fish"), "invalid_types"}};
  http::OutgoingRequest request = MakeGet(info);
  request.headers.clear();
  cases.push_back({"no token", request, "not_authed"});
  request.headers.Set("Authorization", "Basic abc");
  cases.push_back({"not bearer", request, "invalid_auth"});
  request.headers.Set("Authorization", "Bearer xoxb-other");
  cases.push_back({"other token", request, "invalid_auth"});
  request = MakePost("users.info", "{\"user\":\"" + FirstUser() + "\"}");
  request.headers.Set("Content-Type", "application/json");
  cases.push_back({"JSON", request, "invalid_post_type"});
  request = MakePost(info, "include_locale=1");
  cases.push_back({"address and body", request, "invalid_form_data"});
  request = MakeGet(info);
  request.method = http::Method::kDelete;
  cases.push_back({"DELETE", request, "invalid_http_method"});

  size_t faults = 0;
  for (const OddCase& odd : cases) {
    EXPECT_THAT(Send(odd.request).body, HasSubstr("{\"ok\":false,\"error\":\"" + odd.error + "\""))
        << odd.what;
    EXPECT_EQ(slack_->faults().size(), ++faults) << odd.what;
  }
}

TEST_F(PretendSlackTest, FailsAsOftenAsRequested) {
  slack_->Fail("team.info",
               {.kind = FailureKind::kRateLimited, .retry_after = std::chrono::seconds(7)});
  slack_->Fail("team.info", {.kind = FailureKind::kServerError}, 2);
  slack_->Fail("team.info", {.kind = FailureKind::kGarbage});
  slack_->Fail("team.info", {.kind = FailureKind::kError, .error = "fatal_error"});
  const http::Response limited = Send(MakeGet("team.info"));
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.headers.Find("Retry-After"), "7");
  EXPECT_EQ(Send(MakeGet("team.info")).status, 500);
  EXPECT_EQ(Send(MakeGet("team.info")).status, 500);
  EXPECT_FALSE(JsonDocument::Parse(Get("team.info")));
  EXPECT_THAT(Get("team.info"), HasSubstr("fatal_error"));
  EXPECT_THAT(Get("team.info"), HasSubstr(kOk));
  EXPECT_EQ(slack_->calls("team.info"), 6u);
  EXPECT_THAT(slack_->faults(), IsEmpty());
}

TEST_F(PretendSlackTest, RecoversFromFailuresThatHaveNotCome) {
  slack_->Fail("team.info", {.kind = FailureKind::kServerError}, 1'000'000);
  EXPECT_EQ(Send(MakeGet("team.info")).status, 500);
  slack_->Recover();
  EXPECT_THAT(Get("team.info"), HasSubstr(kOk));
}

// A caller must compare the id in the answer with the one that it asked for.
TEST_F(PretendSlackTest, AnswersForSomebodyElseOnRequest) {
  slack_->Fail("users.info", {.kind = FailureKind::kWrongId});
  const std::string body = Get("users.info?user=" + FirstUser());
  EXPECT_THAT(body, HasSubstr(kOk));
  EXPECT_EQ(body.find("\"id\":\"" + FirstUser() + "\""), std::string::npos);
}

TEST_F(PretendSlackTest, HangsUntilItIsReleased) {
  slack_->Fail("team.info", {.kind = FailureKind::kHang});
  std::future<std::string> answer =
      std::async(std::launch::async, [&] { return Get("team.info"); });
  slack_->AwaitHanging(1);
  // Other calls are answered in the meantime.
  EXPECT_THAT(Get("auth.test"), HasSubstr(kOk));
  slack_->Release();
  EXPECT_THAT(answer.get(), HasSubstr(kOk));
}

TEST_F(PretendSlackTest, ReleasesWhatHangsWhenItStops) {
  slack_->Fail("team.info", {.kind = FailureKind::kHang});
  std::future<std::string> answer =
      std::async(std::launch::async, [&] { return Get("team.info"); });
  slack_->AwaitHanging(1);
  slack_->Stop();
  EXPECT_THAT(answer.get(), HasSubstr(kOk));
}

// Changes of the workspace that the gate must notice at once.
TEST_F(PretendSlackTest, ChangesTheWorkspaceUnderItsCallers) {
  slack_->Deactivate(FirstUser());
  EXPECT_THAT(Get("users.info?user=" + FirstUser()), HasSubstr("\"deleted\":true"));
  slack_->Archive(FirstChannel());
  EXPECT_THAT(Get("conversations.info?channel=" + FirstChannel()),
              HasSubstr("\"is_archived\":true"));
  slack_->Delete(FirstChannel());
  EXPECT_THAT(Get("conversations.info?channel=" + FirstChannel()), HasSubstr("channel_not_found"));
  slack_->Apply({.channels = {{.id = "C0NEW", .name = "new"}}});
  EXPECT_THAT(Get("conversations.info?channel=C0NEW"), HasSubstr(kOk));
  slack_->RevokeToken();
  EXPECT_THAT(Get("auth.test"), HasSubstr("token_revoked"));
  EXPECT_THAT(slack_->faults(), IsEmpty());
}

// Pre-warming reads the lists to their end.
TEST_F(PretendSlackTest, ListsPeopleAndChannelsPageByPage) {
  std::set<std::string> ids;
  std::string cursor;
  do {
    const JsonDocument page =
        JsonDocument::Parse(Get("users.list?limit=50&cursor=" + cursor)).value();
    for (const Json user : page.root().Find("members")->Elements()) {
      ids.emplace(*user.Find("id")->AsString());
    }
    cursor = *page.root().Find("response_metadata")->Find("next_cursor")->AsString();
  } while (!cursor.empty());
  EXPECT_EQ(ids.size(), workspace_.users.size());

  const JsonDocument page =
      JsonDocument::Parse(
          Get("conversations.list?types=public_channel,private_channel&exclude_archived=true"))
          .value();
  EXPECT_GT(page.root().Find("channels")->Size(), 20u);
  EXPECT_THAT(slack_->faults(), IsEmpty());
}

TEST_F(PretendSlackTest, ServesFilesFromWhereItSaysTheyAre) {
  const JsonDocument info = JsonDocument::Parse(Get("files.info?file=" + HostedFile().id)).value();
  http::OutgoingRequest request = MakeGet("");
  request.url = *info.root().Find("file")->Find("url_private_download")->AsString();
  const http::Response response = Send(request);
  EXPECT_EQ(response.headers.Find("Content-Type"), HostedFile().mimetype);
  EXPECT_EQ(response.body, ContentOf(HostedFile()));
  EXPECT_THAT(slack_->faults(), IsEmpty());
  EXPECT_EQ(slack_->calls(kDownloads), 1u);
}

// Slack's answer is 200 with a sign-in page in place of the file.
TEST_F(PretendSlackTest, AnswersDownloadsWithoutATokenWithAPageToLogIn) {
  http::OutgoingRequest request = {.url = slack_->files_url() + "/" + HostedFile().id + "/x"};
  const http::Response response = Send(request);
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(std::string(*response.headers.Find("Content-Type")), HasSubstr("text/html"));
  EXPECT_THAT(slack_->faults(), ElementsAre(HasSubstr("without Authorization")));
}

// Every known way in which a download ends without the file.
TEST_F(PretendSlackTest, FailsDownloadsInManyWays) {
  http::OutgoingRequest request = MakeGet("");
  request.url =
      slack_->files_url() + "/" + HostedFile().id + "/" + http::PercentEncode(HostedFile().name);
  const std::string content = ContentOf(HostedFile());
  for (const FailureKind kind : {FailureKind::kLoginRedirect, FailureKind::kRedirectLoop,
                                 FailureKind::kShortBody, FailureKind::kWrongType}) {
    slack_->Fail(kDownloads, {.kind = kind});
  }
  EXPECT_THAT(std::string(*Send(request).headers.Find("Location")), HasSubstr("localhost"));
  EXPECT_THAT(std::string(*Send(request).headers.Find("Location")), HasSubstr(HostedFile().id));
  EXPECT_EQ(Send(request).body, content.substr(0, content.size() / 2));
  EXPECT_THAT(std::string(*Send(request).headers.Find("Content-Type")), HasSubstr("text/html"));
  EXPECT_EQ(Send(request).body, content);
  EXPECT_THAT(slack_->faults(), IsEmpty());
  request.url += "?token=x";
  Send(request);
  request.url = "http://" + slack_->address() + "/signin";
  Send(request);
  EXPECT_THAT(slack_->faults(), ElementsAre(HasSubstr("query"), HasSubstr("token is brought")));
}

TEST_F(PretendSlackTest, ExchangesRefreshTokensOnce) {
  slack_ = PretendSlack::Start({.bot_token = Secret(std::string(kPretendSlackToken)),
                                .refresh_token = Secret("xoxe-1-first"),
                                .client_id = "1.2",
                                .client_secret = Secret("hush")},
                               workspace_, {.clock = &clock_, .random = &random_})
               .value();
  http::OutgoingRequest request = MakePost(
      "oauth.v2.access",
      "grant_type=refresh_token&client_id=1.2&client_secret=hush&refresh_token=xoxe-1-first");
  request.headers = {{"Content-Type", kForm}};
  EXPECT_THAT(Send(request).body, HasSubstr("\"access_token\":\"xoxe.xoxb-1-pretend-1\""));
  EXPECT_THAT(Send(request).body, HasSubstr("invalid_refresh_token"));
  EXPECT_THAT(slack_->faults(), IsEmpty());
  // Both the new and the old token are valid.
  EXPECT_THAT(Get("auth.test"), HasSubstr(kOk));
  http::OutgoingRequest with_new = MakeGet("auth.test");
  with_new.headers.Set("Authorization", "Bearer xoxe.xoxb-1-pretend-1");
  EXPECT_THAT(Send(with_new).body, HasSubstr(kOk));
}

TEST_F(PretendSlackTest, SaysThatAnAddressIsTaken) {
  const auto second = PretendSlack::Start({.listen = slack_->address()}, workspace_,
                                          {.clock = &clock_, .random = &random_});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kInUse);
}

}  // namespace
}  // namespace tidemark::demo
