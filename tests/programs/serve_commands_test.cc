// `tidemark serve`, `token` and `manifest` from end to end: the built program on loopback.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "tests/programs/serve_fixture.h"

namespace tidemark::testing {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ServeCommandsTest : public ServeFixture {
 protected:
  // Asks again and again until the answer has this status; false when it never has.
  bool Becomes(int status, const std::string& path, const std::string& token) {
    const Deadline deadline = Deadline::After(clock_, seconds(30));
    while (Get(path, token) != status) {
      if (deadline.HasPassed()) return false;
    }
    return true;
  }
};

mode_t ModeOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

// What Describe says of each setting, without where it came from.
std::vector<std::string> ValuesIn(const std::optional<std::string>& file) {
  const auto settings = Settings::Load(ProgramSettings(), {.file = file});
  EXPECT_TRUE(settings) << settings.error().message;
  std::vector<std::string> values;
  if (!settings) return values;
  for (const std::string& line : LinesOf(settings->Describe())) {
    values.push_back(line.substr(0, line.find("  (")));
  }
  return values;
}

// ---- The first start ----

// A newcomer has a file to change and knows what to do; nothing has changed by its being there.
TEST_F(ServeCommandsTest, LeavesASettingsFileBehindOnTheFirstStart) {
  Serve();
  EXPECT_THAT(server_->err(),
              AllOf(HasSubstr("What to do next"), HasSubstr("tidemark manifest"),
                    HasSubstr("tidemark token create"), HasSubstr("tidemark doctor")));
  EXPECT_EQ(ModeOf(path("tidemark.toml")), 0600u);
  const std::string text = ReadFile(path("tidemark.toml"));
  for (const Setting& setting : ProgramSettings()) {
    EXPECT_THAT(text, HasSubstr("\n#" + std::string(setting.name) + " = "));
  }
  for (const std::string& line : LinesOf(text)) {
    EXPECT_TRUE(line.empty() || line.starts_with('#')) << line;
  }
  EXPECT_EQ(ValuesIn(path("tidemark.toml")), ValuesIn(std::nullopt));
}

// The promise at the top of the file: take the # away.
TEST_F(ServeCommandsTest, WritesSettingsThatMeanTheirDefaultsOnceUncommented) {
  Serve();
  std::ofstream file(path("all.toml"));
  size_t uncommented = 0;
  for (const std::string& line : LinesOf(ReadFile(path("tidemark.toml")))) {
    const bool is_setting = line.starts_with('#') && !line.starts_with("# ");
    file << (is_setting ? line.substr(1) : line) << '\n';
    uncommented += is_setting ? 1 : 0;
  }
  file.close();
  EXPECT_EQ(uncommented, ProgramSettings().size());
  EXPECT_EQ(ValuesIn(path("all.toml")), ValuesIn(std::nullopt));
}

// What somebody wrote into the file is theirs.
TEST_F(ServeCommandsTest, LeavesTheSettingsFileAloneOnLaterStarts) {
  Serve();
  EXPECT_EQ(StopServer(), kOk);
  std::ofstream(path("tidemark.toml"), std::ios::app) << "log.format = \"json\"\n";
  const std::string text = ReadFile(path("tidemark.toml"));
  BackgroundProgram again({.arguments = {"serve", "--listen", own_host_ + ":0"},
                           .folder = folder_.path(),
                           .environment = WithConsent({})});
  EXPECT_TRUE(again.AwaitError("\"serving\"")) << again.err();
  EXPECT_EQ(ReadFile(path("tidemark.toml")), text);
  EXPECT_THAT(again.err(), Not(HasSubstr("What to do next")));
}

// A folder that may not be written to is no reason not to serve.
TEST_F(ServeCommandsTest, StartsWhenTheSettingsFileCannotBeWritten) {
  std::filesystem::create_symlink("nowhere", path("tidemark.toml"));
  Serve();
  EXPECT_EQ(Get("/healthz"), 200);
  EXPECT_THAT(server_->err(),
              AllOf(HasSubstr("tidemark.toml: cannot write"), HasSubstr("going on")));
}

// ---- Tokens ----

// A bot that hears itself answers itself, for ever.
// Spec: 004-35
TEST_F(ServeCommandsTest, WarnsAtTheStartWhenTheBotsOwnIdIsNone) {
  const Words work = {"--work-url", "http://127.0.0.1:9/work"};
  Serve(work);
  EXPECT_THAT(server_->err(), HasSubstr("the bot's own id is not set"));
  StopServer();
  Serve({work[0], work[1], "--slack-bot-id", "BXXXXXXXXX"});
  EXPECT_THAT(server_->err(), HasSubstr("no id"));
  StopServer();
  Serve({work[0], work[1], "--slack-bot-id", "B0123ABCDE"});
  EXPECT_THAT(server_->err(), Not(HasSubstr("own id")));
}

// A probe has no token; everybody else shows one.
TEST_F(ServeCommandsTest, AnswersOnlyHealthWithoutAToken) {
  const std::string token = CreateToken("ci");
  Serve();
  EXPECT_EQ(Get("/healthz"), 200);
  for (const char* path : {"/readyz", "/metrics"}) {
    EXPECT_EQ(Get(path), 401) << path;
    EXPECT_EQ(Get(path, token + "0"), 401) << path;
    EXPECT_EQ(Get(path, token), 200) << path;
  }
}

// A leaked token is worthless within a second, without a restart.
TEST_F(ServeCommandsTest, FollowsTokensThatAreMadeAndRevokedWhileItRuns) {
  Serve();
  EXPECT_EQ(Get("/readyz", "tm_000000000000_0"), 401);
  const std::string token = CreateToken("ci");
  EXPECT_TRUE(Becomes(200, "/readyz", token));
  const std::string list = Do({"token", "list"});
  EXPECT_EQ(TextAt(list, {"name"}), "ci");
  EXPECT_THAT(token, HasSubstr(TextAt(list, {"id"})));
  Do({"token", "revoke", "ci"});
  EXPECT_TRUE(Becomes(401, "/readyz", token));
  EXPECT_THAT(Do({"token", "list"}), IsEmpty());
}

// Whoever reads the file can call nothing.
TEST_F(ServeCommandsTest, KeepsNoTokenInTheFileOfTokens) {
  const std::string token = CreateToken("ci");
  EXPECT_EQ(ModeOf(path("tidemark-tokens")), 0600u);
  EXPECT_THAT(ReadFile(path("tidemark-tokens")),
              AllOf(HasSubstr("ci"), Not(HasSubstr(token.substr(token.rfind('_') + 1)))));
}

// Mistakes with tokens are said in one line.
TEST_F(ServeCommandsTest, RefusesTokensThatMakeNoSense) {
  CreateToken("ci");
  const Outcome twice = Run({"token", "create", "ci"});
  EXPECT_EQ(twice.exit_code, kInvalid);
  EXPECT_THAT(twice.err, HasSubstr("there is a token 'ci' already"));
  EXPECT_THAT(twice.out, IsEmpty());
  const Outcome unknown = Run({"token", "revoke", "cd"});
  EXPECT_EQ(unknown.exit_code, kInvalid);
  EXPECT_THAT(unknown.err, HasSubstr("there is no token 'cd'"));
  EXPECT_EQ(Run({"token", "create", "a b"}).exit_code, kInvalid);
  EXPECT_THAT(LinesOf(Do({"token", "list"})), SizeIs(1));
}

// ---- Starting and stopping ----

// Both ways in which servers are told to stop; what they wrote is there.
TEST_F(ServeCommandsTest, StopsWhenToldAndLeavesAFolderThatOpens) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Serve();
    EXPECT_EQ(Get("/healthz"), 200);
    server_->Send(signal);
    EXPECT_EQ(server_->AwaitExit(), kOk) << server_->err();
    EXPECT_THAT(server_->err(), HasSubstr("info stopped"));
    EXPECT_THAT(Do({"tables", "list"}),
                AllOf(HasSubstr("SlackArchive"), HasSubstr("tidemark-quarantine"),
                      HasSubstr("slack-existence-check-cache"),
                      HasSubstr("slack-classify-bot-processed-events")));
  }
}

// Nobody tidies up after a crash: the same command is enough.
TEST_F(ServeCommandsTest, StartsAgainAfterItWasKilled) {
  const std::string token = CreateToken("ci");
  Serve();
  const std::string address = address_;
  KillServer();
  Serve();
  EXPECT_EQ(address_, address);
  EXPECT_EQ(Get("/readyz", token), 200);
}

// Two servers on one folder would each believe they are alone.
TEST_F(ServeCommandsTest, RefusesAFolderThatAnotherServerHas) {
  Serve();
  const Outcome second = Run({"serve", "--listen", own_host_ + ":0"});
  EXPECT_EQ(second.exit_code, kEnvironment);
  EXPECT_THAT(second.err,
              AllOf(HasSubstr("'tidemark-data': another process has it open"), HasSubstr("stop")));
  EXPECT_EQ(Get("/healthz"), 200);
}

// The command is right; the machine is not ready for it.
TEST_F(ServeCommandsTest, RefusesAPortThatIsTaken) {
  Serve();
  const Outcome second = Run({"serve", "--listen", address_, "--data", "other"});
  EXPECT_EQ(second.exit_code, kEnvironment);
  EXPECT_THAT(second.err, HasSubstr(address_ + " is taken"));
  const Outcome demo = Run({"demo", "--listen", address_});
  EXPECT_EQ(demo.exit_code, kEnvironment);
  EXPECT_THAT(demo.err, HasSubstr(address_ + " is taken"));
}

// ---- Settings ----

// A mistake stops the start and not the first request, and says where it is.
TEST_F(ServeCommandsTest, NamesTheSettingThatIsWrong) {
  struct Case {
    Words arguments;
    Words environment;
    std::string message;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{"--listen", "nonsense"}, {}, "listen: \"nonsense\" is no address"},
           {{"--listen", "localhost:0"}, {}, "listen: \"localhost:0\" is no address"},
           {{"--log-level", "loud"}, {}, "--log-level: log.level should be one of debug, info"},
           {{"--server-workers", "0"}, {}, "server.workers should be between 1 and 4096, not 0"},
           {{"--dedup-rollout", "101"}, {}, "dedup.rollout should be between 0 and 100"},
           {{"--tls-key", "key.pem"}, {}, "tls.certificate and tls.key belong together"},
           {{"--settings", "missing.toml"}, {}, "missing.toml: cannot read this settings file"},
           {{},
            {"TIDEMARK_GATE_DEADLINE=3s"},
            "gate.deadline should be between 100 ms and 2800 ms"},
           {{}, {"TIDEMARK_DEDUP_WINDOW=soon"}, "TIDEMARK_DEDUP_WINDOW: dedup.window should be"},
           {{}, {"AWS_REGION=eu:west"}, "'eu:west' is no region"},
           {{}, {"SLACK_SIGNING_SECRET=file:missing"}, "slack.signing-secret is to be read from"},
       }) {
    SCOPED_TRACE(c.message);
    Words arguments = {"serve"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    const Outcome outcome = Run(arguments, c.environment);
    EXPECT_EQ(outcome.exit_code, kInvalid);
    EXPECT_THAT(outcome.err, HasSubstr(c.message));
  }
  EXPECT_FALSE(std::filesystem::exists(path("tidemark-data")));
}

// Spec: 001-72
TEST_F(ServeCommandsTest, DoesNotStartBeforeTheWorkspaceHasAgreed) {
  const Outcome refused = Run({"serve"}, {"TIDEMARK_ARCHIVE_CONSENT=false"});
  EXPECT_EQ(refused.exit_code, kInvalid);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("archive.consent is false"), HasSubstr("agreed")));
  EXPECT_FALSE(std::filesystem::exists(path("tidemark-data")));
}

// Spec: 004-07
// As with the function that this replaces, the environment says which table it is and where.
TEST_F(ServeCommandsTest, TakesTheTableOfClaimsAndItsRegionFromTheEnvironment) {
  struct Case {
    Words environment;  // An empty variable counts as not set.
    std::string table;
    std::string region;
  };
  for (const Case& c :
       std::initializer_list<Case>{{{"DEDUP_TABLE_NAME=", "AWS_REGION="},
                                    "slack-classify-bot-processed-events",
                                    "us-east-1"},
                                   {{"DEDUP_TABLE_NAME=events", "AWS_REGION=ap-northeast-1"},
                                    "events",
                                    "ap-northeast-1"}}) {
    SCOPED_TRACE(c.table);
    std::filesystem::remove_all(path("tidemark-data"));
    Serve({}, c.environment);
    StopServer();
    const std::string claims = Do({"tables", "describe", c.table}, c.environment);
    EXPECT_EQ(TextAt(claims, {"key"}), "event_key:S");
    EXPECT_EQ(TextAt(claims, {"arn"}),
              "arn:aws:dynamodb:" + c.region + ":000000000000:table/" + c.table);
  }
}

// Secrets in a file keep away from the environment; a misspelt setting there is not overlooked.
TEST_F(ServeCommandsTest, ReadsItsSettingsFromAFile) {
  std::ofstream(path("other.toml")) << "data = \"here\"\nslack.signing-secret = \"file:secret\"\n";
  std::ofstream(path("secret")) << kDemoSecret << '\n';
  Serve({"--settings", "other.toml"});
  EXPECT_TRUE(std::filesystem::exists(path("here")));
  EXPECT_THAT(server_->err(), AllOf(Not(HasSubstr("slack.signing-secret is not set")),
                                    HasSubstr("slack.bot-token is not set")));
  std::ofstream(path("other.toml")) << "lisen = \"127.0.0.1:0\"\n";
  const Outcome misspelt = Run({"serve", "--settings", "other.toml"});
  EXPECT_EQ(misspelt.exit_code, kInvalid);
  EXPECT_THAT(misspelt.err, HasSubstr("other.toml:1: there is no setting \"lisen\"; did you mean"));
}

// Tokens and events in the clear never leave the machine by accident.
TEST_F(ServeCommandsTest, ListensBeyondLoopbackWithoutTlsOnlyWhenToldTo) {
  address_ = "0.0.0.0:0";
  const Outcome refused = Run({"serve", "--listen", address_});
  EXPECT_EQ(refused.exit_code, kInvalid);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("beyond this machine"), HasSubstr("tls.certificate"),
                                 HasSubstr("listen-plainly")));
  Serve({"--listen-plainly", "true"});
  address_.replace(0, address_.find(':'), "127.0.0.1");
  EXPECT_EQ(Get("/healthz"), 200);
}

// ---- The command line ----

// What is printed goes straight into Slack's form.
TEST_F(ServeCommandsTest, PrintsAManifestWithTheUrl) {
  const std::string manifest = Do({"manifest", "--url", "https://tidemark.example.com"});
  EXPECT_EQ(TextAt(manifest, {"settings", "event_subscriptions", "request_url"}),
            "https://tidemark.example.com/slack/events");
  EXPECT_THAT(manifest, AllOf(HasSubstr("\"users:read\""), HasSubstr("\"message.channels\"")));
}

// A help without an example is a riddle.
TEST_F(ServeCommandsTest, HasHelpWithAnExampleForEveryCommand) {
  for (const Words& command : std::initializer_list<Words>{{"serve"},
                                                           {"token", "create"},
                                                           {"token", "list"},
                                                           {"token", "revoke"},
                                                           {"doctor"},
                                                           {"manifest"},
                                                           {"demo"}}) {
    Words arguments = command;
    arguments.push_back("--help");
    std::string name;
    for (const std::string& word : command) name += " " + word;
    EXPECT_THAT(Do(arguments), HasSubstr("Example:\n  tidemark" + name)) << name;
    arguments.back() = "--loudly";
    const Outcome unknown = Run(arguments);
    EXPECT_EQ(unknown.exit_code, kInvalid) << name;
    EXPECT_THAT(unknown.err, HasSubstr("--loudly")) << name;
  }
  EXPECT_EQ(Run({"token"}).exit_code, kInvalid);
}

// A secret on a command line shows in the list of processes.
TEST_F(ServeCommandsTest, HasNoFlagForASecret) {
  EXPECT_THAT(Do({"serve", "--help"}), Not(HasSubstr("secret")));
  EXPECT_EQ(Run({"serve", "--slack-signing-secret", kDemoSecret}).exit_code, kInvalid);
}

}  // namespace
}  // namespace tidemark::testing
