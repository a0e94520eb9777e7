#include "apps/dedup/runner.h"

#include <chrono>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/dedup/stage.h"

namespace tidemark::dedup {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kOwnBot[] = "B0OWNBOT1";

slack::EventCallback Parsed(std::string_view event) {
  const std::string body = R"({"type":"event_callback","team_id":"T1","event_id":"Ev1","event":)" +
                           std::string(event) + "}";
  const auto envelope = slack::ParseEnvelope(body);
  CHECK(envelope.has_value());
  return std::get<slack::EventCallback>(*envelope);
}

slack::EventCallback FileShare(std::string_view files, std::string_view bot_id = "") {
  return Parsed(R"({"type":"message","subtype":"file_share","channel":"C1","user":"U1","ts":"1.2",)"
                R"("bot_id":")" +
                std::string(bot_id) + R"(","files":)" + std::string(files) + "}");
}

class RunnerTest : public ::testing::Test {
 protected:
  RunReport Handle(const slack::EventCallback& callback) {
    const auto report = runner_.Handle(callback, [&](const Work& work, Lease&) -> Status {
      ++runs_[work.file_id.empty() ? work.keys.front() : work.file_id];
      return outcome_;
    });
    EXPECT_TRUE(report.has_value()) << report.error().message;
    return report ? *report : RunReport{};
  }
  int checks() {
    const std::string text = log_.str();
    int count = 0;
    for (size_t at = 0; (at = text.find("deduplication check", at)) != text.npos; ++at) ++count;
    return count;
  }

  Stage stage_;
  std::ostringstream log_;
  Logger logger_{{.level = LogLevel::kDebug, .format = LogFormat::kText}, stage_.clock, &log_};
  Deduplicator dedup_{{},
                      &stage_.claims,
                      {.clock = stage_.clock,
                       .random = stage_.random,
                       .sleeper = stage_.sleeper,
                       .logger = logger_,
                       .metrics = stage_.test.metrics}};
  WorkRunner runner_{
      {.own_bot_id = kOwnBot, .task_channels = {"CTASK", "CBOTH"}, .inbox_channels = {"CBOTH"}},
      &dedup_,
      logger_};
  std::map<std::string, int> runs_;
  Status outcome_ = Done{};
};

// Spec: 004-11
TEST_F(RunnerTest, ADuplicateIsLoggedAndNotRun) {
  const auto event = FileShare(R"([{"id":"F1"}])");
  Handle(event);
  log_.str("");
  const RunReport again = Handle(event);
  EXPECT_EQ(runs_["F1"], 1);
  EXPECT_EQ(again.ran, 0u);
  EXPECT_EQ(again.duplicates, 1u);
  EXPECT_TRUE(again.settled());  // A success: the sender need not deliver it again.
  EXPECT_THAT(log_.str(), HasSubstr("info duplicate event detected key=T1:file:C1:F1 "
                                    "reason=\"Already processed by another instance\""));
  EXPECT_EQ(log_.str().find("duplicate event detected"),
            log_.str().rfind("duplicate event detected"));
}

// Spec: 004-12
TEST_F(RunnerTest, ANewEventsWorkRunsOnce) {
  const RunReport report = Handle(FileShare(R"([{"id":"F1"}])"));
  EXPECT_EQ(report.ran, 1u);
  EXPECT_EQ(runs_, (std::map<std::string, int>{{"F1", 1}}));
  const item::Item row = stage_.RowOf("T1:F1_1.2");
  EXPECT_EQ(TextIn(row, "status"), "done");
  EXPECT_EQ(TextIn(row, "file_id"), "F1");
  EXPECT_EQ(TextIn(row, "channel_id"), "C1");
  EXPECT_EQ(TextIn(row, "user_id"), "U1");
}

// A bot that answers itself would never stop.
// Spec: 004-35
TEST_F(RunnerTest, MessagesOfTheBotItselfAreIgnored) {
  EXPECT_EQ(Handle(FileShare(R"([{"id":"F1"}])", kOwnBot)).ran, 0u);
  EXPECT_THAT(runs_, IsEmpty());
  EXPECT_EQ(checks(), 0);
  EXPECT_EQ(Handle(FileShare(R"([{"id":"F1"}])", "B0OTHER01")).ran, 1u);
  for (const char* id : {"", "BXXXXXXXXXX", "B0000000000", "your-bot-id", "B1", "U0123ABCDE"}) {
    const auto warning = OwnBotWarning(id);
    ASSERT_TRUE(warning.has_value()) << id;
    EXPECT_THAT(*warning, HasSubstr("own id"));
  }
  EXPECT_FALSE(OwnBotWarning("B012AB34CD").has_value());
}

// Spec: 004-36
TEST_F(RunnerTest, AFileShareWithoutFilesIsAWarning) {
  for (const char* files : {"[]", "null"}) {
    log_.str("");
    EXPECT_EQ(Handle(FileShare(files)).ran, 0u);
    EXPECT_THAT(log_.str(), HasSubstr("warn"));
    EXPECT_EQ(checks(), 0);
  }
  EXPECT_THAT(stage_.claims.ListHistory(std::nullopt, 10)->rows, IsEmpty());
}

// Spec: 004-37
TEST_F(RunnerTest, EveryFileOfAMessageIsAPieceOfItsOwn) {
  const auto event = FileShare(R"([{"id":"F1"},{"id":"F2"},{"id":"F3"}])");
  EXPECT_EQ(Handle(event).ran, 3u);
  EXPECT_EQ(Handle(event).duplicates, 3u);
  EXPECT_EQ(runs_, (std::map<std::string, int>{{"F1", 1}, {"F2", 1}, {"F3", 1}}));
  for (const char* key : {"T1:F1_1.2", "T1:F2_1.2", "T1:F3_1.2"}) {
    EXPECT_TRUE(stage_.Stored(key).has_value()) << key;
  }
}

// One upload causes several events with different ids.
// Spec: 004-38
TEST_F(RunnerTest, TheMessageAndTheFileSharedEventAreOnePiece) {
  const auto message = FileShare(R"([{"id":"F1"},{"id":"F2"}])");
  const auto shared = Parsed(
      R"({"type":"file_shared","file_id":"F1","user_id":"U1","channel_id":"C1","event_ts":"1.3"})");
  Handle(message);
  EXPECT_EQ(Handle(shared).duplicates, 1u);
  EXPECT_EQ(runs_["F1"], 1);
  const auto earlier =
      Parsed(R"({"type":"file_shared","file":{"id":"F9"},"channel_id":"C1","event_ts":"2"})");
  EXPECT_EQ(Handle(earlier).ran, 1u);
  EXPECT_EQ(Handle(FileShare(R"([{"id":"F9"}])")).duplicates, 1u);
  EXPECT_EQ(runs_["F9"], 1);
}

// Spec: 004-39
TEST_F(RunnerTest, PrefixesKeepKindsOfWorkApart) {
  const auto mention =
      Parsed(R"({"type":"app_mention","channel":"CBOTH","user":"U1","ts":"1.2","text":"hi"})");
  const auto message =
      Parsed(R"({"type":"message","channel":"CBOTH","user":"U1","ts":"1.2","text":"hi"})");
  EXPECT_EQ(Handle(mention).ran, 1u);
  EXPECT_EQ(Handle(message).ran, 2u);
  EXPECT_EQ(Handle(mention).duplicates, 1u);
  EXPECT_EQ(Handle(message).duplicates, 2u);
  EXPECT_EQ(runs_, (std::map<std::string, int>{{"app_mention:T1:CBOTH:1.2", 1},
                                               {"task_intake_T1_CBOTH_1.2", 1},
                                               {"inbox_T1_CBOTH_1.2", 1}}));
  // A message in another channel asks for no work.
  EXPECT_EQ(Handle(Parsed(R"({"type":"message","channel":"C9","user":"U1","ts":"1.2"})")).ran, 0u);
}

// A missing part must not become a part of a key.
TEST_F(RunnerTest, EventsWithoutThePartsOfAKeyAreRefused) {
  for (const char* event :
       {R"({"type":"message","subtype":"file_share","channel":"C1","files":[{"id":"F1"}]})",
        R"({"type":"message","subtype":"file_share","ts":"1.2","files":[{"id":"F1"}]})",
        R"({"type":"message","subtype":"file_share","channel":"C1","ts":"1.2","files":[{}]})",
        R"({"type":"app_mention","channel":"C1"})"}) {
    const auto report =
        runner_.Handle(Parsed(event), [](const Work&, Lease&) -> Status { return Done{}; });
    ASSERT_FALSE(report) << event;
    EXPECT_EQ(report.error().code, ErrorCode::kInvalid);
  }
}

// Spec: 004-30
TEST_F(RunnerTest, NoWorkRunsWhenTheStoreRefuses) {
  for (const ErrorCode code : {ErrorCode::kDenied, ErrorCode::kInvalid, ErrorCode::kNotFound}) {
    stage_.tables.decide = [&](testing::Operation) { return testing::Fault{{code, "no"}}; };
    const auto report =
        runner_.Handle(FileShare(R"([{"id":"F1"}])"), [&](const Work&, Lease&) -> Status {
          ADD_FAILURE() << "the work ran";
          return Done{};
        });
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, code);
    EXPECT_FALSE(dedup_.in_fallback());
  }
}

// Failed work can be claimed again until it has failed too often.
TEST_F(RunnerTest, FailedWorkIsTriedAgain) {
  const auto event = FileShare(R"([{"id":"F1"}])");
  outcome_ = Error{ErrorCode::kInternal, "no model today"};
  for (int i = 0; i < 5; ++i) {
    const RunReport report = Handle(event);
    EXPECT_EQ(report.failed, 1u);
    EXPECT_FALSE(report.settled());
  }
  EXPECT_THAT(log_.str(), HasSubstr("no model today"));
  outcome_ = Done{};
  const RunReport last = Handle(event);
  EXPECT_EQ(last.duplicates, 1u);
  EXPECT_TRUE(last.settled());
  EXPECT_EQ(runs_["F1"], 5);
}

// Work that did not start uses up no try.
TEST_F(RunnerTest, WorkThatCouldNotBeginIsNotCounted) {
  const auto event = FileShare(R"([{"id":"F1"}])");
  outcome_ = Error{ErrorCode::kUnavailable, "the queue is full"};
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(Handle(event).settled());
  outcome_ = Done{};
  EXPECT_EQ(Handle(event).ran, 1u);
}

// A delivery that arrives while the work runs must come again: the work may still fail.
TEST_F(RunnerTest, ADeliveryWhileTheWorkRunsMustComeAgain) {
  const auto event = FileShare(R"([{"id":"F1"}])");
  RunReport inner;
  const auto outer = runner_.Handle(event, [&](const Work&, Lease&) -> Status {
    inner = Handle(event);
    return Done{};
  });
  EXPECT_EQ(outer->ran, 1u);
  EXPECT_EQ(inner.running, 1u);
  EXPECT_FALSE(inner.settled());
  EXPECT_THAT(runs_, IsEmpty());
}

// Long work renews its lease. If it does not and another worker takes over, it does not succeed.
TEST_F(RunnerTest, LongWorkRenewsItsLease) {
  const auto event = FileShare(R"([{"id":"F1"}])");
  const auto renewed = runner_.Handle(event, [&](const Work&, Lease& lease) -> Status {
    for (int i = 0; i < 10; ++i) {
      stage_.clock.Advance(50s);
      EXPECT_EQ(*lease.Renew(), SettleOutcome::kSettled);
      EXPECT_EQ(lease.until(), stage_.clock.NowSeconds() + 60);
      EXPECT_EQ(Handle(event).running, 1u);
    }
    return Done{};
  });
  EXPECT_EQ(renewed->ran, 1u);
  const auto slow = FileShare(R"([{"id":"F2"}])");
  const auto late = runner_.Handle(slow, [&](const Work&, Lease& lease) -> Status {
    stage_.clock.Advance(63s);
    EXPECT_EQ(Handle(slow).ran, 1u);
    EXPECT_EQ(*lease.Renew(), SettleOutcome::kSuperseded);
    return Done{};
  });
  EXPECT_EQ(late->ran, 0u);
  EXPECT_EQ(late->superseded, 1u);
}

}  // namespace
}  // namespace tidemark::dedup
