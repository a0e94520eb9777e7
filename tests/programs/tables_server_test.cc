// `tidemark tables … --server` and `tidemark backup … --server`: commands that ask a running
// server.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/serve_fixture.h"

namespace tidemark::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

class TablesServerTest : public ServeFixture {
 protected:
  void ServeWithToken(const Words& arguments = {}, const Words& environment = {}) {
    token_ = CreateToken("tests");
    Serve(arguments, environment);
  }
  Outcome AtServer(Words arguments) {
    arguments.insert(arguments.end(), {"--server", url()});
    return Run(arguments, {"TIDEMARK_API_TOKEN=" + token_});
  }
  Outcome Tables(Words arguments) {
    arguments.insert(arguments.begin(), "tables");
    return AtServer(std::move(arguments));
  }
  std::string DoTables(const Words& arguments) {
    const Outcome outcome = Tables(arguments);
    EXPECT_EQ(outcome.exit_code, kOk) << arguments[0] << ": " << outcome.err;
    return outcome.out;
  }

  // The status and the body of the answer.
  std::string Post(const std::string& operation, std::string body) {
    const http::Exchange exchange =
        client_.Send({.method = http::Method::kPost,
                      .url = url() + "/api/v1/tables/" + operation,
                      .headers = {{"Authorization", "Bearer " + token_}},
                      .body = std::move(body),
                      .max_answer_bytes = size_t{64} << 20},
                     Deadline::After(clock_, std::chrono::minutes(1)));
    return std::to_string(exchange.response.status) + " " + exchange.response.body;
  }

  std::string token_;
};

// Review: D16
TEST_F(TablesServerTest, EveryCommandWorksWhileTheServerServes) {
  ServeWithToken();
  EXPECT_THAT(DoTables({"create", "messages", "--key", "channel:S", "--sort", "ts:N", "--index",
                        "by-user:user:S", "--stream", "new-and-old", "--ttl", "expires"}),
              StartsWith(R"({"table":"messages",)"));
  EXPECT_THAT(DoTables({"list"}), HasSubstr(R"({"table":"tidemark-events",)"));
  const std::string key = R"({"channel":{"S":"c"},"ts":{"N":"1"}})";
  const std::string item = R"({"channel":{"S":"c"},"ts":{"N":"1"},"user":{"S":"ann"}})";
  EXPECT_EQ(DoTables({"put", "messages", "--item", item}), "{\"applied\":true}\n");
  const Outcome refused =
      Tables({"put", "messages", "--item", item, "--condition", "attribute_not_exists(channel)"});
  EXPECT_EQ(refused.exit_code, kNotMet);
  EXPECT_EQ(refused.out, R"({"applied":false,"item":)" + item + "}\n");
  EXPECT_EQ(DoTables({"get", "messages", "--key", key}), item + "\n");
  EXPECT_THAT(DoTables({"update", "messages", "--key", key, "--update", "ADD likes :one",
                        "--values", R"({":one":{"N":"1"}})", "--return", "updated-new"}),
              HasSubstr(R"("attributes":{"likes":{"N":"1"}})"));
  EXPECT_THAT(DoTables({"query", "messages", "--index", "by-user", "--key-condition", "#u = :u",
                        "--names", R"({"#u":"user"})", "--values", R"({":u":{"S":"ann"}})"}),
              HasSubstr(R"("likes":{"N":"1"})"));
  EXPECT_THAT(LinesOf(DoTables({"scan", "messages"})), SizeIs(1));
  EXPECT_THAT(DoTables({"alter", "messages", "--no-ttl"}), Not(HasSubstr(R"("ttl")")));
  EXPECT_EQ(DoTables({"tag", "messages", "--set", "team=search"}), "{\"team\":\"search\"}\n");
  EXPECT_THAT(DoTables({"delete", "messages", "--key", key, "--return-old"}),
              HasSubstr(R"("attributes":)"));
  EXPECT_THAT(LinesOf(DoTables({"streams", "tail", "messages"})), SizeIs(3));
  EXPECT_EQ(
      DoTables({"call", "TransactWriteItems", "--request",
                R"({"TransactItems":[{"Put":{"TableName":"messages","Item":)" + item + "}}]}"}),
      "{}\n");
  DoTables({"drop", "messages"});
  EXPECT_EQ(Tables({"describe", "messages"}).exit_code, kInvalid);
  EXPECT_EQ(StopServer(), kOk);
}

// The rows of a server can be checked while it serves.
TEST_F(TablesServerTest, VerifiesTheTablesOfAServer) {
  ServeWithToken();
  DoTables({"create", "users", "--key", "id:S"});
  DoTables({"put", "users", "--item", R"({"id":{"S":"a"}})"});
  EXPECT_THAT(DoTables({"verify"}), StartsWith(R"({"sound":true,"tables":)"));
  EXPECT_THAT(Run({"tables", "verify"}).err, HasSubstr("add --server URL"));
  const Outcome without_scheme = Run({"tables", "verify", "--server", address_});
  EXPECT_EQ(without_scheme.exit_code, kInvalid);
  EXPECT_THAT(without_scheme.err, HasSubstr("type --server http://" + address_));
}

// Requests as other clients of DynamoDB send them.
TEST_F(TablesServerTest, AcceptsAndRefusesFieldsAsDynamoDbDoes) {
  ServeWithToken();
  DoTables({"create", "users", "--key", "id:S"});
  const std::string put = R"({"TableName":"users","Item":{"id":{"S":"a"}},)";
  EXPECT_EQ(Post("PutItem", put + R"("ReturnConsumedCapacity":"NONE",)"
                                  R"("ReturnItemCollectionMetrics":"NONE"})"),
            "200 {}");
  EXPECT_THAT(Post("PutItem", put + R"("ReturnConsumedCapacity":"TOTAL"})"),
              StartsWith(R"(200 {"ConsumedCapacity":{"TableName":"users","CapacityUnits":1)"));
  EXPECT_THAT(Post("PutItem", put + R"("TableName":"others"})"),
              AllOf(StartsWith("400 "), HasSubstr("#SerializationException"),
                    HasSubstr("the field 'TableName' is given twice")));
  EXPECT_EQ(DoTables({"scan", "users"}), "{\"id\":{\"S\":\"a\"}}\n");
  // A transaction that reads has no condition that could fail.
  const Outcome cancelled =
      Tables({"call", "TransactGetItems", "--request",
              R"({"TransactItems":[{"Get":{"TableName":"users","Key":{"id":{"S":"a"}}}},)"
              R"({"Get":{"TableName":"users","Key":{"id":{"N":"1"}}}}],)"
              R"("ReturnConsumedCapacity":"NONE"})"});
  EXPECT_EQ(cancelled.exit_code, kNotMet);
  EXPECT_THAT(cancelled.err, HasSubstr("the transaction was cancelled; nothing was read: action 2: "
                                       "ValidationError: The provided key element does not match"));
}

// The numbers take two bytes each of an item and 137 of JSON.
TEST_F(TablesServerTest, ABatchIsLimitedByItsJson) {
  ServeWithToken();
  DoTables({"create", "users", "--key", "id:S"});
  std::string numbers = R"({"N":"1E125"})";
  for (int i = 1; i < 20'000; ++i) numbers += R"(,{"N":"1E125"})";
  std::string keys;
  for (int id = 0; id < 8; ++id) {
    const std::string key = R"("id":{"S":")" + std::to_string(id) + R"("})";
    EXPECT_EQ(Post("PutItem",
                   R"({"TableName":"users","Item":{)" + key + R"(,"n":{"L":[)" + numbers + "]}}}"),
              "200 {}");
    keys += (id == 0 ? "{" : ",{") + key + "}";
  }
  const std::string reply =
      Post("BatchGetItem", R"({"RequestItems":{"users":{"Keys":[)" + keys + "]}}}");
  EXPECT_LT(reply.size(), size_t{17} << 20);
  EXPECT_THAT(reply.substr(reply.size() - 100),
              HasSubstr(R"("UnprocessedKeys":{"users":{"Keys":)"));
}

// What somebody writes there would be taken for a claim, or would give back attempts.
// Review: D16
TEST_F(TablesServerTest, TheTablesOfTheAppsCanOnlyBeRead) {
  ServeWithToken();
  for (const char* table : {"tidemark-events", "slack-classify-bot-processed-events",
                            "tidemark-quarantine", "SlackArchive", "authentication-attempts"}) {
    SCOPED_TRACE(table);
    EXPECT_EQ(Tables({"scan", table}).exit_code, kOk);
    for (const Words& change :
         std::initializer_list<Words>{{"put", table, "--item", R"({"id":{"S":"a"}})"},
                                      {"drop", table},
                                      {"alter", table, "--no-stream"}}) {
      const Outcome refused = Tables(change);
      EXPECT_EQ(refused.exit_code, kEnvironment);
      EXPECT_THAT(refused.err, HasSubstr("belongs to Tidemark and can only be read here"));
    }
  }
}

// Review: D16
TEST_F(TablesServerTest, AMetricsTokenDoesNotGetIn) {
  ServeWithToken();
  token_ = CreateToken("prometheus", {"--metrics-only"});
  EXPECT_THAT(Tables({"list"}).err, HasSubstr("may only read /metrics"));
  EXPECT_THAT(AtServer({"backup", "monday"}).err, HasSubstr("may only read /metrics"));
  EXPECT_FALSE(std::filesystem::exists(path("tidemark-backups")));
}

// Review: D16
TEST_F(TablesServerTest, ABackupIsMadeWhileTheServerServes) {
  // A server that was killed left this.
  std::filesystem::create_directories(path("tidemark-backups/friday.making"));
  std::ofstream(path("tidemark-backups/friday.making/.unfinished")).flush();
  ServeWithToken({}, {"TIDEMARK_DOCUMENTS_ENABLED=true"});
  EXPECT_FALSE(std::filesystem::exists(path("tidemark-backups/friday.making")));
  DoTables({"create", "users", "--key", "id:S"});
  DoTables({"put", "users", "--item", R"({"id":{"S":"a"}})"});
  std::ofstream(path("CHG-1.json"))
      << R"({"object_type":"change","changeId":"CHG-1",)"
      << R"("changeTitle":"New firewall","status":"submitted","createdAt":)" << clock_.NowSeconds()
      << R"(,"customers":["hts"]})";
  EXPECT_EQ(AtServer({"documents", "put", "CHG-1.json", "--new"}).exit_code, kOk);
  const std::string document = AtServer({"documents", "get", "CHG-1"}).out;
  const Outcome made = AtServer({"backup", "monday"});
  EXPECT_EQ(made.exit_code, kOk) << made.err;
  EXPECT_THAT(made.out, StartsWith(R"({"verified":true,"folder":"tidemark-backups/monday",)"));
  EXPECT_THAT(made.out, HasSubstr(R"("objects":1,)"));
  // A caller names no paths, and nothing is overwritten. A name must not look like an option.
  for (const char* name : {"../elsewhere", "..", ".hidden", "a/b", "-rf"}) {
    const Outcome refused =
        Run({"backup", "--server", url(), "--", name}, {"TIDEMARK_API_TOKEN=" + token_});
    EXPECT_EQ(refused.exit_code, kInvalid) << name;
    EXPECT_THAT(refused.err, HasSubstr("is not the name of a backup")) << name;
  }
  EXPECT_THAT(AtServer({"backup", "monday"}).err, HasSubstr("is not empty"));
  DoTables({"put", "users", "--item", R"({"id":{"S":"later"}})"});
  EXPECT_EQ(StopServer(), kOk);

  EXPECT_THAT(Do({"restore", "tidemark-backups/monday", "--data", "restored"}),
              HasSubstr(R"("objects":1,)"));
  EXPECT_EQ(Do({"tables", "scan", "users", "--data", "restored"}), "{\"id\":{\"S\":\"a\"}}\n");
  const std::string restored = Do({"documents", "get", "CHG-1", "--data", "restored"});
  EXPECT_EQ(TextAt(restored, {"etag"}), TextAt(document, {"etag"}));
}

// A real signal, in the middle of the copy: nothing that looks like a backup is left.
TEST_F(TablesServerTest, ABackupThatIsTerminatedLeavesNothing) {
  Do({"tables", "create", "users", "--key", "id:S", "--data", "data"});
  std::filesystem::create_directories(path("data/objects/archive"));
  // So many that the copy takes far longer than the signal.
  for (int i = 0; i < 2'000; ++i) {
    std::ofstream(path("data/objects/archive/" + std::to_string(i) + ".json")) << "{}";
  }
  for (const int signal : {SIGTERM, SIGINT}) {
    BackgroundProgram backup(
        {.arguments = {"backup", "monday", "--data", "data"}, .folder = folder_.path()});
    while (!std::filesystem::exists(path("monday.making/objects"))) {
      ASSERT_FALSE(std::filesystem::exists(path("monday"))) << "it is complete already";
      std::this_thread::yield();
    }
    backup.Send(signal);
    EXPECT_EQ(backup.AwaitExit(), kEnvironment);
    EXPECT_THAT(backup.err(), HasSubstr("interrupted"));
    EXPECT_FALSE(std::filesystem::exists(path("monday")));
    EXPECT_FALSE(std::filesystem::exists(path("monday.making")));
  }
  // The same command works afterwards.
  Do({"backup", "monday", "--data", "data"});
}

}  // namespace
}  // namespace tidemark::testing
