// Settings that change what the running service answers, each from its name as a user writes it. A
// setting that is read and then ignored fails here.
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/dedup/claims.h"
#include "base/json.h"
#include "programs/program_settings.h"
#include "servers/api/service_options.h"
#include "tests/front_door/front_door.h"
#include "tests/support/process_runtime.h"

namespace tidemark::testing {
namespace {

using http::Method;
using ::testing::HasSubstr;

// The service as these settings make it. Only the addresses and secrets are those of the tests.
std::unique_ptr<FrontDoor> DoorWith(std::map<std::string, std::string> flags) {
  return std::make_unique<FrontDoor>([&](api::ServiceOptions* options) {
    flags.emplace("archive.enabled", "false");
    flags.emplace("attempts.enabled", "false");
    const auto settings = Settings::Load(programs::ProgramSettings(), {.flags = flags}).value();
    api::ServiceOptions read = api::ReadOptions(settings).value();
    read.server = options->server;
    read.tokens_file = options->tokens_file;
    read.signing_secrets = options->signing_secrets;
    if (settings.Text("gate.missing-token") == "refuse") read.bot_token = options->bot_token;
    read.web_api.url = options->web_api.url;
    read.work.own_bot_id = options->work.own_bot_id;
    read.background = false;
    *options = std::move(read);
  });
}

// A deletion does not say who deleted, so it names no user.
std::string Deletion(const FrontDoor::Ids& ids) {
  return FrontDoor::Callback(
      "Ev1", ids,
      fmt::format(R"({{"type":"message","subtype":"message_deleted","channel":"{}",)"
                  R"("channel_type":"channel","ts":"1700000001.000100",)"
                  R"("deleted_ts":"1700000000.000100","event_ts":"1700000001.000100"}})",
                  ids.channel));
}

// Spec: 000-06
TEST(SettingsTest, GatePartialDecidesAboutEventsWithoutAUser) {
  auto door = DoorWith({});
  EXPECT_EQ(door->Send(Deletion(door->real_ids())).status, 200);
  door = DoorWith({{"gate.partial", "false"}});
  EXPECT_EQ(door->Send(Deletion(door->real_ids())).status, 403);
  EXPECT_EQ(door->Send(FrontDoor::Message("Ev2", door->real_ids())).status, 200);
}

// Spec: 000-28
TEST(SettingsTest, GateArchivedChannelsCanRefuseThem) {
  for (const auto& [setting, status] : {std::pair("allow", 200), std::pair("refuse", 403)}) {
    const auto door = DoorWith({{"gate.archived-channels", setting}});
    door->slack().Archive(door->real_ids().channel);
    EXPECT_EQ(door->Send(FrontDoor::Message("Ev1", door->real_ids())).status, status) << setting;
  }
}

// The service has no token, so without the setting it would refuse.
// Spec: 000-39
TEST(SettingsTest, GateMissingTokenCanAllowEventsUnchecked) {
  const auto door = DoorWith({{"gate.missing-token", "allow"}, {"gate.unknown", "refuse"}});
  EXPECT_EQ(door->Send(FrontDoor::Message("Ev1", door->real_ids())).status, 200);
  EXPECT_EQ(door->InboxSize(), 1u);
  EXPECT_THAT(door->log(), HasSubstr("skipped"));
}

// The number at this name in the claim of a reply.
int64_t NumberInClaim(const http::Response& response, std::string_view name) {
  const auto body = JsonDocument::Parse(response.body);
  const auto claim = body ? body->root().Find("claim") : std::nullopt;
  const auto number = claim ? claim->Find(name) : std::nullopt;
  return number ? number->AsInt().value_or(-1) : -1;
}

TEST(SettingsTest, DedupLeaseIsTheLeaseOfAClaimThatAsksForNone) {
  const auto door = DoorWith({{"dedup.lease", "1h"}});
  const EpochSeconds before = SystemClock().NowSeconds();
  const http::Response claimed = door->Call(Method::kPost, "/api/v1/claims", R"({"key":"Ev1"})");
  const EpochSeconds after = SystemClock().NowSeconds();
  EXPECT_GE(NumberInClaim(claimed, "lease_until"), before + 3600) << claimed.body;
  EXPECT_LE(NumberInClaim(claimed, "lease_until"), after + 3601) << claimed.body;
}

// Spec: 004-34
TEST(SettingsTest, DedupOutageCanRefuseWhileTheTableIsUnavailable) {
  for (const auto& [setting, status] : {std::pair("proceed", 200), std::pair("refuse", 503)}) {
    const auto door = DoorWith({{"dedup.outage", setting}});
    door->faults().decide = [](Operation) { return Throttled(); };
    const http::Response claimed = door->Call(Method::kPost, "/api/v1/claims", R"({"key":"Ev1"})");
    EXPECT_EQ(claimed.status, status) << setting << ": " << claimed.body;
    door->faults().decide = nullptr;
  }
}

// Memory decides about half of the events, and the store about the others. In both cases each
// event is stored once.
TEST(SettingsTest, DedupRolloutLeavesAShareOfTheEventsToMemory) {
  constexpr size_t kEvents = 40;
  const auto door = DoorWith({{"dedup.rollout", "50"}});
  for (size_t i = 0; i < 2 * kEvents; ++i) {
    const std::string body =
        FrontDoor::Message("Ev" + std::to_string(i % kEvents), door->real_ids());
    // Slack's retry has another timestamp, and so another signature.
    EXPECT_EQ(door->Send(body, {.offset = i < kEvents ? -100 : 0}).status, 200) << body;
  }
  EXPECT_EQ(door->InboxSize(), kEvents);
  EXPECT_EQ(door->CounterOf("tidemark_events_total{result=\"accepted\"}"), kEvents);
  EXPECT_EQ(door->CounterOf("tidemark_events_total{result=\"duplicate\"}"), kEvents);
  const size_t marks =
      door->tables().Scan({.table = "tidemark-events", .consistent = true}).value().items.size();
  EXPECT_GT(marks, 0u);
  EXPECT_LT(marks, kEvents);
}

// An event that cannot be marked is not acknowledged, so that Slack sends it again.
TEST(SettingsTest, WithoutTheTableOfMarksNoEventIsAcknowledged) {
  const auto door = DoorWith({});
  ASSERT_TRUE(door->tables().DeleteTable("tidemark-events"));
  EXPECT_EQ(door->Send(FrontDoor::Message("Ev1", door->real_ids())).status, 500);
  EXPECT_EQ(door->InboxSize(), 0u);
  ManualClock time(SystemClock().NowSeconds());
  ProcessRuntime process(time, &time, 1);
  ASSERT_TRUE(dedup::Claims({.table = "tidemark-events"}, &door->tables(), process.runtime())
                  .CreateTable());
  EXPECT_EQ(door->Send(FrontDoor::Message("Ev1", door->real_ids())).status, 200);
  EXPECT_EQ(door->InboxSize(), 1u);
}

std::string SomeChange() {
  return fmt::format(R"({{"object_type":"change","changeId":"CHG-1","changeTitle":"A change",)"
                     R"("createdAt":{},"customers":["hts"]}})",
                     SystemClock().NowSeconds() - 60);
}

// Spec: 002-27
TEST(SettingsTest, DocumentsWritesCanBeLenientWhileTheTableIsUnavailable) {
  for (const auto& [setting, status] : {std::pair("strict", 503), std::pair("lenient", 200)}) {
    const auto door = DoorWith({{"documents.enabled", "true"}, {"documents.writes", setting}});
    door->faults().decide = [](Operation) { return Denied(); };
    const http::Response put = door->Call(Method::kPut, "/api/v1/documents/CHG-1", SomeChange());
    EXPECT_EQ(put.status, status) << setting << ": " << put.body;
    door->faults().decide = nullptr;
    const bool is_written = status == 200;
    EXPECT_EQ(door->objects().Head("archive/CHG-1.json").value().has_value(), is_written);
    EXPECT_EQ(door->objects().Head("cache-repairs/CHG-1").value().has_value(), is_written);
  }
}

// Spec: 002-35
TEST(SettingsTest, DocumentsDryRunWritesNothing) {
  const auto door = DoorWith({{"documents.enabled", "true"}, {"documents.dry-run", "true"}});
  const http::Response put = door->Call(Method::kPut, "/api/v1/documents/CHG-1", SomeChange());
  EXPECT_EQ(put.status, 200);
  EXPECT_FALSE(door->objects().Head("archive/CHG-1.json").value());
  EXPECT_THAT(door->log(), HasSubstr(R"((dry run) operation="write row" key=CHG-1)"));
  EXPECT_THAT(door->log(), HasSubstr(R"((dry run) operation="write object")"));
}

}  // namespace
}  // namespace tidemark::testing
