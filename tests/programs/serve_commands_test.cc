// `tidemark serve`, `token` and `manifest` from end to end: the built program on loopback.
#include <arpa/inet.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <list>
#include <netinet/in.h>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "programs/program_settings.h"
#include "tests/programs/serve_fixture.h"
#include "tests/support/raw_connection.h"

namespace tidemark::testing {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ServeCommandsTest : public ServeFixture {
 protected:
  // Repeats the request until the answer has this status. False when it never has.
  bool Becomes(int status, const std::string& path, const std::string& token) {
    const Deadline deadline = Deadline::After(clock_, seconds(30));
    while (Get(path, token) != status) {
      if (deadline.HasPassed()) return false;
    }
    return true;
  }
  // Opens a connection that stays open for many requests.
  RawConnection Connect() const {
    const size_t colon = address_.rfind(':');
    return RawConnection(static_cast<uint16_t>(std::stoi(address_.substr(colon + 1))),
                         address_.substr(0, colon));
  }
  static RawReply Post(RawConnection* connection, const std::string& path, const std::string& body,
                       const std::string& token) {
    connection->Send(
        fmt::format("POST /api/v1/{} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n"
                    "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                    path, token, body.size(), body));
    return connection->ReadReply();
  }
  // Makes claims of 300 KB, at most so many. Returns how many the table took: without the table,
  // the server keeps claims in memory. A log of the store has room for about 25 of them.
  static int ClaimUntilRefused(RawConnection* connection, int most, const std::string& token) {
    const std::string text(300'000, 'x');
    for (int i = 0; i < most; ++i) {
      const RawReply reply =
          Post(connection, "claims",
               fmt::format(R"({{"key":"key {}","metadata":{{"text":"{}"}}}})", i, text), token);
      if (reply.status != 200 || reply.body.find(R"("fallback":true)") != std::string::npos) {
        return i;
      }
    }
    return most;
  }
  static RawReply AskReady(RawConnection* connection, const std::string& token) {
    connection->Send(
        fmt::format("GET /readyz HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\r\n", token));
    return connection->ReadReply();
  }
};

mode_t ModeOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

// The value of each setting as Describe prints it, without its source.
std::vector<std::string> ValuesIn(const std::optional<std::string>& file) {
  const auto settings = Settings::Load(programs::ProgramSettings(), {.file = file});
  EXPECT_TRUE(settings) << settings.error().message;
  std::vector<std::string> values;
  if (!settings) return values;
  for (const std::string& line : LinesOf(settings->Describe())) {
    values.push_back(line.substr(0, line.find("  (")));
  }
  return values;
}

// ---- The first start ----

// A new user gets a file to edit and the next steps. The file itself changes no setting.
TEST_F(ServeCommandsTest, WritesASettingsFileOnTheFirstStart) {
  Serve();
  EXPECT_THAT(server_->err(),
              AllOf(HasSubstr("Next steps"), HasSubstr("tidemark manifest"),
                    HasSubstr("tidemark token create"), HasSubstr("tidemark doctor")));
  EXPECT_EQ(ModeOf(path("tidemark.toml")), 0600u);
  const std::string text = ReadFile(path("tidemark.toml"));
  for (const Setting& setting : programs::ProgramSettings()) {
    EXPECT_THAT(text, HasSubstr("\n#" + std::string(setting.name) + " = "));
  }
  for (const std::string& line : LinesOf(text)) {
    EXPECT_TRUE(line.empty() || line.starts_with('#')) << line;
  }
  EXPECT_EQ(ValuesIn(path("tidemark.toml")), ValuesIn(std::nullopt));
}

// The top of the file says that removing a # changes a setting, so each line must be valid.
TEST_F(ServeCommandsTest, WritesTheDefaultsIntoTheSettingsFile) {
  Serve();
  std::ofstream file(path("all.toml"));
  size_t uncommented = 0;
  for (const std::string& line : LinesOf(ReadFile(path("tidemark.toml")))) {
    const bool is_setting = line.starts_with('#') && !line.starts_with("# ");
    file << (is_setting ? line.substr(1) : line) << '\n';
    uncommented += is_setting ? 1 : 0;
  }
  file.close();
  EXPECT_EQ(uncommented, programs::ProgramSettings().size());
  EXPECT_EQ(ValuesIn(path("all.toml")), ValuesIn(std::nullopt));
}

// The server never overwrites what a user wrote into the file.
TEST_F(ServeCommandsTest, DoesNotChangeTheSettingsFileOnLaterStarts) {
  Serve();
  EXPECT_EQ(StopServer(), kOk);
  std::ofstream(path("tidemark.toml"), std::ios::app) << "log.format = \"json\"\n";
  const std::string text = ReadFile(path("tidemark.toml"));
  BackgroundProgram again({.arguments = {"serve", "--listen", own_host_ + ":0"},
                           .folder = folder_.path(),
                           .environment = WithConsent({})});
  EXPECT_TRUE(again.AwaitError("\"serving\"")) << again.err();
  EXPECT_EQ(ReadFile(path("tidemark.toml")), text);
  EXPECT_THAT(again.err(), Not(HasSubstr("Next steps")));
}

// The server also works in a folder that it cannot write to.
TEST_F(ServeCommandsTest, StartsWhenTheSettingsFileCannotBeWritten) {
  std::filesystem::create_symlink("nowhere", path("tidemark.toml"));
  Serve();
  EXPECT_EQ(Get("/healthz"), 200);
  EXPECT_THAT(server_->err(), AllOf(HasSubstr("cannot write the settings file 'tidemark.toml'"),
                                    HasSubstr("continuing")));
}

// ---- Tokens ----

// A bot that handles its own messages would answer itself for ever.
// Spec: 004-35
TEST_F(ServeCommandsTest, WarnsAtTheStartIfTheBotIdIsNotSet) {
  const Words work = {"--work-url", "http://127.0.0.1:9/work"};
  Serve(work);
  EXPECT_THAT(server_->err(), HasSubstr("the bot's own id is not set"));
  StopServer();
  Serve({work[0], work[1], "--slack-bot-id", "BXXXXXXXXX"});
  EXPECT_THAT(server_->err(), HasSubstr("not an id"));
  StopServer();
  Serve({work[0], work[1], "--slack-bot-id", "B0123ABCDE"});
  EXPECT_THAT(server_->err(), Not(HasSubstr("own id")));
}

// A health probe needs no token; every other request does.
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

// A revoked token stops working within a second, without a restart.
TEST_F(ServeCommandsTest, NoticesNewAndRevokedTokensWhileItRuns) {
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

// The file has only hashes, so reading it does not give access.
TEST_F(ServeCommandsTest, StoresOnlyHashesInTheTokensFile) {
  const std::string token = CreateToken("ci");
  EXPECT_EQ(ModeOf(path("tidemark-tokens")), 0600u);
  EXPECT_THAT(ReadFile(path("tidemark-tokens")),
              AllOf(HasSubstr("ci"), Not(HasSubstr(token.substr(token.rfind('_') + 1)))));
}

// An error about a token is one line.
TEST_F(ServeCommandsTest, RefusesWrongTokenNames) {
  CreateToken("ci");
  const Outcome twice = Run({"token", "create", "ci"});
  EXPECT_EQ(twice.exit_code, kInvalid);
  EXPECT_THAT(twice.err, HasSubstr("the token 'ci' exists already"));
  EXPECT_THAT(twice.out, IsEmpty());
  const Outcome unknown = Run({"token", "revoke", "cd"});
  EXPECT_EQ(unknown.exit_code, kInvalid);
  EXPECT_THAT(unknown.err, HasSubstr("there is no token 'cd'"));
  EXPECT_EQ(Run({"token", "create", "a b"}).exit_code, kInvalid);
  EXPECT_THAT(LinesOf(Do({"token", "list"})), SizeIs(1));
}

// ---- Starting and stopping ----

// SIGINT and SIGTERM both stop the server, and its data is on disk.
TEST_F(ServeCommandsTest, StopsOnASignalAndLeavesAFolderThatOpens) {
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

// After a crash no cleanup is needed: the same command starts the server again.
TEST_F(ServeCommandsTest, StartsAgainAfterItWasKilled) {
  const std::string token = CreateToken("ci");
  Serve();
  const std::string address = address_;
  KillServer();
  Serve();
  EXPECT_EQ(address_, address);
  EXPECT_EQ(Get("/readyz", token), 200);
}

// Two servers must not use the same folder.
TEST_F(ServeCommandsTest, RefusesAFolderThatAnotherServerUses) {
  Serve();
  const Outcome second = Run({"serve", "--listen", own_host_ + ":0"});
  EXPECT_EQ(second.exit_code, kEnvironment);
  EXPECT_THAT(second.err,
              AllOf(HasSubstr("'tidemark-data': another process has it open"), HasSubstr("stop")));
  EXPECT_EQ(Get("/healthz"), 200);
}

// The command is right, so the exit code is that of the environment.
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

// A wrong setting is reported at the start, not at the first request, and the error names it.
TEST_F(ServeCommandsTest, NamesTheWrongSetting) {
  struct Case {
    Words arguments;
    Words environment;
    std::string message;
  };
  for (const Case& c : std::initializer_list<Case>{
           {{"--listen", "nonsense"}, {}, "listen: \"nonsense\" is not an address"},
           {{"--listen", "localhost:0"}, {}, "listen: \"localhost:0\" is not an address"},
           {{"--log-level", "loud"}, {}, "--log-level: log.level should be one of debug, info"},
           {{"--server-workers", "0"}, {}, "server.workers must be between 1 and 4096, not 0"},
           {{"--tables-working-set-mb", "0"},
            {},
            "tables.working-set-mb must be between 1 and 1048576, not 0"},
           {{"--dedup-rollout", "101"}, {}, "dedup.rollout must be between 0 and 100"},
           {{"--tls-key", "key.pem"}, {}, "tls.certificate and tls.key must be set together"},
           {{"--settings", "missing.toml"}, {}, "missing.toml: cannot read this settings file"},
           {{}, {"TIDEMARK_GATE_DEADLINE=3s"}, "gate.deadline must be between 100ms and 2800ms"},
           {{}, {"TIDEMARK_DEDUP_WINDOW=soon"}, "TIDEMARK_DEDUP_WINDOW: dedup.window should be"},
           {{}, {"AWS_REGION=eu:west"}, "'eu:west' is not a region"},
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
  const Outcome refused = Run(
      {"serve"}, {"TIDEMARK_ARCHIVE_CONSENT=false", "TIDEMARK_SLACK_SIGNING_SECRET=0123456789"});
  EXPECT_EQ(refused.exit_code, kInvalid);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("archive.consent is false"), HasSubstr("agreed")));
  EXPECT_FALSE(std::filesystem::exists(path("tidemark-data")));
}

// Spec: 004-07
// The program that this replaces took the table and its region from the environment too.
TEST_F(ServeCommandsTest, ReadsTheClaimsTableAndItsRegionFromTheEnvironment) {
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

// Secrets may be in the file instead of the environment. A misspelt setting in it is an error.
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

// A setting that is ignored without a word is worse than an error.
// Review: F13
TEST_F(ServeCommandsTest, RefusesAMisspeltVariableAndAnInvalidAddress) {
  const Outcome misspelt = Run({"serve"}, {"TIDEMARK_SLACK_API_ULR=http://127.0.0.1:1"});
  EXPECT_EQ(misspelt.exit_code, kInvalid);
  EXPECT_THAT(misspelt.err, HasSubstr("did you mean TIDEMARK_SLACK_API_URL?"));
  const Outcome plain = Run({"serve"}, {"TIDEMARK_SLACK_API_URL=http://slack.example"});
  EXPECT_EQ(plain.exit_code, kInvalid);
  EXPECT_THAT(plain.err, HasSubstr("slack.api-url"));
  EXPECT_EQ(Run({"serve", "--work-url", "notaurl"}).exit_code, kInvalid);
}

// In a folder such as /tmp, another user could leave settings for a program that is started there.
// Review: F13
TEST_F(ServeCommandsTest, UsesNoSettingsThatSomebodyElseLeftInTheFolder) {
  std::ofstream(path("tidemark.toml")) << "data = \"here\"\n";
  std::filesystem::permissions(path("tidemark.toml"), std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  const Outcome writable = Run({"token", "list"});
  EXPECT_NE(writable.exit_code, kOk);
  EXPECT_THAT(writable.err, HasSubstr("can be written by everybody"));
  EXPECT_EQ(Run({"token", "list", "--settings", "tidemark.toml"}).exit_code, kOk);
  std::filesystem::permissions(path("tidemark.toml"), std::filesystem::perms::owner_read);
  constexpr uid_t kSomebody = 12'345;
  if (chown(path("tidemark.toml").c_str(), kSomebody, kSomebody) != 0) return;  // Not as root.
  EXPECT_THAT(Run({"token", "list"}).err, HasSubstr("belongs to another user"));
}

// Review: F14
TEST_F(ServeCommandsTest, WritesNoCoreAndWarnsOfSecretsThatEverybodyCanRead) {
  std::ofstream(path("secret")) << kDemoSecret << '\n';
  std::filesystem::permissions(path("secret"), std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  Serve({}, {"SLACK_SIGNING_SECRET=file:secret"});
  EXPECT_THAT(server_->err(), AllOf(HasSubstr("every user of this machine can read a secret"),
                                    HasSubstr("setting=slack.signing-secret file=secret")));
  std::ifstream limits(fmt::format("/proc/{}/limits", server_->pid()));
  const std::string text(std::istreambuf_iterator<char>(limits), {});
  EXPECT_THAT(text, ContainsRegex("Max core file size +0 +0"));
}

// Tokens and events must not be sent unencrypted over a network by accident.
TEST_F(ServeCommandsTest, NeedsTlsOrASettingToListenBeyondLoopback) {
  address_ = "0.0.0.0:0";
  const Outcome refused = Run({"serve", "--listen", address_});
  EXPECT_EQ(refused.exit_code, kInvalid);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("which other machines can reach"),
                                 HasSubstr("tls.certificate"), HasSubstr("listen-plainly")));
  Serve({"--listen-plainly", "true"});
  address_.replace(0, address_.find(':'), "127.0.0.1");
  EXPECT_EQ(Get("/healthz"), 200);
}

// ---- The command line ----

// A user can paste the output into Slack's form.
TEST_F(ServeCommandsTest, PrintsAManifestWithTheUrl) {
  const std::string manifest = Do({"manifest", "--url", "https://tidemark.example.com"});
  EXPECT_EQ(TextAt(manifest, {"settings", "event_subscriptions", "request_url"}),
            "https://tidemark.example.com/slack/events");
  EXPECT_THAT(manifest, AllOf(HasSubstr("\"users:read\""), HasSubstr("\"message.channels\"")));
}

// ---- What the system allows ----

// Systems allow 1,024 descriptors by default, and let a program raise that. Clients that only
// connect must not take the descriptors that the store needs.
// Review: E8
TEST_F(ServeCommandsTest, RaisesTheLimitOfDescriptors) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{.rlim_cur = std::min<rlim_t>(1'024, before.rlim_max - 1),
                   .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  Serve();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit of_server = {};
  ASSERT_EQ(prlimit(server_->pid(), RLIMIT_NOFILE, nullptr, &of_server), 0);
  EXPECT_EQ(of_server.rlim_cur, before.rlim_max);
}

constexpr int kFewDescriptors = 1'024;

// A server on 127.0.0.1 where the system allows no more descriptors.
class FewDescriptorsTest : public ServeCommandsTest {
 protected:
  void ServeWithFew(const Words& environment = {}) {
    most_descriptors_ = kFewDescriptors;
    address_ = "127.0.0.1:0";
    Serve({}, environment);
    port_ = static_cast<uint16_t>(std::stoi(address_.substr(address_.rfind(':') + 1)));
  }
  // Opens so many connections from this address, which are all answered and stay open.
  void Fill(int count, const std::string& from) {
    for (int i = 0; i < count; ++i) {
      RawConnection& one = connections_.emplace_back(port_, "127.0.0.1", from);
      one.Send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
      ASSERT_EQ(one.ReadReply().status, 200) << i << " from " << from;
    }
  }
  // 503 comes without a request.
  int StatusOfOneMore(const std::string& from) const {
    return RawConnection(port_, "127.0.0.1", from).ReadReply().status;
  }

  uint16_t port_ = 0;
  std::list<RawConnection> connections_;
};

// Half of the descriptors are for connections.
// Review: E8, F1
TEST_F(FewDescriptorsTest, ClientsDoNotTakeTheDescriptorsOfTheStores) {
  ServeWithFew();
  for (const char* from : {"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}) {
    Fill(kFewDescriptors / 8, from);
  }
  EXPECT_EQ(StatusOfOneMore("127.0.0.5"), 503);
}

TEST_F(FewDescriptorsTest, TwoPortsShareTheDescriptorsForConnections) {
  ServeWithFew({"TIDEMARK_DYNAMODB_LISTEN=127.0.0.1:0"});
  for (const char* from : {"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}) {
    Fill(kFewDescriptors / 16, from);
  }
  EXPECT_EQ(StatusOfOneMore("127.0.0.5"), 503);
}

// A quarter of the connections is for one address. Slack is at another one.
// Review: E8
TEST_F(FewDescriptorsTest, OneAddressDoesNotTakeTheConnectionsOfTheOthers) {
  ServeWithFew();
  Fill(kFewDescriptors / 8, "127.0.0.2");
  EXPECT_EQ(StatusOfOneMore("127.0.0.2"), 503);
  RawConnection slack(port_, "127.0.0.1", "127.0.0.3");
  slack.Send("POST /slack/events HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(slack.ReadReply().status, 401);
}

// For a proxy, whose address is that of all clients.
TEST_F(FewDescriptorsTest, TheConnectionsOfAnAddressCanBeConfigured) {
  ServeWithFew({"TIDEMARK_SERVER_CONNECTIONS_AN_ADDRESS=200"});
  Fill(200, "127.0.0.2");
  EXPECT_EQ(StatusOfOneMore("127.0.0.2"), 503);
}

// Connections from one address that send nothing.
class IdleConnections {
 public:
  IdleConnections(const std::string& from, const std::string& server, size_t count) {
    const size_t colon = server.rfind(':');
    const sockaddr_in source = AddressOf(from, 0);
    const auto port = static_cast<uint16_t>(std::stoi(server.substr(colon + 1)));
    const sockaddr_in target = AddressOf(server.substr(0, colon), port);
    for (size_t i = 0; i < count; ++i) {
      const int one = sockets_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const bool bound = bind(one, reinterpret_cast<const sockaddr*>(&source), sizeof source) == 0;
      connected_ +=
          bound && connect(one, reinterpret_cast<const sockaddr*>(&target), sizeof target) == 0;
    }
  }
  ~IdleConnections() {
    for (const int one : sockets_) close(one);
  }
  IdleConnections(const IdleConnections&) = delete;
  IdleConnections& operator=(const IdleConnections&) = delete;

  size_t connected() const { return connected_; }

 private:
  static sockaddr_in AddressOf(const std::string& host, uint16_t port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    EXPECT_EQ(inet_pton(AF_INET, host.c_str(), &address.sin_addr), 1);
    return address;
  }

  std::vector<int> sockets_;
  size_t connected_ = 0;
};

// Somebody opens more connections than the default limit of descriptors, and sends nothing. Others
// write beside them, so much that the store begins a new log.
// Review: E8, F1
TEST_F(ServeCommandsTest, IdleConnectionsDoNotStopWrites) {
  constexpr size_t kIdle = 1'300;
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_GT(before.rlim_max, 2 * kIdle);
  const std::string token = CreateToken("test");
  const rlimit low{.rlim_cur = 1'024, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  Serve();
  const rlimit high{.rlim_cur = before.rlim_max, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &high), 0);
  {
    const IdleConnections idle("127.201.1.1", address_, kIdle);
    EXPECT_EQ(idle.connected(), kIdle);
    RawConnection connection = Connect();
    EXPECT_EQ(ClaimUntilRefused(&connection, 30, token), 30) << server_->err();
    EXPECT_EQ(Get("/readyz", token), 200);
  }
  EXPECT_EQ(StopServer(), kOk);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

// While this lives, the server cannot open anything. What it has open stays open.
class NoDescriptors {
 public:
  explicit NoDescriptors(pid_t server) : server_(server) {
    EXPECT_EQ(prlimit(server_, RLIMIT_NOFILE, nullptr, &before_), 0);
    const rlimit none{.rlim_cur = 1, .rlim_max = before_.rlim_max};
    EXPECT_EQ(prlimit(server_, RLIMIT_NOFILE, &none, nullptr), 0);
  }
  ~NoDescriptors() { prlimit(server_, RLIMIT_NOFILE, &before_, nullptr); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  const pid_t server_;
  rlimit before_ = {};
};

// The store cannot begin its next log, so writes are refused, and /readyz says why. When
// there are descriptors again, writes go on by themselves.
// Review: F1
TEST_F(ServeCommandsTest, WritesGoOnOnceThereAreDescriptorsAgain) {
  const std::string token = CreateToken("test");
  Serve();
  RawConnection connection = Connect();
  ASSERT_EQ(AskReady(&connection, token).status, 200);
  {
    const NoDescriptors none(server_->pid());
    ASSERT_LT(ClaimUntilRefused(&connection, 100, token), 100);
    const RawReply ready = AskReady(&connection, token);
    EXPECT_EQ(ready.status, 503);
    EXPECT_THAT(ready.body, HasSubstr("Too many open files"));
  }
  ASSERT_TRUE(Becomes(200, "/readyz", token)) << server_->err();
  const RawReply reserved = Post(&connection, "subjects/ann/attempts/reserve",
                                 R"({"journey":"SIGN_IN","classifier":"PASSWORD_ENTRY",)"
                                 R"("count_type":"ERROR_COUNT","attempt_id":"one"})",
                                 token);
  EXPECT_EQ(reserved.status, 200) << reserved.body;
}

// The server may be told to stop while writes are refused.
// Review: F1
TEST_F(ServeCommandsTest, EndsInOrderWithoutDescriptors) {
  const std::string token = CreateToken("test");
  Serve();
  RawConnection connection = Connect();
  ASSERT_EQ(AskReady(&connection, token).status, 200);
  const NoDescriptors none(server_->pid());
  ASSERT_LT(ClaimUntilRefused(&connection, 100, token), 100);
  // Not a signal. A sanitizer that can open nothing may end it with another code than 0.
  EXPECT_GE(StopServer(), 0) << server_->err();
  EXPECT_THAT(server_->err(), HasSubstr(" stopped"));
}

// Messages and attempts are for the user of the server alone, also with the usual umask.
// Review: E9
TEST_F(ServeCommandsTest, MakesFilesThatNoOtherUserCanRead) {
  const mode_t before = umask(022);
  Serve();
  EXPECT_EQ(StopServer(), kOk);
  Do({"backup", "copy"});
  umask(before);
  for (const char* folder : {"tidemark-data", "copy"}) {
    EXPECT_EQ(ModeOf(path(folder)), 0700u);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(folder))) {
      EXPECT_EQ(ModeOf(entry.path()) & 077u, 0u) << entry.path();
    }
  }
}

// Every help text ends with an example.
TEST_F(ServeCommandsTest, HasHelpWithAnExampleForEveryCommand) {
  for (const Words& command : std::initializer_list<Words>{{"serve"},
                                                           {"token", "create"},
                                                           {"token", "list"},
                                                           {"token", "revoke"},
                                                           {"doctor"},
                                                           {"backup"},
                                                           {"restore"},
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

// Other users can see command lines in the list of processes.
TEST_F(ServeCommandsTest, HasNoFlagForASecret) {
  EXPECT_THAT(Do({"serve", "--help"}), Not(HasSubstr("secret")));
  EXPECT_EQ(Run({"serve", "--slack-signing-secret", kDemoSecret}).exit_code, kInvalid);
}

}  // namespace
}  // namespace tidemark::testing
