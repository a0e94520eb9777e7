// Sends the requests of every file below this folder to a server, and compares the replies.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "servers/dynamodb/service.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/conformance/exchange.h"
#include "tests/support/raw_connection.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_runtime.h"

namespace tidemark::conformance {
namespace {

namespace fs = std::filesystem;

constexpr char kAnySignature[] =
    "AWS4-HMAC-SHA256 Credential=a/20231114/us-east-1/dynamodb/aws4_request, SignedHeaders=host, "
    "Signature=b";

std::string ReadFile(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> AllFiles() {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(TIDEMARK_CONFORMANCE)) {
    if (entry.path().extension() != ".test") continue;
    names.push_back(fs::relative(entry.path(), TIDEMARK_CONFORMANCE).string());
  }
  std::ranges::sort(names);
  return names;
}

// One server for all files: each deletes its tables at its end.
class Server {
 public:
  Server() {
    tables_ = embedded::EmbeddedTables::Open({.folder = folder_.path() + "/data",
                                              .durability = embedded::Durability::kEverySecond,
                                              .background = false,
                                              .region = "us-east-1",
                                              .clock = &runtime_.clock,
                                              .random = &runtime_.random})
                  .value();
    dynamodb::ServiceOptions options;
    options.server.listen = "127.0.0.1:0";
    options.server.loops = 1;
    options.workers = 2;
    options.door.open = true;
    service_ =
        dynamodb::Service::Start(options, tables_.get(), nullptr, runtime_.runtime()).value();
    const std::string& address = service_->address();
    connection_ = std::make_unique<tidemark::testing::RawConnection>(
        static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  }

  tidemark::testing::RawReply Send(const Exchange& exchange) {
    const bool is_of_streams = exchange.operation.find("Stream") != std::string::npos ||
                               exchange.operation == "GetShardIterator" ||
                               exchange.operation == "GetRecords";
    connection_->Send(fmt::format(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
        "X-Amz-Date: 20231114T221320Z\r\nX-Amz-Target: {}_20120810.{}\r\nAuthorization: {}\r\n"
        "Content-Length: {}\r\n\r\n{}",
        is_of_streams ? "DynamoDBStreams" : "DynamoDB", exchange.operation, kAnySignature,
        exchange.request.size(), exchange.request));
    return connection_->ReadReply();
  }
  void Clean() {
    const auto listed = tables_->ListTables({}).value();
    for (const std::string& table : listed.tables) {
      (void)tables_->UpdateTable({.table = table, .deletion_protected = false}).has_value();
      ASSERT_TRUE(tables_->DeleteTable(table));
    }
    ASSERT_TRUE(tables_->Maintain());
  }

 private:
  TempFolder folder_;
  tidemark::testing::TestRuntime runtime_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
  std::unique_ptr<dynamodb::Service> service_;
  std::unique_ptr<tidemark::testing::RawConnection> connection_;
};

class ConformanceTest : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { server_ = new Server; }
  static void TearDownTestSuite() { delete server_; }
  void TearDown() override { server_->Clean(); }

  static void Compare(const Exchange& exchange) {
    const auto reply = server_->Send(exchange);
    SCOPED_TRACE(fmt::format("line {}: {} answered {} {}", exchange.line, exchange.operation,
                             reply.status, reply.body));
    EXPECT_EQ(reply.status, exchange.status);
    const auto expected = JsonDocument::Parse(exchange.reply);
    ASSERT_TRUE(expected.has_value()) << "the expected reply is not JSON: " << exchange.reply;
    const auto actual = JsonDocument::Parse(reply.body.empty() ? "{}" : reply.body);
    ASSERT_TRUE(actual.has_value());
    if (exchange.exception.empty()) {
      EXPECT_EQ(Difference(expected->root(), actual->root()), "");
      return;
    }
    const std::string type = TextIn(actual->root(), "__type");
    EXPECT_EQ(type.substr(type.rfind('#') + 1), exchange.exception);
    const bool has_capital = exchange.exception == "SerializationException";
    if (exchange.message != "…") {
      EXPECT_EQ(TextIn(actual->root(), has_capital ? "Message" : "message"), exchange.message);
    }
    for (const auto& [name, value] : expected->root().Members()) {
      const auto found = actual->root().Find(name);
      ASSERT_TRUE(found.has_value()) << name << " is missing";
      EXPECT_EQ(Difference(value, *found, std::string(name)), "");
    }
  }

  static inline Server* server_ = nullptr;
};

TEST_P(ConformanceTest, AnswersAsDynamoDb) {
  const auto file = ParseTestFile(ReadFile(fs::path(TIDEMARK_CONFORMANCE) / GetParam()));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  SCOPED_TRACE(file->why);
  for (const Exchange& exchange : file->exchanges) Compare(exchange);
}

INSTANTIATE_TEST_SUITE_P(Files, ConformanceTest, ::testing::ValuesIn(AllFiles()),
                         [](const auto& file) {
                           std::string name = file.param.substr(0, file.param.rfind('.'));
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace tidemark::conformance
