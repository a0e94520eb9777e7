// A large workspace from a cold cache: no event is refused, Slack's limits are kept, and everybody
// and everything has a name.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/front_door/workspace_stage.h"

namespace tidemark::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using LargeWorkspaceTest = WorkspaceTest;

// Slack allows 50 look-ups of channels and 100 of people a minute. The events begin before the
// lists are read; those that cannot be checked yet are acknowledged and stored later. Review: A16
TEST_F(LargeWorkspaceTest, ALargeWorkspaceStartsColdWithoutARefusal) {
  Open({.users = 20'000, .channels = 5'000, .archived = 100}, {});
  size_t sent = 0;
  while (sent < 120) ASSERT_EQ(Post(sent++), 200) << "message " << sent;
  EXPECT_GT(door_->QuarantineSize(), 0u) << "our budget for look-ups is used up";
  // Six pages of channels, one of private ones and twenty-one of people, at twenty a minute.
  for (int second = 0; second < 65; ++second) Pass();
  while (sent < 160) ASSERT_EQ(Post(sent++), 200) << "message " << sent;
  Pass();
  EXPECT_EQ(door_->QuarantineSize(), 0u);
  EXPECT_EQ(door_->CounterOf("tidemark_events_total{result=\"refused\"}"), 0);
  EXPECT_EQ(door_->slack().limited(), 0u) << "Slack never had to say 429";
  EXPECT_THAT(door_->slack().faults(), IsEmpty());
  for (const size_t n : {size_t{0}, sent / 2, sent - 1}) {
    EXPECT_THAT(Get("/channels/" + Place(n).id),
                HasSubstr(fmt::format("\"name\":\"{}\"", Place(n).name)));
    const std::string messages = Get("/channels/" + Place(n).id + "/messages");
    EXPECT_THAT(messages, HasSubstr(fmt::format("\"user_name\":\"{}\"", Author(n).name)));
    EXPECT_THAT(messages,
                HasSubstr(fmt::format("\"{}\":\"{}\"", Author(n + 1).id, Author(n + 1).name)))
        << "whom the text mentions";
  }
}

}  // namespace
}  // namespace tidemark::testing
