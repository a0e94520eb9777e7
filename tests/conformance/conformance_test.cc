// Sends the requests of every file below this folder to a server, and compares the replies.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/conformance/exchange.h"
#include "tests/conformance/port.h"

namespace tidemark::conformance {
namespace {

namespace fs = std::filesystem;

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

// One port for all files: each deletes its tables at its end.
class ConformanceTest : public ::testing::TestWithParam<std::string> {
 protected:
  // A file "older*.test" has the words of errors that AWS used before.
  void SetUp() override {
    const bool is_older = GetParam().find("/older") != std::string::npos;
    auto& port = is_older ? older_port_ : newer_port_;
    if (port == nullptr) {
      port = std::make_unique<Port>(dynamodb::DoorOptions{.older_wording = is_older});
    }
    port_ = port.get();
  }
  void TearDown() override { port_->Clean(); }
  static void TearDownTestSuite() {
    newer_port_.reset();
    older_port_.reset();
  }

  void Compare(const Exchange& exchange) const {
    const auto reply = port_->Send({.operation = exchange.operation, .body = exchange.request});
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
    const bool has_capital = exchange.exception == "SerializationException" ||
                             exchange.exception == "TransactionCanceledException" ||
                             exchange.exception == "IdempotentParameterMismatchException";
    if (exchange.message != "…") {
      EXPECT_EQ(TextIn(actual->root(), has_capital ? "Message" : "message"), exchange.message);
    }
    for (const auto& [name, value] : expected->root().Members()) {
      const auto found = actual->root().Find(name);
      ASSERT_TRUE(found.has_value()) << name << " is missing";
      EXPECT_EQ(Difference(value, *found, std::string(name)), "");
    }
  }

  static inline std::unique_ptr<Port> newer_port_;
  static inline std::unique_ptr<Port> older_port_;
  Port* port_ = nullptr;
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
