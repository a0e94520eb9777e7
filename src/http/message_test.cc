#include "http/message.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace tidemark::http {
namespace {

// Names are compared without case, and repeated headers are kept separately.
TEST(HeadersTest, FindsNamesWithoutRegardToCase) {
  Headers headers{{"Content-Type", "a"}, {"X-A", "1"}, {"x-a", "2"}};
  EXPECT_EQ(headers.Find("content-type"), "a");
  EXPECT_EQ(headers.Find("absent"), std::nullopt);
  EXPECT_EQ(headers.FindAll("X-a"), (std::vector<std::string_view>{"1", "2"}));
}

// Setting leaves exactly one.
TEST(HeadersTest, SetReplacesEveryHeaderOfTheName) {
  Headers headers{{"X-A", "1"}, {"B", "b"}, {"x-a", "2"}};
  headers.Set("X-a", "3");
  EXPECT_EQ(headers.FindAll("x-A"), std::vector<std::string_view>{"3"});
  EXPECT_EQ(headers.size(), 2U);
}

// The form that clients of the API are told to expect.
TEST(ProblemTest, IsProblemJson) {
  const Response response = Problem(404, "no \"such\" claim");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.headers.Find("Content-Type"), "application/problem+json");
  EXPECT_EQ(response.body, R"({"type":"about:blank","title":"Not Found","status":404,)"
                           R"("detail":"no \"such\" claim"})");
}

// The detail may quote bytes of the client. The body must still be valid JSON.
TEST(ProblemTest, IsValidWhateverItQuotes) {
  const Response response = Problem(400, "the parameter '\xff\x1b[2J' is not known");
  EXPECT_TRUE(JsonDocument::Parse(response.body).has_value()) << response.body;
}

TEST(ProblemTest, LeavesOutAnEmptyDetail) {
  EXPECT_EQ(Problem(401, "").body, R"({"type":"about:blank","title":"Unauthorized","status":401})");
}

// The lookup is a binary search: test the first, the last and a missing status.
TEST(StatusTest, NamesTheStatusesItKnows) {
  EXPECT_EQ(StatusText(100), "Continue");
  EXPECT_EQ(StatusText(200), "OK");
  EXPECT_EQ(StatusText(431), "Request Header Fields Too Large");
  EXPECT_EQ(StatusText(504), "Gateway Timeout");
  EXPECT_EQ(StatusText(299), "Unknown");
  EXPECT_EQ(StatusText(999), "Unknown");
}

}  // namespace
}  // namespace tidemark::http
