// What the service answers to an address that sends many bad requests: strangers are limited, and
// nobody who shares the address with them is.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/front_door/front_door.h"

namespace tidemark::testing {
namespace {

using http::Method;
using ::testing::HasSubstr;

constexpr char kUnknownApiToken[] = "tm_000000000000_0";
constexpr char kUnauthenticated[] = "gate refused decision=unauthenticated";

class BadRequestsApiTest : public ::testing::Test {
 protected:
  static void LimitToFour(api::ServiceOptions* options) {
    FrontDoor::WithArchive(options);
    options->server.limits.max_bad_requests_a_minute = 4;
  }
  int Unsigned() {
    return door_.Send(FrontDoor::Message("Ev0", ids_), {.secret = "another"}).status;
  }
  int WithWrongToken() { return door_.CallAs(kUnknownApiToken, "/api/v1/claims").status; }
  size_t LinesWith(const std::string& part) const {
    const std::string log = door_.log();
    size_t count = 0;
    for (size_t at = log.find(part); at != std::string::npos; at = log.find(part, at + 1)) ++count;
    return count;
  }

  FrontDoor door_{LimitToFour, FrontDoor::Time::kManual};
  const FrontDoor::Ids ids_ = door_.real_ids();
};

// Review: F10
TEST_F(BadRequestsApiTest, StrangersAreLimitedAndTheOthersOfTheirAddressAreNot) {
  EXPECT_EQ(Unsigned(), 401);
  EXPECT_EQ(WithWrongToken(), 401);
  EXPECT_EQ(door_.CallWithoutToken(Method::kPut, "/api/v1/claims").status, 405);
  EXPECT_EQ(door_.CallWithoutToken(Method::kGet, "/.env").status, 404);
  const size_t lines = LinesWith("\n");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Unsigned(), 429);
    EXPECT_EQ(WithWrongToken(), 429);
  }
  EXPECT_EQ(LinesWith(kUnauthenticated), 1u);
  EXPECT_EQ(LinesWith("\n"), lines + 1) << door_.log();
  EXPECT_THAT(door_.log(), HasSubstr("too many bad requests came from one address"));

  // Slack's events and callers with a token, from the same address.
  EXPECT_EQ(door_.Send(FrontDoor::Message("Ev1", ids_)).status, 200);
  EXPECT_EQ(door_.Call(Method::kGet, "/api/v1/claims").status, 200);
  EXPECT_EQ(door_.CallWithoutToken(Method::kGet, "/healthz").status, 200);
  // The next minute begins with a new count.
  door_.manual_clock().Advance(std::chrono::minutes(1));
  EXPECT_EQ(Unsigned(), 401);
  EXPECT_EQ(LinesWith(kUnauthenticated), 2u);
}

// What Slack signed is from Slack, and who has a token is known: none of their mistakes count.
// Review: F10
TEST_F(BadRequestsApiTest, MistakesOfKnownSendersDoNotCount) {
  for (int i = 0; i < 6; ++i) {
    const std::string id = "Ev" + std::to_string(i);
    EXPECT_EQ(door_.Send(FrontDoor::Message(id, {ids_.team, "U0FAKE00", ids_.channel})).status,
              403);
    EXPECT_EQ(door_.Send("{not JSON " + id).status, 400);
    EXPECT_EQ(door_.Call(Method::kPost, "/api/v1/claims", "{").status, 400);
    EXPECT_EQ(door_.Call(Method::kGet, "/api/v1/teams/" + ids_.team + "/channels/C0NOWHERE").status,
              404);
  }
  EXPECT_EQ(Unsigned(), 401);
}

// An operator who looks into a replay needs to know which event it was.
// Review: F14
TEST_F(BadRequestsApiTest, TheLineOfAReplayNamesTheEvent) {
  const FrontDoor::Signing same = {.timestamp = door_.manual_clock().NowSeconds()};
  EXPECT_EQ(door_.Send(FrontDoor::Message("Ev1", ids_), same).status, 200);
  EXPECT_EQ(door_.Send(FrontDoor::Message("Ev1", ids_), same).status, 401);
  EXPECT_THAT(door_.log(), HasSubstr("decision=unauthenticated reason=replayed event=Ev1"));
  // A body that Slack did not sign is not looked at.
  Unsigned();
  EXPECT_EQ(LinesWith("event=Ev0"), 0u);
}

}  // namespace
}  // namespace tidemark::testing
