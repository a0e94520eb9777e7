// Events that Slack signed and the gate refused are kept, and promoted when they pass.
#include "apps/gate/quarantine.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/gate/gate_stage.h"

namespace tidemark::gate {

using namespace testing;

constexpr char kEvent[] = R"({"type":"event_callback","team_id":"T01234567","event_id":"Ev01",)"
                          R"("event":{"type":"message","user":"U01234567","channel":"C01234567"}})";

class QuarantineTest : public ::testing::Test {
 protected:
  QuarantineTest() { EXPECT_TRUE(quarantine_.CreateTable()); }

  static slack::EventCallback Parse(const std::string& body) {
    return std::get<slack::EventCallback>(slack::ParseEnvelope(body).value());
  }
  void Keep(const std::string& body) {
    ASSERT_TRUE(quarantine_.Keep(Parse(body), body, NotKnown(Reason::kTimeout)));
  }
  RecheckReport Recheck() {
    return quarantine_
        .Recheck({.check =
                      [this](const slack::EventCallback& callback) {
                        return stage_.gate->CheckExistence(callback, "recheck");
                      },
                  .promote = [this](const slack::EventCallback& callback, std::string_view body,
                                    const Verdict&) -> Status {
                    if (!takes_) return Error{ErrorCode::kUnavailable, "not now"};
                    promoted_.push_back(callback.event_id + " " + std::string(body));
                    return Done{};
                  },
                  .note_gap = [this](const slack::EventCallback& callback) -> Status {
                    gaps_.push_back(callback.event_id);
                    return Done{};
                  }})
        .value();
  }
  std::vector<item::Item> Rows() { return stage_.AllRows("tidemark-quarantine"); }

  GateStage stage_;
  Quarantine quarantine_{{}, &stage_.tables, stage_.runtime()};
  bool takes_ = true;
  std::vector<std::string> promoted_;
  std::vector<std::string> gaps_;
};

// The bytes are kept unchanged, even if they are not valid UTF-8.
TEST_F(QuarantineTest, KeepsTheRawBytes) {
  const std::string body = std::string(kEvent) + " \n";
  Keep(body);
  ASSERT_EQ(Rows().size(), 1U);
  item::Item row = Rows().front();
  EXPECT_EQ(*row.Find("event_key"), item::Value("T01234567:Ev01"));
  EXPECT_EQ(row.Find("body")->As<item::Binary>()->bytes, body);
  EXPECT_EQ(*row.Find("reason"), item::Value("timeout"));
  EXPECT_EQ(*row.Find("give_up_at"),
            item::Value(item::Number::FromInt(stage_.clock.NowSeconds() + 24 * 3600)));
  EXPECT_EQ(stage_.Metric("tidemark_gate_quarantined_total"), 1);
}

TEST_F(QuarantineTest, ASecondDeliveryChangesNothing) {
  Keep(kEvent);
  item::Item first = Rows().front();
  stage_.clock.Advance(std::chrono::seconds(10));
  Keep(std::string(kEvent) + " ");
  ASSERT_EQ(Rows().size(), 1U);
  EXPECT_EQ(Rows().front(), first);
  EXPECT_EQ(stage_.Metric("tidemark_gate_quarantined_total"), 1);
}

TEST_F(QuarantineTest, PromotesAnEventThatPassesOnce) {
  Keep(kEvent);
  EXPECT_EQ(Recheck().looked_at, 0U);  // Not due yet.
  stage_.clock.Advance(std::chrono::seconds(30));
  RecheckReport report = Recheck();
  EXPECT_EQ(report.looked_at, 1U);
  EXPECT_EQ(report.promoted, 1U);
  EXPECT_EQ(promoted_, std::vector<std::string>{"Ev01 " + std::string(kEvent)});
  EXPECT_TRUE(Rows().empty());
  EXPECT_EQ(Recheck().looked_at, 0U);
  EXPECT_EQ(stage_.Metric("tidemark_gate_promoted_total"), 1);
}

TEST_F(QuarantineTest, AnEventThatDoesNotPassWaitsTwiceAsLong) {
  stage_.slack.SetAll(slack::LookupOutcome::kApiError);
  Keep(kEvent);
  for (int wait : {30, 60, 120, 240}) {
    stage_.clock.Advance(std::chrono::seconds(wait - 1));
    EXPECT_EQ(Recheck().looked_at, 0U) << wait;
    stage_.clock.Advance(std::chrono::seconds(1));
    EXPECT_EQ(Recheck().kept, 1U) << wait;
  }
  stage_.clock.Advance(std::chrono::hours(10));
  EXPECT_EQ(Recheck().kept, 1U);
  stage_.clock.Advance(std::chrono::hours(1));  // Never longer than an hour.
  stage_.slack.SetAll(slack::LookupOutcome::kActive);
  EXPECT_EQ(Recheck().promoted, 1U);
}

// Promoting may fail too. The event must not be lost then.
TEST_F(QuarantineTest, KeepsAnEventThatCouldNotBePromoted) {
  Keep(kEvent);
  stage_.clock.Advance(std::chrono::seconds(30));
  takes_ = false;
  EXPECT_EQ(Recheck().kept, 1U);
  stage_.clock.Advance(std::chrono::seconds(60));
  takes_ = true;
  EXPECT_EQ(Recheck().promoted, 1U);
}

// An event that is given up leaves a gap, a counter and a log line, and its bytes are kept.
// Review: F3
TEST_F(QuarantineTest, GivesAnEventUpAfterADayAndSaysSo) {
  stage_.slack.SetAll(slack::LookupOutcome::kApiError);
  Keep(kEvent);
  stage_.clock.Advance(std::chrono::hours(24) - std::chrono::seconds(1));
  EXPECT_EQ(Recheck().kept, 1U);
  EXPECT_TRUE(gaps_.empty());
  stage_.clock.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Recheck().given_up, 1U);
  EXPECT_EQ(gaps_, std::vector<std::string>{"Ev01"});
  EXPECT_EQ(stage_.Metric("tidemark_gate_given_up_total"), 1);
  EXPECT_EQ(stage_.LogLines("key=T01234567:Ev01"), 1U);
  stage_.clock.Advance(std::chrono::hours(24 * 365));
  stage_.model.Maintain();
  EXPECT_EQ(Recheck().looked_at, 0U);
  ASSERT_EQ(Rows().size(), 1U);
  EXPECT_EQ(Rows().front().Find("body")->As<item::Binary>()->bytes, kEvent);
}

// Counted from when it was received: its message cannot have been deleted before that.
// Review: F3, A2
TEST_F(QuarantineTest, KeepsTheBytesOfAGivenUpEventAsLongAsConfigured) {
  Quarantine quarantine({.keep_given_up = std::chrono::hours(25)}, &stage_.tables,
                        stage_.AnotherRuntime());
  stage_.slack.SetAll(slack::LookupOutcome::kNotFound);
  Keep(kEvent);
  stage_.clock.Advance(std::chrono::hours(24));
  ASSERT_TRUE(quarantine.Recheck(
      {.check = [](const auto&) { return Deny(Reason::kUserNotFound); },
       .promote = [](const auto&, auto, const auto&) -> Status { return Done{}; },
       .note_gap = [](const auto&) -> Status { return Done{}; }}));
  EXPECT_EQ(quarantine.List(std::nullopt, 10)->events.size(), 1U);
  stage_.clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(quarantine.List(std::nullopt, 10)->events.size(), 0U);
}

// A refusal by our own budget says nothing about the event. The other events of the team would get
// the same answer, so they wait too, and all of them are due in the next round.
// Review: F3
TEST_F(QuarantineTest, ALackOfBudgetNeitherDoublesTheWaitNorGivesUp) {
  for (const char* id : {"Ev01", "Ev02", "Ev03"}) {
    std::string body = kEvent;
    Keep(body.replace(body.find("Ev01"), 4, id));
  }
  stage_.clock.Advance(std::chrono::hours(25));
  for (int round = 0; round < 10; ++round) {
    stage_.slack.SetAll(slack::LookupOutcome::kRateLimited);
    const RecheckReport report = Recheck();
    EXPECT_EQ(report.without_budget, 1U);
    EXPECT_EQ(report.looked_at, 1U) << "the rest of the budget's requests were wasted";
  }
  stage_.slack.SetAll(slack::LookupOutcome::kActive);
  EXPECT_EQ(Recheck().promoted, 3U);
  EXPECT_TRUE(gaps_.empty());
}

// 1,000 people write while Slack's Web API answers 500 for 20 s. Afterwards each needs a check, and
// the team may make two a second: they take as long as that, and not a doubled wait longer.
// Review: F3
TEST_F(QuarantineTest, PromotesAllEventsOfAnOutageAsFastAsTheBudgetAllows) {
  constexpr int kAuthors = 1'000;
  constexpr int kChecksASecond = 2;  // checks_per_team_minute is 120.
  stage_.slack.SetAll(slack::LookupOutcome::kApiError);
  for (int i = 0; i < kAuthors; ++i) {
    const std::string body =
        fmt::format(R"({{"type":"event_callback","team_id":"T01234567","event_id":"Ev{}",)"
                    R"("event":{{"type":"message","user":"U{:08}","channel":"C01234567"}}}})",
                    i, i);
    const slack::EventCallback callback = Parse(body);
    const Verdict verdict = stage_.gate->CheckExistence(callback, "request");
    ASSERT_EQ(verdict.decision, Decision::kUnknown);
    ASSERT_TRUE(quarantine_.Keep(callback, body, verdict));
    stage_.clock.Advance(std::chrono::milliseconds(20));
  }
  stage_.slack.SetAll(slack::LookupOutcome::kActive);
  constexpr int kRoundSeconds = 10;
  int seconds = 0;
  while (promoted_.size() < kAuthors && seconds < 3'600) {
    Recheck();
    stage_.clock.Advance(std::chrono::seconds(kRoundSeconds));
    seconds += kRoundSeconds;
  }
  EXPECT_EQ(promoted_.size(), static_cast<size_t>(kAuthors));
  // The last of them becomes due 30 s after the outage.
  EXPECT_LE(seconds, kAuthors / kChecksASecond + 30 + kRoundSeconds);
  EXPECT_TRUE(Rows().empty());
  EXPECT_TRUE(gaps_.empty());
}

// An older version gave its rows a ttl, after which the sweeper deletes them without a log line.
// Review: F3
TEST_F(QuarantineTest, TakesTheTimeToLiveFromTheRowsOfAnOlderVersion) {
  const EpochSeconds now = stage_.clock.NowSeconds();
  ASSERT_TRUE(stage_.model.Put({.table = "tidemark-quarantine",
                                .item = {{"event_key", "T01234567:Ev01"},
                                         {"body", item::Binary{kEvent}},
                                         {"team_id", "T01234567"},
                                         {"checks", item::Number::FromInt(0)},
                                         {"next_check", item::Number::FromInt(now)},
                                         {"ttl", item::Number::FromInt(now + 3600)}}}));
  stage_.slack.SetAll(slack::LookupOutcome::kApiError);
  EXPECT_EQ(Recheck().kept, 1U);
  stage_.clock.Advance(std::chrono::hours(1));
  stage_.model.Maintain();
  EXPECT_EQ(Recheck().given_up, 1U);
}

// The remaining events stay due for the next process.
TEST_F(QuarantineTest, ChecksNoFurtherEventAfterStop) {
  Keep(kEvent);
  Keep(R"({"type":"event_callback","team_id":"T01234567","event_id":"Ev02",)"
       R"("event":{"type":"message","user":"U01234567","channel":"C01234567"}})");
  stage_.clock.Advance(std::chrono::seconds(30));
  stage_.slack.on_ask = [&] { quarantine_.Stop(); };
  EXPECT_EQ(Recheck().promoted, 1U);
  EXPECT_EQ(Rows().size(), 1U);
  EXPECT_EQ(Recheck().looked_at, 0U);
  EXPECT_EQ(promoted_.size(), 1U);
}

// Another process may promote the event between our check and our update of its row.
TEST_F(QuarantineTest, DoesNotRecreateARowThatAnotherProcessDeleted) {
  Keep(kEvent);
  stage_.clock.Advance(std::chrono::seconds(30));
  takes_ = false;
  stage_.slack.on_ask = [&] {
    EXPECT_TRUE(stage_.model.Delete(
        {.table = "tidemark-quarantine", .key = {{"event_key", "T01234567:Ev01"}}}));
  };
  EXPECT_EQ(Recheck().kept, 1U);
  EXPECT_TRUE(Rows().empty());
}

// Two different events without an id are two rows.
TEST_F(QuarantineTest, IdentifiesEventsWithoutAnIdByTheirBytes) {
  const std::string first = R"({"type":"event_callback","team_id":"T01234567",)"
                            R"("event":{"type":"message","text":"1"}})";
  const std::string second = R"({"type":"event_callback","team_id":"T01234567",)"
                             R"("event":{"type":"message","text":"2"}})";
  Keep(first);
  Keep(second);
  Keep(first);
  EXPECT_EQ(Rows().size(), 2U);
}

TEST_F(QuarantineTest, ReportsATableFailure) {
  stage_.fault = [](Operation) { return std::optional(Throttled()); };
  EXPECT_EQ(quarantine_.Keep(Parse(kEvent), kEvent, NotKnown(Reason::kBusy)).error().code,
            ErrorCode::kUnavailable);
}

}  // namespace tidemark::gate
