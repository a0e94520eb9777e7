#include "tests/programs/serve_fixture.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "base/check.h"

namespace tidemark::testing {

namespace {

std::string OwnHost() {
  const pid_t pid = getpid();
  return fmt::format("127.{}.{}.{}", 1 + (pid >> 16) % 200, (pid >> 8) % 256, pid % 256);
}

}  // namespace

ServeFixture::Words ServeFixture::WithConsent(Words environment) {
  const auto says_so = [](const std::string& variable) {
    return variable.starts_with("TIDEMARK_ARCHIVE_CONSENT=");
  };
  if (std::none_of(environment.begin(), environment.end(), says_so)) {
    environment.push_back("TIDEMARK_ARCHIVE_CONSENT=true");
  }
  return environment;
}

ServeFixture::ServeFixture() : own_host_(OwnHost()), address_(own_host_ + ":0") {}

Outcome ServeFixture::Run(const Words& arguments, const Words& environment) const {
  return RunToEnd(
      {.arguments = arguments, .folder = folder_.path(), .environment = WithConsent(environment)});
}

std::string ServeFixture::Do(const Words& arguments, const Words& environment) const {
  const Outcome outcome = Run(arguments, environment);
  EXPECT_EQ(outcome.exit_code, kOk) << outcome.err;
  return outcome.out;
}

void ServeFixture::Serve() { Serve(arguments_, environment_); }

void ServeFixture::Serve(const Words& arguments, const Words& environment) {
  arguments_ = arguments;
  environment_ = environment;
  Words all = {"serve", "--listen", address_};
  all.insert(all.end(), arguments.begin(), arguments.end());
  server_ =
      std::make_unique<BackgroundProgram>(BackgroundRun{.arguments = std::move(all),
                                                        .folder = folder_.path(),
                                                        .environment = WithConsent(environment),
                                                        .most_descriptors = most_descriptors_});
  const auto address = server_->AwaitError("serving address=");
  ASSERT_TRUE(address) << server_->err();
  address_ = *address;
}

int ServeFixture::StopServer() {
  server_->Send(SIGTERM);
  return server_->AwaitExit();
}

void ServeFixture::KillServer() {
  server_->Send(SIGKILL);
  EXPECT_EQ(server_->AwaitExit(), -SIGKILL);
}

std::string ServeFixture::CreateToken(const std::string& name, const Words& more) {
  Words words = {"token", "create", name};
  words.insert(words.end(), more.begin(), more.end());
  std::string token = Do(words);
  while (token.ends_with('\n')) token.pop_back();
  if (server_ == nullptr) return token;
  const http::OutgoingRequest request{.url = url() + "/metrics",
                                      .headers = {{"Authorization", "Bearer " + token}}};
  const Deadline deadline = Deadline::After(clock_, std::chrono::seconds(30));
  while (client_.Send(request, deadline).response.status == 401) std::this_thread::yield();
  return token;
}

http::Response ServeFixture::Ask(const std::string& path, const std::string& token) {
  http::OutgoingRequest request{.url = url() + path};
  if (!token.empty()) request.headers.Add("Authorization", "Bearer " + token);
  const http::Exchange exchange =
      client_.Send(request, Deadline::After(clock_, std::chrono::seconds(30)));
  EXPECT_EQ(exchange.outcome, http::Outcome::kAnswered) << exchange.detail;
  return exchange.response;
}

int ServeFixture::Get(const std::string& path, const std::string& token) {
  return Ask(path, token).status;
}

ServeFixture::Words ServeFixture::SlackAt(const std::string& api_url) {
  return {"TIDEMARK_SLACK_API_URL=" + api_url, std::string("SLACK_SIGNING_SECRET=") + kDemoSecret,
          std::string("SLACK_BOT_TOKEN=") + kDemoToken};
}

std::vector<std::string> ServeFixture::EventIds(const std::string& table) const {
  std::vector<std::string> ids;
  for (const std::string& line :
       LinesOf(Do({"tables", "scan", table, "--projection", "event_key"}))) {
    const std::string key = TextAt(line, {"event_key", "S"});
    // Quarantine's keys have the team in front.
    ids.push_back(key.substr(key.find(':') + 1));
  }
  return ids;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string TextAt(const std::string& json, std::initializer_list<std::string_view> names) {
  const JsonDocument document = JsonDocument::Parse(json).value();
  std::optional<Json> value = document.root();
  for (std::string_view name : names) {
    if (value) value = value->Find(name);
  }
  if (value && value->AsString()) return std::string(*value->AsString());
  ADD_FAILURE() << "no such text in " << json;
  return "";
}

int64_t NumberAt(const std::string& json, std::string_view name) {
  const auto document = JsonDocument::Parse(json);
  const auto value = document ? document->root().Find(name) : std::nullopt;
  if (value && value->AsInt()) return *value->AsInt();
  ADD_FAILURE() << "no number '" << name << "' in " << json;
  return -1;
}

}  // namespace tidemark::testing
