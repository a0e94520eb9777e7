#include "slack/download.h"

#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hashing.h"
#include "base/random.h"
#include "tests/support/manual_time.h"
#include "tests/support/scripted_server.h"
#include "tests/support/temp_folder.h"

namespace tidemark::slack {
namespace {

using http::ScriptedServer;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kToken[] = "xoxb-canary-5Qy2";
constexpr char kLoginPage[] = "<!DOCTYPE html><html><title>Sign in</title></html>";

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Answers every request of every connection in the same way.
ScriptedServer::Script Always(std::string body, std::string status = "200 OK",
                              std::string headers = "Content-Type: image/png\r\n") {
  return [=](ScriptedServer::Connection& connection) {
    while (!connection.ReadRequest().empty()) connection.Answer(body, status, headers);
  };
}

ScriptedServer::Script RedirectTo(const std::string& url) {
  return Always("", "302 Found", "Location: " + url + "\r\n");
}

std::string OriginOf(const ScriptedServer& server) {
  return fmt::format("http://127.0.0.1:{}", server.port());
}

// The real client, and servers on loopback that are configured as origins.
struct DownloadTest : ::testing::Test {
  DownloadResult Get(const ScriptedServer& server, DownloadRequest request,
                     DownloadOptions options = {}) {
    options.origins.push_back(OriginOf(server));
    if (request.url.empty()) request.url = server.url("/files/F1/a.png?t=query-canary");
    if (request.mimetype.empty()) request.mimetype = "image/png";
    request.to = path();
    Downloader downloader(options, &client);
    return downloader.Download(request, token, Deadline::After(clock, seconds(30)));
  }
  DownloadError Fail(const ScriptedServer& server, DownloadRequest request = {.size = 5},
                     DownloadOptions options = {}) {
    const DownloadResult result = Get(server, std::move(request), std::move(options));
    const auto* error = std::get_if<DownloadError>(&result);
    if (error == nullptr) {
      ADD_FAILURE() << "it was taken for the file";
      return {};
    }
    EXPECT_THAT(error->reason, Not(HasSubstr("canary")));
    return *error;
  }
  std::string path() const { return folder.path() + "/file"; }

  TempFolder folder;
  ManualClock clock;
  ManualSleeper sleeper{&clock};
  http::CurlClient client{{}, &clock, &sleeper};
  const Secret token{std::string(kToken)};
};

TEST_F(DownloadTest, FetchesAFileWithTheToken) {
  ScriptedServer server(Always("bytes"));
  const DownloadResult result = Get(server, {.size = 5});
  const auto& downloaded = std::get<Downloaded>(result);
  EXPECT_EQ(downloaded.size, 5u);
  EXPECT_EQ(downloaded.sha256, ToHex(Sha256("bytes")));
  EXPECT_EQ(downloaded.content_type, "image/png");
  EXPECT_EQ(ReadAll(path()), "bytes");
  EXPECT_THAT(server.requests(),
              ElementsAre(HasSubstr("Authorization: Bearer " + std::string(kToken) + "\r\n")));
}

// Nothing of the old content may remain.
TEST_F(DownloadTest, TruncatesTheLocalFileFirst) {
  std::ofstream(path()) << "something longer of before";
  ScriptedServer server(Always("bytes"));
  Get(server, {});
  EXPECT_EQ(ReadAll(path()), "bytes");
}

// Slack refuses a download with status 200 and a sign-in page.
TEST_F(DownloadTest, RefusesASignInPage) {
  for (const char* type : {"text/html", "Text/HTML; charset=utf-8", "application/xhtml+xml"}) {
    ScriptedServer server(Always(kLoginPage, "200 OK", fmt::format("Content-Type: {}\r\n", type)));
    // Even if the page is as long as the file, or longer, or the file's size is unknown.
    for (const int64_t size : {int64_t{sizeof(kLoginPage) - 1}, int64_t{5}, int64_t{0}}) {
      const DownloadError error = Fail(server, {.size = size});
      EXPECT_FALSE(error.retryable);
      EXPECT_THAT(error.reason, HasSubstr("sign-in page")) << type << size;
    }
  }
}

TEST_F(DownloadTest, AcceptsAnHtmlFileOnlyWithItsExactSize) {
  ScriptedServer server(Always(kLoginPage, "200 OK", "Content-Type: text/html\r\n"));
  const int64_t size = sizeof(kLoginPage) - 1;
  EXPECT_TRUE(
      std::holds_alternative<Downloaded>(Get(server, {.size = size, .mimetype = "text/html"})));
  EXPECT_TRUE(Fail(server, {.size = size + 1, .mimetype = "text/html"}).retryable);
  EXPECT_FALSE(Fail(server, {.size = 0, .mimetype = "text/html"}).retryable);
}

TEST_F(DownloadTest, RefusesARedirectToASignInPage) {
  ScriptedServer login(Always(kLoginPage, "200 OK", "Content-Type: text/html\r\n"));
  ScriptedServer server(RedirectTo(login.url("/?redir=files&t=query-canary")));
  const DownloadError error = Fail(server);
  EXPECT_FALSE(error.retryable);
  EXPECT_THAT(error.reason, HasSubstr(OriginOf(login)));
  EXPECT_THAT(login.requests(), IsEmpty());
}

// The target of a redirect is checked too. Slack redirects from one of its hosts to another.
TEST_F(DownloadTest, FollowsRedirectsToAllowedOrigins) {
  ScriptedServer second(Always("bytes"));
  ScriptedServer first(RedirectTo(second.url("/x")));
  const DownloadResult result = Get(first, {.size = 5}, {.origins = {OriginOf(second)}});
  ASSERT_TRUE(std::holds_alternative<Downloaded>(result));
  EXPECT_THAT(second.requests(), ElementsAre(HasSubstr(kToken)));
}

TEST_F(DownloadTest, FollowsRelativeRedirects) {
  ScriptedServer server([](ScriptedServer::Connection& connection) {
    connection.ReadRequest();
    connection.Answer("", "307 Temporary Redirect", "Location: ../other\r\n");
    connection.ReadRequest();
    connection.Answer("bytes");
  });
  EXPECT_TRUE(std::holds_alternative<Downloaded>(Get(server, {.size = 5})));
  EXPECT_THAT(server.requests()[1], HasSubstr("GET /files/other HTTP"));
}

TEST_F(DownloadTest, GivesUpOnARedirectLoop) {
  ScriptedServer server(RedirectTo("/again"));
  const DownloadError error = Fail(server);
  EXPECT_FALSE(error.retryable);
  EXPECT_THAT(error.reason, HasSubstr("too many redirects"));
  EXPECT_THAT(server.requests(), SizeIs(4));
}

TEST_F(DownloadTest, RefusesARedirectWithoutAValidLocation) {
  ScriptedServer server(Always("", "302 Found", ""));
  EXPECT_FALSE(Fail(server, {.size = 5}, {.max_redirects = 1}).retryable);
  ScriptedServer odd(RedirectTo("ftp://host/file"));
  EXPECT_THAT(Fail(odd).reason, HasSubstr("URL is not valid"));
}

TEST_F(DownloadTest, RefusesAShortBody) {
  ScriptedServer whole(Always("byte"));
  EXPECT_TRUE(Fail(whole).retryable);
  ScriptedServer torn([](ScriptedServer::Connection& connection) {
    connection.ReadRequest();
    connection.Send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nby");
  });
  EXPECT_TRUE(Fail(torn).retryable);
  EXPECT_TRUE(Fail(torn, {.size = 0}).retryable);
}

TEST_F(DownloadTest, RefusesALongBody) {
  ScriptedServer server(Always("bytes!"));
  EXPECT_FALSE(Fail(server).retryable);
  // It is not read to its end.
  ScriptedServer huge(Always(std::string(2 << 20, 'x')));
  EXPECT_FALSE(Fail(huge).retryable);
  EXPECT_LT(ReadAll(path()).size(), size_t{1} << 20);
}

TEST_F(DownloadTest, RefusesFilesOverTheSizeLimit) {
  ScriptedServer server(Always("bytes"));
  EXPECT_FALSE(Fail(server, {.size = 5}, {.max_bytes = 4}).retryable);
  EXPECT_THAT(server.requests(), IsEmpty());
  EXPECT_FALSE(Fail(server, {.size = 0}, {.max_bytes = 4}).retryable);
}

TEST_F(DownloadTest, SaysWhichStatusesMayBeRetried) {
  for (const char* status : {"408 Late", "429 Slow Down", "500 Oops", "502 Bad", "503 Away"}) {
    ScriptedServer server(Always("bytes", status));
    EXPECT_TRUE(Fail(server).retryable) << status;
  }
  for (const char* status : {"204 Empty", "206 Part", "304 Same", "400 Bad", "401 Who", "403 No",
                             "404 None", "410 Gone"}) {
    ScriptedServer server(Always("", status));
    EXPECT_FALSE(Fail(server, {.size = 0}).retryable) << status;
  }
}

TEST_F(DownloadTest, SaysThatATimeoutMayBeRetried) {
  ScriptedServer server([](ScriptedServer::Connection& connection) {
    while (!connection.ReadRequest().empty()) {
    }
  });
  Downloader downloader({.origins = {OriginOf(server)}}, &client);
  const DownloadResult result =
      downloader.Download({.url = server.url(), .to = path(), .size = 5}, token,
                          Deadline::After(clock, milliseconds(50)));
  EXPECT_TRUE(std::get<DownloadError>(result).retryable);
}

TEST_F(DownloadTest, SaysThatAFailedWriteMayBeRetried) {
  ScriptedServer server(Always("bytes"));
  Downloader downloader({.origins = {OriginOf(server)}}, &client);
  const DownloadResult result =
      downloader.Download({.url = server.url(), .to = folder.path() + "/no/such/folder", .size = 5},
                          token, Deadline::After(clock, seconds(30)));
  EXPECT_TRUE(std::get<DownloadError>(result).retryable);
  EXPECT_THAT(server.requests(), IsEmpty());
}

// A client that answers with the test's redirects, and records which URLs got the token.
class PretendInternet final : public http::Client {
 public:
  std::vector<http::Exchange> SendAll(std::span<const http::OutgoingRequest> requests,
                                      const Deadline&) override {
    const http::OutgoingRequest& request = requests.front();
    asked.push_back(request.url);
    judged.push_back(request.public_addresses_only);
    if (request.headers.Find("Authorization")) with_token.push_back(request.url);
    http::Exchange exchange{.outcome = http::Outcome::kAnswered};
    const auto next = redirects.find(request.url);
    exchange.response.status = next == redirects.end() ? 200 : 302;
    if (next != redirects.end()) exchange.response.headers.Add("Location", next->second);
    if (next == redirects.end()) request.sink("bytes");
    return {std::move(exchange)};
  }

  std::map<std::string, std::string> redirects;
  std::vector<std::string> asked;
  std::vector<std::string> with_token;
  std::vector<bool> judged;
};

struct OriginTest : ::testing::Test {
  bool Fetch(const std::string& url, DownloadOptions options = {}) {
    Downloader downloader(std::move(options), &internet);
    return std::holds_alternative<Downloaded>(
        downloader.Download({.url = url, .to = folder.path() + "/file", .size = 5},
                            Secret(std::string(kToken)), Deadline::After(clock, seconds(30))));
  }

  TempFolder folder;
  ManualClock clock;
  PretendInternet internet;
};

TEST_F(OriginTest, AllowsSlacksOwnHosts) {
  EXPECT_TRUE(Fetch("https://files.slack.com/files-pri/T1-F1/a.png"));
  EXPECT_TRUE(Fetch("https://FILES-origin.slack.com:443/files-pri/T1-F1/a.png"));
  EXPECT_THAT(internet.judged, Each(true));
}

TEST_F(OriginTest, SendsNothingToOtherOrigins) {
  for (const char* url :
       {"http://files.slack.com/a", "https://files.slack.com:8443/a", "https://slack.com/a",
        "https://evil.slack.com/a", "https://evil-files.slack.com/a",
        "https://files.slack.com.evil.test/a", "https://evilfiles.slack.com/a",
        "https://files.slack.com./a", "https://files.slack.com@evil.test/a",
        "https://user@files.slack.com/a", "https://user:pass@files.slack.com/a",
        "https://drive.example/a", "https://127.0.0.1/a", "https://[::1]/a", "https://2130706433/",
        "https://169.254.169.254/latest/meta-data", "file:///etc/passwd", "", "a b"}) {
    EXPECT_FALSE(Fetch(url)) << url;
  }
  EXPECT_THAT(internet.asked, IsEmpty());
}

// An origin is a scheme, a host and a port. All three must match.
TEST_F(OriginTest, ComparesSchemeHostAndPortOfConfiguredOrigins) {
  const DownloadOptions options = {.origins = {"http://127.0.0.1:9000", "not a url"}};
  EXPECT_TRUE(Fetch("http://127.0.0.1:9000/a", options));
  EXPECT_THAT(internet.judged, ElementsAre(false));
  for (const char* url : {"https://127.0.0.1:9000/a", "http://127.0.0.1:9001/a",
                          "http://127.0.0.2:9000/a", "http://user@127.0.0.1:9000/a"}) {
    EXPECT_FALSE(Fetch(url, options)) << url;
  }
  EXPECT_THAT(internet.asked, SizeIs(1));
}

// Random redirects: the token is sent only to allowed origins.
TEST_F(OriginTest, TheTokenNeverReachesAnOriginOutsideTheAllowList) {
  const std::vector<std::string> origins = {"https://files.slack.com",
                                            "https://files-origin.slack.com",
                                            "http://127.0.0.1:9000",
                                            "http://files.slack.com",
                                            "https://files.slack.com:444",
                                            "https://evil.test",
                                            "https://x.slack.com",
                                            "https://127.0.0.1",
                                            "//evil.test",
                                            "https://u@files.slack.com"};
  const uint64_t seed = 20261115;
  SCOPED_TRACE(fmt::format("seed {}", seed));
  SeededRandom random(seed);
  size_t fetched = 0;
  for (int round = 0; round < 500; ++round) {
    internet.redirects.clear();
    internet.asked.clear();
    const auto page = [&] {
      return origins[random.Below(origins.size())] + fmt::format("/{}", random.Below(4));
    };
    for (int i = 0; i < 40; ++i) {
      if (random.Below(3) > 0) internet.redirects[page()] = page();
    }
    fetched += Fetch(page(), {.origins = {"http://127.0.0.1:9000"}}) ? 1 : 0;
    EXPECT_LE(internet.asked.size(), 4u);
  }
  EXPECT_GT(fetched, 20u);
  for (const std::string& url : internet.with_token) {
    EXPECT_TRUE(url.starts_with("https://files.slack.com/") ||
                url.starts_with("https://files-origin.slack.com/") ||
                url.starts_with("http://127.0.0.1:9000/"))
        << url;
  }
}

}  // namespace
}  // namespace tidemark::slack
