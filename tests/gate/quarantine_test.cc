// What Slack signed and the gate refused is kept, and let in once it passes.
#include "apps/gate/quarantine.h"

#include <string>
#include <vector>

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
        .Recheck(
            [this](const slack::EventCallback& callback) {
              return stage_.gate->CheckExistence(callback, "recheck");
            },
            [this](const slack::EventCallback& callback, std::string_view body) -> Status {
              if (!takes_) return Error{ErrorCode::kUnavailable, "not now"};
              promoted_.push_back(callback.event_id + " " + std::string(body));
              return Done{};
            })
        .value();
  }
  std::vector<item::Item> Rows() { return stage_.AllRows("tidemark-quarantine"); }

  GateStage stage_;
  Quarantine quarantine_{{}, &stage_.tables, &stage_.clock, stage_.metrics()};
  bool takes_ = true;
  std::vector<std::string> promoted_;
};

// The bytes are kept as they came, also when they are no text.
TEST_F(QuarantineTest, KeepsTheRawBytes) {
  const std::string body = std::string(kEvent) + " \n";
  Keep(body);
  ASSERT_EQ(Rows().size(), 1U);
  item::Item row = Rows().front();
  EXPECT_EQ(*row.Find("event_key"), item::Value("T01234567:Ev01"));
  EXPECT_EQ(row.Find("body")->As<item::Binary>()->bytes, body);
  EXPECT_EQ(*row.Find("reason"), item::Value("timeout"));
  EXPECT_EQ(*row.Find("ttl"),
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

TEST_F(QuarantineTest, WhatPassesIsHandedBackOnce) {
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

TEST_F(QuarantineTest, WhatDoesNotPassWaitsTwiceAsLong) {
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

// Whoever takes it may fail too: it is not lost by that.
TEST_F(QuarantineTest, WhatIsNotTakenStays) {
  Keep(kEvent);
  stage_.clock.Advance(std::chrono::seconds(30));
  takes_ = false;
  EXPECT_EQ(Recheck().kept, 1U);
  stage_.clock.Advance(std::chrono::seconds(60));
  takes_ = true;
  EXPECT_EQ(Recheck().promoted, 1U);
}

TEST_F(QuarantineTest, AfterADayItIsOverWhateverTheSweeperDoes) {
  Keep(kEvent);
  stage_.clock.Advance(std::chrono::hours(24));
  EXPECT_EQ(Recheck().looked_at, 0U);
  EXPECT_TRUE(promoted_.empty());
  Keep(kEvent);  // And the event may be kept anew.
  stage_.clock.Advance(std::chrono::seconds(30));
  EXPECT_EQ(Recheck().promoted, 1U);
}

// What is left is due again when the next process looks.
TEST_F(QuarantineTest, AfterStopNoOtherIsLookedAt) {
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

// Another process may have let it in between our look at it and our note that it waits.
TEST_F(QuarantineTest, WhatAnotherTookDoesNotComeBack) {
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

// Two without an id are two.
TEST_F(QuarantineTest, EventsWithoutAnIdAreNamedByTheirBytes) {
  const std::string first = R"({"type":"event_callback","team_id":"T01234567",)"
                            R"("event":{"type":"message","text":"1"}})";
  const std::string second = R"({"type":"event_callback","team_id":"T01234567",)"
                             R"("event":{"type":"message","text":"2"}})";
  Keep(first);
  Keep(second);
  Keep(first);
  EXPECT_EQ(Rows().size(), 2U);
}

TEST_F(QuarantineTest, ATableThatFailsIsReported) {
  stage_.fault = [](Operation) { return std::optional(Throttled()); };
  EXPECT_EQ(quarantine_.Keep(Parse(kEvent), kEvent, NotKnown(Reason::kBusy)).error().code,
            ErrorCode::kUnavailable);
}

}  // namespace tidemark::gate
