// The existence check as Slack's deliveries and callers of the API meet it, at default settings.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/front_door/front_door.h"

namespace tidemark::testing {
namespace {

using http::Method;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kExistenceTable[] = "slack-existence-check-cache";

std::vector<item::Item> RowsIn(FrontDoor& door, const std::string& table) {
  return door.tables().Scan({.table = table, .consistent = true}).value().items;
}

std::string QuestionAbout(const FrontDoor::Ids& ids) {
  return "/api/v1/existence?team=" + ids.team + "&user=" + ids.user + "&channel=" + ids.channel;
}

// Slack's second answer is in time: the deadline of 2 s has room for the first wait.
// Spec: 000-30
TEST(ExistenceTest, AcceptsAnEventAfterSlacksRateLimit) {
  FrontDoor door([](api::ServiceOptions*) {}, FrontDoor::Time::kManual);
  door.slack().Fail("users.info", {.kind = demo::FailureKind::kRateLimited});
  EXPECT_EQ(door.Send(FrontDoor::Message("Ev1", door.real_ids())).status, 200);
  EXPECT_THAT(door.manual_sleeper().slept(), ElementsAre(seconds(1)));
  EXPECT_EQ(door.slack().calls("users.info"), 2u);
  EXPECT_EQ(door.InboxSize(), 1u);
  EXPECT_EQ(door.QuarantineSize(), 0u);
}

// The second wait would be 2 s and end after the deadline, so there are two attempts and not four
// (docs/decisions/0009-slack-web-api.md). The event is kept, and nothing is cached.
// Spec: 000-31
TEST(ExistenceTest, AnEventThatSlacksRateLimitKeepsFromBeingCheckedIsNotAccepted) {
  for (const auto& [policy, status] : {std::pair(gate::UnknownPolicy::kAcknowledge, 200),
                                       std::pair(gate::UnknownPolicy::kRefuse, 403)}) {
    FrontDoor door([answer = policy](api::ServiceOptions* options) { options->unknown = answer; },
                   FrontDoor::Time::kManual);
    door.slack().Fail("users.info", {.kind = demo::FailureKind::kRateLimited}, 100);
    EXPECT_EQ(door.Send(FrontDoor::Message("Ev1", door.real_ids())).status, status);
    EXPECT_EQ(door.slack().calls("users.info"), 2u);
    EXPECT_THAT(door.log(), HasSubstr("gate refused decision=unknown reason=rate_limited"));
    EXPECT_EQ(door.InboxSize(), 0u);
    EXPECT_EQ(door.QuarantineSize(), 1u);
    for (const item::Item& row : RowsIn(door, kExistenceTable)) {
      const std::string key = *row.Find("cache_key")->As<std::string>();
      EXPECT_THAT(key, Not(HasSubstr(door.real_ids().user)));
    }
  }
}

// The tables of the service, with their rows.
std::map<std::string, std::vector<item::Item>> OtherTables(FrontDoor& door) {
  std::map<std::string, std::vector<item::Item>> tables;
  const auto listed = door.tables().ListTables({}).value();
  for (const std::string& table : listed.tables) {
    if (table != kExistenceTable) tables[table] = RowsIn(door, table);
  }
  return tables;
}

void Clear(FrontDoor& door, const std::string& table) {
  const auto keys = door.tables().DescribeTable(table).value().keys;
  for (const item::Item& row : RowsIn(door, table)) {
    item::Item key = {{keys.partition.name, *row.Find(keys.partition.name)}};
    if (keys.sort) key.Set(keys.sort->name, *row.Find(keys.sort->name));
    ASSERT_TRUE(door.tables().Delete({.table = table, .key = std::move(key)}));
  }
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Claims have the keys of the cached rows; marks, history and the file of tokens are those of the
// service itself.
// Spec: 000-42
TEST(ExistenceTest, ClearingTheCacheLeavesTheOtherStoresAloneAndTheReverse) {
  std::string tokens_file;
  FrontDoor door([&](api::ServiceOptions* options) {
    FrontDoor::WithArchive(options);
    tokens_file = options->tokens_file;
  });
  const FrontDoor::Ids ids = door.real_ids();
  ASSERT_EQ(door.Send(FrontDoor::Message("Ev1", ids)).status, 200);
  for (const item::Item& row : RowsIn(door, kExistenceTable)) {
    const std::string key = *row.Find("cache_key")->As<std::string>();
    ASSERT_EQ(door.Call(Method::kPost, "/api/v1/claims/mark", R"({"key":")" + key + R"("})").status,
              200);
  }
  const std::string tokens = TextOf(tokens_file);
  ASSERT_THAT(tokens, Not(IsEmpty()));
  const auto before = OtherTables(door);
  EXPECT_THAT(before.at("slack-classify-bot-processed-events"), Not(IsEmpty()));
  EXPECT_THAT(before.at("tidemark-events"), Not(IsEmpty()));
  EXPECT_THAT(before.at("SlackArchive"), Not(IsEmpty()));

  ASSERT_EQ(door.Call(Method::kDelete, QuestionAbout(ids)).status, 200);
  Clear(door, kExistenceTable);
  EXPECT_THAT(door.Call(Method::kGet, QuestionAbout(ids)).body, HasSubstr("verified"));
  EXPECT_EQ(OtherTables(door), before);
  EXPECT_EQ(TextOf(tokens_file), tokens);

  const auto cached = RowsIn(door, kExistenceTable);
  for (const auto& [table, rows] : before) Clear(door, table);
  EXPECT_EQ(RowsIn(door, kExistenceTable), cached);
  EXPECT_THAT(door.Call(Method::kGet, QuestionAbout(ids)).body, HasSubstr("cached"));
}

// Over HTTP, with the embedded tables. Other programs may disturb most of the rounds: it is enough
// that one of them is as fast as promised.
// Spec: 000-44
TEST(ExistenceTest, AHitIsAnsweredWithin50Milliseconds) {
  FrontDoor door;
  const std::string question = QuestionAbout(door.real_ids());
  ASSERT_EQ(door.Call(Method::kGet, question).status, 200);
  const SystemClock clock;
  std::chrono::nanoseconds best = std::chrono::hours(1);
  for (int round = 0; round < 100 && best >= milliseconds(50); ++round) {
    std::vector<std::chrono::nanoseconds> times;
    for (int i = 0; i < 40; ++i) {
      const auto start = clock.Monotonic();
      const http::Response hit = door.Call(Method::kGet, question);
      times.push_back(clock.Monotonic() - start);
      ASSERT_THAT(hit.body, HasSubstr("cached"));
    }
    std::ranges::sort(times);
    best = std::min(best, times[times.size() * 95 / 100]);
  }
  EXPECT_LT(best, milliseconds(50));
}

}  // namespace
}  // namespace tidemark::testing
