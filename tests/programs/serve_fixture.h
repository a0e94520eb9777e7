// A folder in which `tidemark serve` runs, and commands beside it.
//
//   TEST_F(SomeTest, Answers) {
//     Serve();
//     EXPECT_EQ(Get("/healthz"), 200);
//   }
//
// The server listens on an address of 127.0.0.0/8 that only this process uses, so that after a
// restart it gets the same port.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/random.h"
#include "base/sleeper.h"
#include "http/client.h"
#include "tests/programs/background_program.h"
#include "tests/support/temp_folder.h"

namespace tidemark::testing {

// The exit codes of the program.
inline constexpr int kOk = 0;
inline constexpr int kNotMet = 1;
inline constexpr int kInvalid = 2;
inline constexpr int kEnvironment = 3;

// The signing secret and the bot token of `tidemark demo`.
inline constexpr char kDemoSecret[] = "00000000000000000000000000000000";
inline constexpr char kDemoToken[] = "xoxb-demo";

class ServeFixture : public ::testing::Test {
 protected:
  using Words = std::vector<std::string>;

  ServeFixture();

  // The environment with archive.consent = true, unless it sets another value.
  static Words WithConsent(Words environment);
  // Runs a command in the folder to its end.
  Outcome Run(const Words& arguments, const Words& environment = {}) const;
  // The same for a command that must succeed. Returns its output.
  std::string Do(const Words& arguments, const Words& environment = {}) const;

  // Starts `tidemark serve` with these settings and returns when it serves, or when it ended. The
  // settings stay for later calls that give none.
  void Serve();
  void Serve(const Words& arguments, const Words& environment = {});
  // Tells it to stop and returns its exit code.
  int StopServer();
  void KillServer();

  // A token of the API, with its name. A server that runs knows it when this returns.
  std::string CreateToken(const std::string& name, const Words& more = {});
  // The answer, and its status alone; without a token and with one.
  http::Response Ask(const std::string& path, const std::string& token = "");
  int Get(const std::string& path, const std::string& token = "");

  // Variables that make a server or the doctor use this address as Slack.
  static Words SlackAt(const std::string& api_url);

  // The event ids in the keys of a table's items. No process may have the folder open.
  std::vector<std::string> EventIds(const std::string& table) const;

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string url() const { return "http://" + address_; }

  TempFolder folder_;
  SystemClock clock_;
  SystemSleeper sleeper_;
  SystemRandom random_;
  http::CurlClient client_{{}, &clock_, &sleeper_};
  std::string own_host_;      // "127.1.2.3"
  int most_descriptors_ = 0;  // Of the servers that are started from now on; 0: no limit.
  std::string address_;       // Where the server listens; with the actual port after the start.
  std::unique_ptr<BackgroundProgram> server_;

 private:
  Words arguments_;
  Words environment_;
};

std::vector<std::string> LinesOf(const std::string& text);

// The text or the number at the end of these names, in JSON that must have it.
std::string TextAt(const std::string& json, std::initializer_list<std::string_view> names);
int64_t NumberAt(const std::string& json, std::string_view name);

}  // namespace tidemark::testing
