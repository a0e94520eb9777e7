// The port as a client sees it: bytes in, bytes out.
#include "servers/dynamodb/door.h"

#include <atomic>
#include <memory>
#include <semaphore>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/gzip.h"
#include "servers/dynamodb/service.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/raw_connection.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_runtime.h"

namespace tidemark::dynamodb {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::Optional;
using tidemark::testing::RawConnection;
using tidemark::testing::RawReply;

constexpr char kAnySignature[] =
    "AWS4-HMAC-SHA256 Credential=a/20231114/us-east-1/dynamodb/aws4_request, SignedHeaders=host, "
    "Signature=b";
constexpr char kTables[] = "DynamoDB_20120810.";
constexpr char kCreate[] = R"({"TableName":"things","BillingMode":"PAY_PER_REQUEST",)"
                           R"("AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],)"
                           R"("KeySchema":[{"AttributeName":"id","KeyType":"HASH"}]})";

class DoorTest : public ::testing::Test {
 protected:
  DoorTest() {
    tables_ = embedded::EmbeddedTables::Open({.folder = folder_.path() + "/data",
                                              .durability = embedded::Durability::kEverySecond,
                                              .background = false,
                                              .clock = &runtime_.clock,
                                              .random = &runtime_.random})
                  .value();
    options_.server.listen = "127.0.0.1:0";
    options_.server.loops = 1;
    options_.workers = 2;
    options_.door.open = true;
    options_.door.own_tables = {"claims"};
  }

  void Start() {
    if (!options_.door.open) {
      keys_ = AccessKeys::Open(served(), folder_.path() + "/key", runtime_.runtime()).value();
    }
    auto started = Service::Start(options_, served(), keys_.get(), runtime_.runtime());
    ASSERT_TRUE(started.has_value()) << started.error().message;
    service_ = *std::move(started);
    connection_ = std::make_unique<RawConnection>(port());
  }
  tables::Tables* served() const { return decorated_ ? decorated_.get() : tables_.get(); }
  uint16_t port() const {
    const std::string& address = service_->address();
    return static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }

  static std::string TextOf(const std::string& method, const http::Headers& headers,
                            const std::string& body) {
    std::string text = method + " / HTTP/1.1\r\n";
    for (const http::Header& header : headers) text += header.name + ": " + header.value + "\r\n";
    return text + fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
  }
  RawReply Send(const std::string& method, const http::Headers& headers, const std::string& body) {
    connection_->Send(TextOf(method, headers, body));
    return connection_->ReadReply();
  }
  static http::Headers HeadersFor(const std::string& target) {
    return {{"Host", "localhost:8000"},
            {"Content-Type", "application/x-amz-json-1.0"},
            {"X-Amz-Date", "20231114T221320Z"},
            {"X-Amz-Target", target},
            {"Authorization", kAnySignature}};
  }
  RawReply Ask(const std::string& operation, const std::string& body) {
    return Send("POST", HeadersFor(kTables + operation), body);
  }
  http::Headers SignedHeaders(const NewAccessKey& key, const std::string& target,
                              const std::string& body, const http::Headers& more = {}) const {
    http::Headers headers{{"Host", "localhost:8000"},
                          {"Content-Type", "application/x-amz-json-1.0"},
                          {"X-Amz-Date", aws::BasicTime(runtime_.clock.NowSeconds())},
                          {"X-Amz-Target", target}};
    for (const http::Header& header : more) headers.Add(header.name, header.value);
    const std::string time = aws::BasicTime(runtime_.clock.NowSeconds());
    headers.Add("Authorization",
                aws::AuthorizationFor(
                    {.access_key = key.id, .secret = key.secret},
                    {.date = time.substr(0, 8), .region = "eu-west-1", .service = "dynamodb"},
                    runtime_.clock.NowSeconds(),
                    {.path = "/", .query = "", .headers = headers, .body = body}));
    return headers;
  }
  // A request with the signature of a key.
  RawReply AskSigned(const NewAccessKey& key, const std::string& operation, const std::string& body,
                     const std::string& service = kTables) {
    return Send("POST", SignedHeaders(key, service + operation, body), body);
  }

  TempFolder folder_;
  tidemark::testing::TestRuntime runtime_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
  std::unique_ptr<tables::Tables> decorated_;  // What is served, if not the tables themselves.
  std::unique_ptr<AccessKeys> keys_;
  ServiceOptions options_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<RawConnection> connection_;
};

TEST_F(DoorTest, AnswersOperations) {
  Start();
  const RawReply created = Ask("CreateTable", kCreate);
  EXPECT_EQ(created.status, 200) << created.body;
  EXPECT_THAT(created.Find("Content-Type"), Optional(std::string("application/x-amz-json-1.0")));
  EXPECT_THAT(created.Find("x-amzn-RequestId").value_or(""), MatchesRegex("[0-9A-Z]{52}"));
  EXPECT_EQ(created.Find("x-amz-crc32"), std::to_string(Crc32(created.body)));
  EXPECT_EQ(Ask("PutItem", R"({"TableName":"things","Item":{"id":{"S":"a"},"n":{"N":"1"}}})").body,
            "{}");
  const RawReply got = Ask("GetItem", R"({"TableName":"things","Key":{"id":{"S":"a"}}})");
  EXPECT_EQ(got.body, R"({"Item":{"id":{"S":"a"},"n":{"N":"1"}}})");
  EXPECT_EQ(got.Find("x-amz-crc32"), std::to_string(Crc32(got.body)));
  EXPECT_EQ(Ask("Scan", R"({"TableName":"things"})").status, 200);
  const RawReply missing = Ask("GetItem", R"({"TableName":"nothing","Key":{"id":{"S":"a"}}})");
  EXPECT_EQ(missing.status, 400);
  EXPECT_EQ(missing.body,
            R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",)"
            R"("message":"Requested resource not found"})");
  EXPECT_EQ(Send("POST", HeadersFor("DynamoDBStreams_20120810.ListStreams"), "{}").body,
            R"({"Streams":[]})");
}

TEST_F(DoorTest, TakesBothJsonTypes) {
  Start();
  http::Headers headers = HeadersFor("DynamoDB_20120810.ListTables");
  headers.Set("Content-Type", "application/json; charset=utf-8");
  const RawReply reply = Send("POST", headers, "{}");
  EXPECT_EQ(reply.body, R"({"TableNames":[]})");
  EXPECT_THAT(reply.Find("Content-Type"), Optional(std::string("application/json")));
  for (const char* type : {"application/x-amz-json-1.1", "text/plain", ""}) {
    headers.Set("Content-Type", type);
    const RawReply refused = Send("POST", headers, "{}");
    EXPECT_EQ(refused.status, 404) << type;
    EXPECT_EQ(refused.body, "<UnknownOperationException/>\n");
    EXPECT_THAT(refused.Find("x-amz-crc32"), Optional(std::string("3552371480")));
  }
}

TEST_F(DoorTest, IsHealthy) {
  Start();
  const RawReply reply = Send("GET", {{"Host", "localhost"}}, "");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "healthy: dynamodb.us-east-1.amazonaws.com ");
  EXPECT_THAT(reply.Find("x-amz-crc32"), Optional(std::string("3128867991")));
  for (const char* method : {"PUT", "DELETE", "OPTIONS"}) {
    EXPECT_EQ(Send(method, {{"Host", "localhost"}}, "").status, 404) << method;
  }
}

// As on AWS: what is no JSON is reported before an operation that does not exist, and that before
// a missing signature.
TEST_F(DoorTest, ChecksInTheOrderOfAws) {
  Start();
  http::Headers headers{{"Host", "localhost"}, {"Content-Type", "application/x-amz-json-1.0"}};
  for (const char* body : {"{", "[]", "\"a\"", "{\"a\":1}x", "\xff"}) {
    const RawReply reply = Send("POST", headers, body);
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.body, R"({"__type":"com.amazon.coral.service#SerializationException"})");
  }
  for (const char* target : {"", "PutItem", "DynamoDB_20120810.Nothing", "DynamoDB_20120810.",
                             "DynamoDBStreams_20120810.PutItem", "DynamoDB_20111205.PutItem"}) {
    headers.Set("X-Amz-Target", target);
    const RawReply reply = Send("POST", headers, "{}");
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.body, R"({"__type":"com.amazon.coral.service#UnknownOperationException"})");
  }
  headers.Set("X-Amz-Target", "DynamoDB_20120810.ListTables");
  EXPECT_EQ(Send("POST", headers, "{}").body,
            R"({"__type":"com.amazon.coral.service#MissingAuthenticationTokenException",)"
            R"("message":"Request is missing Authentication Token"})");
  headers.Set("Authorization", "AWS4-HMAC-SHA256 Signature=b");
  EXPECT_THAT(Send("POST", headers, "{}").body,
              HasSubstr("com.amazon.coral.service#IncompleteSignatureException"));
  EXPECT_EQ(Ask("ListTables", "").body,
            R"({"__type":"com.amazon.coral.service#SerializationException"})");
}

TEST_F(DoorTest, PacksAndUnpacks) {
  Start();
  Ask("CreateTable", kCreate);
  http::Headers headers = HeadersFor("DynamoDB_20120810.PutItem");
  headers.Add("Content-Encoding", "gzip");
  const std::string put =
      fmt::format(R"({{"TableName":"things","Item":{{"id":{{"S":"a"}},"t":{{"S":"{}"}}}}}})",
                  std::string(20'000, 'x'));
  EXPECT_EQ(Send("POST", headers, Gzip(put)).body, "{}");
  // A large reply is packed for those who accept it, and its checksum is that of what is sent.
  const std::string get = R"({"TableName":"things","Key":{"id":{"S":"a"}}})";
  EXPECT_EQ(Ask("GetItem", get).Find("Content-Encoding"), std::nullopt);
  headers = HeadersFor("DynamoDB_20120810.GetItem");
  headers.Add("Accept-Encoding", "deflate, gzip");
  const RawReply packed = Send("POST", headers, get);
  EXPECT_THAT(packed.Find("Content-Encoding"), Optional(std::string("gzip")));
  EXPECT_EQ(packed.Find("x-amz-crc32"), std::to_string(Crc32(packed.body)));
  EXPECT_EQ(Gunzip(packed.body, kMaxBodyBytes).value(), Ask("GetItem", get).body);
  headers.Set("Accept-Encoding", "gzip;q=0, identity");
  EXPECT_EQ(Send("POST", headers, get).Find("Content-Encoding"), std::nullopt);
}

TEST_F(DoorTest, SurvivesHostileGzip) {
  Start();
  http::Headers headers = HeadersFor("DynamoDB_20120810.ListTables");
  headers.Add("Content-Encoding", "gzip");
  EXPECT_EQ(Send("POST", headers, Gzip(std::string(kMaxBodyBytes + 1, ' '))).status, 413);
  const std::string packed = Gzip("{}");
  EXPECT_THAT(Send("POST", headers, packed.substr(0, packed.size() - 1)).body,
              HasSubstr("SerializationException"));
  EXPECT_THAT(Send("POST", headers, "{}").body, HasSubstr("SerializationException"));
  EXPECT_EQ(Send("POST", headers, packed).body, R"({"TableNames":[]})");
}

// What a stranger sends is not unpacked and not parsed: that takes many times the memory.
TEST_F(DoorTest, ALargeOrPackedBodyIsReadAfterItsSignatureWasChecked) {
  options_.door.open = false;
  Start();
  NewAccessKey key = keys_->Create("all", {}).value();
  const std::string target = "DynamoDB_20120810.ListTables";
  const http::Headers packed{{"Content-Encoding", "gzip"}};
  const std::string bomb = Gzip(std::string(kMaxBodyBytes + 1, ' '));
  const std::string no_json(100'000, '(');
  EXPECT_EQ(Send("POST", SignedHeaders(key, target, bomb, packed), bomb).status, 413);
  EXPECT_THAT(Send("POST", SignedHeaders(key, target, no_json), no_json).body,
              HasSubstr("SerializationException"));
  const std::string good = Gzip("{}");
  EXPECT_EQ(Send("POST", SignedHeaders(key, target, good, packed), good).status, 200);
  key.secret = Secret("guessed");
  EXPECT_THAT(Send("POST", SignedHeaders(key, target, bomb, packed), bomb).body,
              HasSubstr("InvalidSignatureException"));
  EXPECT_THAT(Send("POST", SignedHeaders(key, target, no_json), no_json).body,
              HasSubstr("InvalidSignatureException"));
}

TEST_F(DoorTest, OnlyAFewLargeBodiesAreAnsweredAtOnce) {
  std::counting_semaphore<9> begun(0);
  std::counting_semaphore<9> may_end(0);
  auto held = std::make_unique<tidemark::testing::FaultyTables>(tables_.get());
  held->decide = [&](tidemark::testing::Operation operation) {
    if (operation == tidemark::testing::Operation::kPut) {
      begun.release();
      may_end.acquire();
    }
    return std::nullopt;
  };
  decorated_ = std::move(held);
  options_.door.large_bodies = {.capacity = 1, .max_waiting = 0};
  Start();
  Ask("CreateTable", kCreate);
  const std::string large =
      fmt::format(R"({{"TableName":"things","Item":{{"id":{{"S":"a"}},"t":{{"S":"{}"}}}}}})",
                  std::string(100'000, 'x'));
  RawConnection first(port());
  first.Send(TextOf("POST", HeadersFor("DynamoDB_20120810.PutItem"), large));
  begun.acquire();
  EXPECT_EQ(Ask("PutItem", large).status, 503);
  // Small requests go on.
  EXPECT_EQ(Ask("GetItem", R"({"TableName":"things","Key":{"id":{"S":"a"}}})").body, "{}");
  may_end.release(2);
  EXPECT_EQ(first.ReadReply().body, "{}");
  EXPECT_EQ(Ask("PutItem", large).body, "{}");
}

// The tables answer the read of an access key on a thread of theirs, which others need.
class LateTables final : public tidemark::testing::ForwardingTables {
 public:
  using ForwardingTables::ForwardingTables;
  using Tables::Submit;
  Later<std::optional<item::Item>> Submit(tables::GetRequest request,
                                          std::optional<Deadline> /*deadline*/) override {
    return reader_.Run([this, request = std::move(request)] {
      reader_id_ = std::this_thread::get_id();
      return inner().Get(request);
    });
  }
  Result<tables::TableDescription> CreateTable(const tables::CreateTableRequest& request) override {
    has_blocked_reader_ = has_blocked_reader_ || std::this_thread::get_id() == reader_id_;
    return ForwardingTables::CreateTable(request);
  }
  bool has_blocked_reader() const { return has_blocked_reader_; }

 private:
  std::atomic<std::thread::id> reader_id_ = std::thread::id();
  std::atomic<bool> has_blocked_reader_ = false;
  WorkerPool reader_{{.threads = 1, .max_waiting = 10}};
};

TEST_F(DoorTest, ACallThatBlocksIsNotMadeOnAThreadOfTheTables) {
  auto late = std::make_unique<LateTables>(tables_.get());
  const LateTables& seen = *late;
  decorated_ = std::move(late);
  options_.door.open = false;
  Start();
  const NewAccessKey key = keys_->Create("all", {}).value();
  EXPECT_EQ(AskSigned(key, "CreateTable", kCreate + std::string(100'000, ' ')).status, 200);
  EXPECT_FALSE(seen.has_blocked_reader());
}

// Without workers, nothing of what is theirs is done.
TEST_F(DoorTest, WorkersCheckLargeBodiesAndMakeCallsThatBlock) {
  options_.door.open = false;
  Start();
  const NewAccessKey key = keys_->Create("all", {}).value();
  WorkerPool none({.threads = 1, .max_waiting = 1});
  none.Stop();
  Door door(options_.door, tables_.get(), keys_.get(), &none, runtime_.runtime());
  const auto status_of = [&](const std::string& operation, const std::string& body,
                             const std::string& signed_body) {
    int status = 0;
    std::binary_semaphore answered(0);
    door.Handle({.method = http::Method::kPost,
                 .path = "/",
                 .headers = SignedHeaders(key, kTables + operation, signed_body),
                 .body = body},
                [&](const http::Response& response) {
                  status = response.status;
                  answered.release();
                });
    answered.acquire();
    return status;
  };
  EXPECT_EQ(status_of("GetItem", "{}", "another body"), 400);
  EXPECT_EQ(status_of("GetItem", std::string(100'000, ' '), "another body"), 503);
  EXPECT_EQ(status_of("CreateTable", kCreate, kCreate), 503);
}

// A read that has waited for longer than its caller does is not made.
TEST_F(DoorTest, AReadThatWaitedTooLongIsNotMade) {
  class Slow final : public tidemark::testing::ForwardingTables {
   public:
    using ForwardingTables::ForwardingTables;
    using Tables::Submit;
    Later<tables::Page> Submit(tables::ScanRequest request,
                               std::optional<Deadline> deadline) override {
      clock->Advance(std::chrono::seconds(30));
      return inner().Submit(std::move(request), deadline);
    }
    ManualClock* clock = nullptr;
  };
  auto slow = std::make_unique<Slow>(tables_.get());
  slow->clock = &runtime_.clock;
  decorated_ = std::move(slow);
  Start();
  ASSERT_EQ(Ask("CreateTable", kCreate).status, 200);
  const RawReply late = Ask("Scan", R"({"TableName":"things"})");
  EXPECT_EQ(late.status, 503);
  EXPECT_THAT(late.body, HasSubstr("ServiceUnavailable"));
}

// Each gets an answer, and the server goes on.
TEST_F(DoorTest, SurvivesHostileBodies) {
  Start();
  Ask("CreateTable", kCreate);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += R"({"M":{"a":)";
  const auto put = [&](const std::string& value) {
    return Ask("PutItem", R"({"TableName":"things","Item":{"id":{"S":"a"},"v":)" + value + "}}");
  };
  EXPECT_THAT(Ask("PutItem", deep).body, HasSubstr("SerializationException"));
  EXPECT_THAT(put(deep + std::string(100'000, '}')).body, HasSubstr("SerializationException"));
  std::string nested = R"({"S":"x"})";
  for (int i = 0; i < 40; ++i) nested = R"({"L":[)" + nested + "]}";
  EXPECT_THAT(put(nested).body, HasSubstr("Nesting Levels have exceeded supported limits"));
  for (const char* number :
       {"1e999999999999999999", "1e2147483647", "-1e-2147483648", "1e", "NaN", "0x1", " 1", ""}) {
    EXPECT_THAT(put(fmt::format(R"({{"N":"{}"}})", number)).body, HasSubstr("ValidationException"))
        << number;
  }
  EXPECT_THAT(put(R"({"S":")"
                  "\xff"
                  R"("})")
                  .body,
              HasSubstr("SerializationException"));
  EXPECT_THAT(put(R"({"B":"AQ"})").body, HasSubstr("SerializationException"));
  EXPECT_THAT(put(R"({"S":"x","N":"1"})").body, HasSubstr("ValidationException"));
  EXPECT_THAT(Ask("PutItem", fmt::format(R"({{"TableName":"things","Item":{{"id":{{"S":"{}"}}}}}})",
                                         std::string(400'000, 'k')))
                  .body,
              HasSubstr("Size of hashkey has exceeded the maximum size limit"));
  EXPECT_THAT(Ask("Scan", fmt::format(R"({{"TableName":"things","FilterExpression":"{}"}})",
                                      std::string(10 << 20, '(')))
                  .body,
              HasSubstr("Expression size has exceeded the maximum allowed size"));
  EXPECT_EQ(put(R"({"S":"x"})").body, "{}");
}

// With work that grows with the square of the input, each of these takes minutes.
TEST_F(DoorTest, AnswersHostileListsInLinearTime) {
  Start();
  std::string empty_parts;
  std::string short_names;
  for (int i = 0; i < 100'000; ++i) {
    empty_parts += fmt::format(R"({}"table-{}":[])", i == 0 ? "" : ",", i);
    short_names += fmt::format(R"({}"{:x}!":[])", i == 0 ? "" : ",", i);
  }
  for (const std::string& parts : {empty_parts, short_names}) {
    EXPECT_THAT(Ask("BatchWriteItem", R"({"RequestItems":{)" + parts + "}}").body,
                HasSubstr("failed to satisfy constraint: Map"));
  }
  std::string statements;
  for (int i = 0; i < 25; ++i) {
    statements +=
        fmt::format(R"({}{{"Statement":"{}"}})", i == 0 ? "" : ",", std::string(8'192, '*'));
  }
  EXPECT_THAT(Ask("BatchExecuteStatement", R"({"Statements":[)" + statements + "]}").body,
              HasSubstr("ValidationError"));
}

TEST_F(DoorTest, RefusesBodiesAboveTheLimit) {
  Start();
  std::string head = "POST / HTTP/1.1\r\n";
  for (const auto& [name, value] : HeadersFor("DynamoDB_20120810.ListTables")) {
    head += name + ": " + value + "\r\n";
  }
  connection_->Send(head + fmt::format("Content-Length: {}\r\n\r\n", kMaxBodyBytes + 1));
  EXPECT_EQ(connection_->ReadReply().status, 413);
}

// A page that resolves its own name to 127.0.0.1 sends that name as Host.
TEST_F(DoorTest, OpenModeAnswersOnlyUnderItsOwnNames) {
  options_.door.hosts = {"tables.test"};
  Start();
  http::Headers headers = HeadersFor("DynamoDB_20120810.ListTables");
  for (const char* host : {"localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "[::1]",
                           "tables.test:8000", "Tables.Test", "a.localhost"}) {
    headers.Set("Host", host);
    EXPECT_EQ(Send("POST", headers, "{}").status, 200) << host;
  }
  for (const char* host : {"evil.test", "evil.test:8000", "127.0.0.1.evil.test", "10.0.0.1",
                           "localhost.evil.test", "127.evil"}) {
    headers.Set("Host", host);
    const RawReply refused = Send("POST", headers, "{}");
    EXPECT_EQ(refused.status, 400) << host;
    EXPECT_THAT(refused.body, HasSubstr("com.amazon.coral.service#AccessDeniedException"));
    EXPECT_THAT(Send("GET", {{"Host", host}}, "").body, Not(HasSubstr("healthy")));
  }
}

TEST_F(DoorTest, AllowsOtherOriginsOnlyByASetting) {
  Start();
  http::Headers headers = HeadersFor("DynamoDB_20120810.ListTables");
  headers.Add("Origin", "http://a.test");
  EXPECT_EQ(Send("POST", headers, "{}").Find("Access-Control-Allow-Origin"), std::nullopt);
  EXPECT_EQ(Send("OPTIONS", headers, "").status, 404);
}

TEST_F(DoorTest, AllowsTheOriginsOfTheSetting) {
  options_.door.cors = {"http://a.test"};
  Start();
  http::Headers headers = HeadersFor("DynamoDB_20120810.ListTables");
  headers.Add("Origin", "http://a.test");
  EXPECT_THAT(Send("POST", headers, "{}").Find("Access-Control-Allow-Origin"),
              Optional(std::string("http://a.test")));
  headers.Add("Access-Control-Request-Headers", "x-amz-target");
  headers.Add("Access-Control-Request-Method", "POST");
  const RawReply preflight = Send("OPTIONS", headers, "");
  EXPECT_EQ(preflight.status, 200);
  EXPECT_THAT(preflight.Find("Access-Control-Allow-Headers"),
              Optional(std::string("x-amz-target")));
  EXPECT_THAT(preflight.Find("Access-Control-Allow-Methods"), Optional(std::string("POST")));
  headers.Set("Origin", "http://b.test");
  EXPECT_EQ(Send("POST", headers, "{}").Find("Access-Control-Allow-Origin"), std::nullopt);
}

TEST_F(DoorTest, OpenModeIsForLoopbackOnly) {
  options_.server.listen = "0.0.0.0:0";
  const auto started = Service::Start(options_, tables_.get(), nullptr, runtime_.runtime());
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("dynamodb.open accepts everybody"));
}

TEST_F(DoorTest, OwnTablesCanOnlyBeRead) {
  Start();
  EXPECT_EQ(Ask("DescribeTable", R"({"TableName":"claims"})").status, 400);
  EXPECT_THAT(Ask("PutItem", R"({"TableName":"claims","Item":{"id":{"S":"a"}}})").body,
              HasSubstr("is not authorized to perform: dynamodb:PutItem on resource: "
                        "arn:aws:dynamodb:us-east-1:000000000000:table/claims because the table "
                        "belongs to Tidemark"));
  EXPECT_THAT(Ask("Scan", R"({"TableName":"tidemark-access-keys"})").body,
              HasSubstr("AccessDeniedException"));
}

// Too many large replies wait to be sent. By then a write is done, so its caller must not hear that
// it was refused.
TEST_F(DoorTest, AWriteWhoseReplyIsTooMuchIsNotCalledRefused) {
  options_.server.limits.max_reply_bytes_at_once = 1;
  Start();
  EXPECT_EQ(Ask("CreateTable", kCreate).status, 200);
  const std::string put = R"({"TableName":"things","Item":{"id":{"S":"a"},"x":{"S":")" +
                          std::string(300'000, 'x') + R"("}},"ReturnValues":"ALL_OLD"})";
  EXPECT_EQ(Ask("PutItem", put).body, "{}");
  const RawReply written = Ask("PutItem", put);
  EXPECT_EQ(written.status, 500);
  EXPECT_EQ(written.body, R"({"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError",)"
                          R"("message":"Internal server error"})");
  EXPECT_EQ(written.Find("x-amz-crc32"), std::to_string(Crc32(written.body)));
  EXPECT_EQ(Ask("GetItem", R"({"TableName":"things","Key":{"id":{"S":"a"}}})").status, 503);
}

TEST_F(DoorTest, KeysAreChecked) {
  options_.door.open = false;
  Start();
  const NewAccessKey all = keys_->Create("all", {}).value();
  const NewAccessKey reader = keys_->Create("reader", {.read_only = true}).value();
  const NewAccessKey writer = keys_->Create("writer", {.own_writes = {"claims"}}).value();
  EXPECT_EQ(AskSigned(all, "CreateTable", kCreate).status, 200);
  const std::string put = R"({"TableName":"things","Item":{"id":{"S":"a"}}})";
  EXPECT_EQ(AskSigned(all, "PutItem", put).body, "{}");
  EXPECT_EQ(AskSigned(reader, "Scan", R"({"TableName":"things"})").status, 200);
  EXPECT_THAT(AskSigned(reader, "PutItem", put).body, HasSubstr("AccessDeniedException"));
  const std::string claim = R"({"TableName":"claims","Item":{"id":{"S":"a"}}})";
  EXPECT_THAT(AskSigned(all, "PutItem", claim).body, HasSubstr("AccessDeniedException"));
  EXPECT_THAT(AskSigned(writer, "PutItem", claim).body, HasSubstr("ResourceNotFoundException"));

  NewAccessKey wrong = all;
  wrong.secret = Secret("guessed");
  EXPECT_THAT(AskSigned(wrong, "ListTables", "{}").body, HasSubstr("InvalidSignatureException"));
  wrong.id = "TMNOBODY";
  EXPECT_THAT(AskSigned(wrong, "ListTables", "{}").body,
              HasSubstr("UnrecognizedClientException\",\"message\":\"The security token included "
                        "in the request is invalid."));
  EXPECT_THAT(Ask("ListTables", "{}").body, HasSubstr("InvalidSignatureException"));
  // The door answers under any name: a signature covers the Host.
  EXPECT_EQ(Send("GET", {{"Host", "tables.test"}}, "").status, 200);

  ASSERT_TRUE(RevokeKey(*tables_, "all"));
  runtime_.clock.Advance(std::chrono::seconds(1));
  EXPECT_THAT(AskSigned(all, "ListTables", "{}").body, HasSubstr("UnrecognizedClientException"));
}

// What happened is in the log, under the id that the caller has. The caller is not told paths.
TEST_F(DoorTest, LogsFailuresDenialsAndDefinitions) {
  auto faulty = std::make_unique<tidemark::testing::FaultyTables>(tables_.get());
  faulty->decide = [](tidemark::testing::Operation operation) {
    return operation == tidemark::testing::Operation::kDelete
               ? std::optional(tidemark::testing::Fault{
                     {ErrorCode::kInternal, "IO error: /data/tables/000012.sst"}})
               : std::nullopt;
  };
  decorated_ = std::move(faulty);
  options_.door.open = false;
  Start();
  const NewAccessKey key = keys_->Create("ci", {}).value();
  const RawReply created = AskSigned(key, "CreateTable", kCreate);
  const RawReply denied =
      AskSigned(key, "PutItem", R"({"TableName":"claims","Item":{"id":{"S":"private"}}})");
  const RawReply failed =
      AskSigned(key, "DeleteItem", R"({"TableName":"things","Key":{"id":{"S":"private"}}})");
  EXPECT_EQ(failed.status, 500);
  EXPECT_EQ(failed.body, R"({"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError",)"
                         R"("message":"Internal server error"})");
  AskSigned(key, "GetItem", R"({"TableName":"things","Key":{"id":{"S":"private"}}})");
  service_->Stop(std::chrono::seconds(10));
  const std::string log = runtime_.TakeLog();
  const auto line = [&](const char* operation, const char* table, int status, const char* cause,
                        const RawReply& reply) {
    return fmt::format(R"("operation":"{}","tables":"{}","key":"ci","status":{},"cause":"{}",)"
                       R"("aws_request_id":"{}")",
                       operation, table, status, cause,
                       reply.Find("x-amzn-RequestId").value_or("?"));
  };
  EXPECT_THAT(log, HasSubstr(line("CreateTable", "things", 200, "", created)));
  EXPECT_THAT(log, HasSubstr(line("PutItem", "claims", 400,
                                  "the table belongs to Tidemark and can only be read here, except "
                                  "with an access key that was made with --write claims",
                                  denied)));
  EXPECT_THAT(log, HasSubstr(line("DeleteItem", "things", 500, "IO error: /data/tables/000012.sst",
                                  failed)));
  EXPECT_THAT(log, Not(HasSubstr("GetItem")));
  EXPECT_THAT(log, Not(HasSubstr("private")));
}

// A table with a stream and one item. Returns an iterator at the beginning of the stream.
std::string MakeStream(tables::Tables& tables, const std::string& table) {
  const auto made = tables.CreateTable({.table = table,
                                        .keys = {.partition = {.name = "id"}},
                                        .stream = tables::StreamView::kNewImage});
  EXPECT_TRUE(tables.Put({.table = table, .item = {{"id", "a"}}}));
  const std::string arn = made.value().latest_stream->arn;
  const auto stream = tables.DescribeStream(arn);
  return tables.GetShardIterator({.arn = arn, .shard = stream->shards.front().id}).value();
}

constexpr char kStreams[] = "DynamoDBStreams_20120810.";

// Sequence numbers begin again in each stream. A consumer of both must not take one change for a
// repetition of the other.
TEST_F(DoorTest, ChangesOfTwoStreamsHaveDifferentIds) {
  options_.door.open = false;
  Start();
  const NewAccessKey key = keys_->Create("all", {}).value();
  std::set<std::string> ids;
  for (const char* table : {"things", "others"}) {
    const std::string body =
        AskSigned(key, "GetRecords",
                  fmt::format(R"({{"ShardIterator":"{}"}})", MakeStream(*tables_, table)), kStreams)
            .body;
    EXPECT_THAT(body, HasSubstr(R"("awsRegion":"local")"));
    const size_t id = body.find(R"("eventID":")");
    ASSERT_NE(id, std::string::npos) << body;
    ids.insert(body.substr(id, 43));
  }
  EXPECT_EQ(ids.size(), 2u);
}

// An iterator names its stream, so a key for one table can read the records of that table alone.
TEST_F(DoorTest, AKeyForOneTableReadsTheRecordsOfThatTable) {
  options_.door.open = false;
  Start();
  const NewAccessKey key = keys_->Create("one", {.tables = {"things"}}).value();
  std::vector<std::string> iterators;
  for (const char* table : {"things", "others"}) iterators.push_back(MakeStream(*tables_, table));
  const auto read = [&](const std::string& iterator) {
    return AskSigned(key, "GetRecords", fmt::format(R"({{"ShardIterator":"{}"}})", iterator),
                     kStreams)
        .body;
  };
  EXPECT_THAT(read(iterators[0]), HasSubstr(R"("eventName":"INSERT")"));
  EXPECT_THAT(read(iterators[1]), HasSubstr("AccessDeniedException"));
  // The ARN of one stream and the place in the other.
  const std::string mixed = iterators[0].substr(0, iterators[0].rfind('|')) +
                            iterators[1].substr(iterators[1].rfind('|'));
  EXPECT_THAT(read(mixed), HasSubstr("Invalid ShardIterator"));
  EXPECT_THAT(read(iterators[1].substr(iterators[1].rfind('|') + 1)),
              HasSubstr("AccessDeniedException"));
}

// Another process revokes a key: its row is gone.
TEST_F(DoorTest, ARevokedKeyEndsWithinASecond) {
  options_.door.open = false;
  Start();
  const NewAccessKey key = keys_->Create("all", {}).value();
  EXPECT_EQ(AskSigned(key, "ListTables", "{}").status, 200);
  ASSERT_TRUE(tables_->Delete({.table = std::string(kKeysTable), .key = {{"id", key.id}}}));
  runtime_.clock.Advance(std::chrono::seconds(1));
  EXPECT_THAT(AskSigned(key, "ListTables", "{}").body, HasSubstr("UnrecognizedClientException"));
}

}  // namespace
}  // namespace tidemark::dynamodb
