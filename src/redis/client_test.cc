#include "redis/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::redis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(AddressTest, AcceptsTwoForms) {
  for (const char* address : {"redis://localhost", "redis://localhost:6380", "redis://10.0.0.1:1/3",
                              "unix:/run/redis.sock"}) {
    EXPECT_TRUE(CheckAddress(address).has_value()) << address;
  }
  for (const char* address :
       {"", "localhost:6379", "redis://", "redis://:6379", "unix:", "redis://a:0",
        "redis://a:99999", "redis://a:x", "redis://a/x", "redisss://a", "redis://a:1/"}) {
    EXPECT_FALSE(CheckAddress(address).has_value()) << address;
  }
}

// People put passwords into addresses. The error must not show them.
TEST(AddressTest, RefusesAPasswordWithoutShowingIt) {
  const auto status = CheckAddress("redis://user:hunter2@host:6379");
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(status.error().message, Not(HasSubstr("hunter2")));
}

TEST(AddressTest, SaysWhetherItIsOnThisMachine) {
  for (const char* address : {"unix:/run/redis.sock", "redis://127.0.0.1:6379", "redis://127.9.0.1",
                              "redis://localhost", "redis://::1:6379"}) {
    EXPECT_TRUE(IsOnThisMachine(address)) << address;
  }
  for (const char* address : {"redis://10.0.0.1", "redis://localhost.example.com", "redis://::2:1",
                              "redis://12.7.0.1", "nonsense"}) {
    EXPECT_FALSE(IsOnThisMachine(address)) << address;
  }
}

TEST(ClientTest, FailsWithUnavailableIfNobodyListens) {
  Client client({.address = "unix:/nonexistent/redis.sock"});
  const auto reply = client.Run({"PING"});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(reply.error().message, HasSubstr("/nonexistent/redis.sock"));
}

}  // namespace
}  // namespace tidemark::redis
