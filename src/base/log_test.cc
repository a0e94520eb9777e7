#include "base/log.h"

#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/secret.h"
#include "tests/support/manual_time.h"

namespace tidemark {
namespace {

// What a secret holds must not reach a log, not even by mistake.
static_assert(std::is_constructible_v<LogField, std::string_view, std::string>);
static_assert(!std::is_constructible_v<LogField, std::string_view, Secret>);

class LogTest : public ::testing::Test {
 protected:
  std::string Written(LogFormat format, std::string_view message,
                      std::initializer_list<LogField> fields) {
    std::ostringstream out;
    Logger({.format = format}, clock_, &out).Log(LogLevel::kInfo, message, fields);
    return out.str();
  }

  ManualClock clock_{1'700'000'000};
};

TEST_F(LogTest, WritesTextLinesWithTheTimeOfTheClock) {
  clock_.Advance(std::chrono::milliseconds(7));
  const std::string name = "orders";
  EXPECT_EQ(Written(LogFormat::kText, "table created",
                    {{"table", name}, {"rows", 3}, {"took", 0.5}, {"new", true}}),
            "2023-11-14T22:13:20.007Z info table created table=orders rows=3 took=0.5 new=true\n");
}

TEST_F(LogTest, WritesJsonLines) {
  EXPECT_EQ(Written(LogFormat::kJson, "table created", {{"table", "orders"}, {"rows", 3}}),
            R"({"time":"2023-11-14T22:13:20.000Z","level":"info","message":"table created",)"
            R"("table":"orders","rows":3})"
            "\n");
}

TEST_F(LogTest, LeavesOutLinesBelowItsLevel) {
  std::ostringstream out;
  const Logger logger({.level = LogLevel::kWarning}, clock_, &out);
  logger.Log(LogLevel::kInfo, "left out");
  EXPECT_EQ(out.str(), "");
  logger.Log(LogLevel::kWarning, "disk is nearly full");
  logger.Log(LogLevel::kError, "disk is full");
  logger.Log(LogLevel::kAudit, "lock lifted");
  EXPECT_EQ(out.str(),
            "2023-11-14T22:13:20.000Z warning disk is nearly full\n"
            "2023-11-14T22:13:20.000Z error disk is full\n"
            "2023-11-14T22:13:20.000Z audit lock lifted\n");
}

// Field values come from outside: none may begin a line or a field of its own.
TEST_F(LogTest, WritesEveryMessageOnOneLine) {
  const std::string forged = "x\n2023-11-14T22:13:20.000Z error forged";
  EXPECT_EQ(Written(LogFormat::kText, "seen", {{"key", forged}}),
            "2023-11-14T22:13:20.000Z info seen "
            "key=\"x\\n2023-11-14T22:13:20.000Z error forged\"\n");
  EXPECT_EQ(Written(LogFormat::kText, "a\nb", {{"key", "a b=\"c\""}, {"empty", ""}}),
            "2023-11-14T22:13:20.000Z info \"a\\nb\" key=\"a b=\\\"c\\\"\" empty=\"\"\n");
}

// A terminal obeys control bytes, and a line that is not UTF-8 breaks the reader of JSON lines.
TEST_F(LogTest, EscapesControlCharactersAndInvalidUtf8) {
  for (LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
    all += "\xc2\x9b[2J \xed\xa0\x80 \xf4\x90\x80\x80 \xe0\x80\x80 \xc3";
    const std::string line = Written(format, all, {{"key", all}, {"kept", "é😀"}});
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(line.find('\x7f'), std::string::npos);
    EXPECT_EQ(line.find("\xc2\x9b"), std::string::npos);
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_NE(line.find("é😀"), std::string::npos);
    std::string quoted;
    JsonWriter(&quoted).String(line);
    EXPECT_TRUE(JsonDocument::Parse(quoted)) << "the line is not UTF-8";
  }
}

TEST_F(LogTest, WritesJsonThatParses) {
  const std::string line = Written(LogFormat::kJson, "a\"b", {{"key", "\x01\\"}, {"n", -1}});
  const auto document = JsonDocument::Parse(line);
  ASSERT_TRUE(document) << line;
  EXPECT_EQ(document->root().Find("message")->AsString(), "a\"b");
  EXPECT_EQ(document->root().Find("key")->AsString(), "\x01\\");
  EXPECT_EQ(document->root().Find("n")->AsInt(), -1);
}

TEST_F(LogTest, DoesNotMixTheLinesOfThreads) {
  std::ostringstream out;
  const Logger logger({}, clock_, &out);
  std::vector<std::thread> threads(4);
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      for (int j = 0; j < 50; ++j) logger.Log(LogLevel::kInfo, "line", {{"n", j % 10}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::istringstream lines(out.str());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_THAT(line, ::testing::MatchesRegex(".* info line n=[0-9]"));
  }
  EXPECT_EQ(count, 200);
}

// Every choice the settings offer has to mean a level or format of its own.
TEST(LogSettingsTest, UnderstandsEveryChoice) {
  EXPECT_EQ(LogLevelFrom("debug"), LogLevel::kDebug);
  EXPECT_EQ(LogLevelFrom("info"), LogLevel::kInfo);
  EXPECT_EQ(LogLevelFrom("warning"), LogLevel::kWarning);
  EXPECT_EQ(LogLevelFrom("error"), LogLevel::kError);
  EXPECT_EQ(LogFormatFrom("text"), LogFormat::kText);
  EXPECT_EQ(LogFormatFrom("json"), LogFormat::kJson);
}

}  // namespace
}  // namespace tidemark
