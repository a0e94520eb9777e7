// Signatures against the values that AWS publishes: the example of its guide, and its signing test
// suite (get-vanilla and the others, named in the tests). Further values were computed by Python's
// hmac from the canonical request that a comment shows.
#include "aws/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::aws {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Optional;

constexpr EpochSeconds kSuiteTime = 1'440'938'160;  // 2015-08-30T12:36:00Z

Credentials SuiteCredentials() {
  return {.access_key = "AKIDEXAMPLE",
          .secret = Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")};
}

Scope SuiteScope(std::string service = "service") {
  return {.date = "20150830", .region = "us-east-1", .service = std::move(service)};
}

// The signature of a request of the suite, with the headers that all its requests have.
std::string SuiteSignature(http::Method method, std::string_view path, std::string_view query = "",
                           const http::Headers& more = {}, std::string_view body = "") {
  http::Headers headers{{"Host", "example.amazonaws.com"}, {"X-Amz-Date", "20150830T123600Z"}};
  for (const http::Header& header : more) headers.Add(header.name, header.value);
  const std::string authorization = AuthorizationFor(
      SuiteCredentials(), SuiteScope(), kSuiteTime,
      {.method = method, .path = path, .query = query, .headers = headers, .body = body});
  return authorization.substr(authorization.rfind('=') + 1);
}

TEST(BasicTimeTest, IsWrittenAndRead) {
  EXPECT_EQ(BasicTime(kSuiteTime), "20150830T123600Z");
  EXPECT_THAT(ParseBasicTime("20150830T123600Z"), Optional(kSuiteTime));
  for (const char* text : {"", "20150830", "2015-08-30T12:36:00Z", "20150230T123600Z",
                           "20150830T243600Z", "20150830T123600+", "20150830 123600Z"}) {
    EXPECT_EQ(ParseBasicTime(text), std::nullopt) << text;
  }
}

// From "Create a signed AWS API request" in AWS's guide.
TEST(SigningKeyTest, IsThatOfTheGuide) {
  const Secret expected(
      std::string("\xc4\xaf\xb1\xcc\x57\x71\xd8\x71\x76\x3a\x39\x3e\x44\xb7\x03\x57"
                  "\x1b\x55\xcc\x28\x42\x4d\x1a\x5e\x86\xda\x6e\xd3\xc1\x54\xa4\xb9"));
  EXPECT_TRUE(SigningKey(SuiteCredentials().secret, SuiteScope("iam")) == expected);
}

TEST(SignatureTest, IsThatOfTheSuite) {
  using enum http::Method;
  EXPECT_EQ(SuiteSignature(kGet, "/"),  // get-vanilla
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
  EXPECT_EQ(SuiteSignature(kPost, "/"),  // post-vanilla
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
  EXPECT_EQ(SuiteSignature(kGet, "/", "Param2=value2&Param1=value1"),  // get-vanilla-query-order
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
  EXPECT_EQ(SuiteSignature(kGet, "/", "",  // get-header-value-trim
                           {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}}),
            "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736");
  EXPECT_EQ(SuiteSignature(
                kGet, "/", "",  // get-header-key-duplicate
                {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}}),
            "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea");
  EXPECT_EQ(
      SuiteSignature(kPost, "/", "",  // post-x-www-form-urlencoded
                     {{"Content-Type", "application/x-www-form-urlencoded"}}, "Param1=value1"),
      "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
  EXPECT_EQ(SuiteSignature(kGet, "/\u1234"),  // get-utf8
            "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85");
  // get-relative, get-relative-relative, get-slash and get-slashes: all are "/".
  for (const char* path : {"", "/example/..", "/example1/example2/../..", "//", "/./"}) {
    EXPECT_EQ(SuiteSignature(kGet, path),
              "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
        << path;
  }
}

TEST(CanonicalTest, EncodesPathsTwiceAndQueriesOnce) {
  EXPECT_EQ(CanonicalPath("/a%20b/c"), "/a%2520b/c");
  EXPECT_EQ(CanonicalPath("/a/./b/../c/"), "/a/c/");
  EXPECT_EQ(CanonicalPath("/../.."), "/");
  EXPECT_THAT(CanonicalQuery("b=2&a=%31&a=&c"), Optional(std::string("a=&a=1&b=2&c=")));
  EXPECT_THAT(CanonicalQuery("a=/+&&b=%2f"), Optional(std::string("a=%2F%2B&b=%2F")));
  EXPECT_THAT(CanonicalQuery("a=1&b=2", "a"), Optional(std::string("b=2")));
  EXPECT_EQ(CanonicalQuery("a=%4"), std::nullopt);
}

TEST(SignTest, AddsItsHeadersToARequest) {
  http::OutgoingRequest request{.method = http::Method::kPost,
                                .url = "http://127.0.0.1:8000",
                                .headers = {{"Content-Type", "application/x-amz-json-1.0"},
                                            {"X-Amz-Target", "DynamoDB_20120810.DescribeTable"}},
                                .body = R"({"TableName":"t"})"};
  ASSERT_TRUE(Sign(SuiteCredentials(), "us-east-1", "dynamodb", 1'700'000'000, &request));
  EXPECT_THAT(request.headers.Find("X-Amz-Date"), Optional(std::string_view("20231114T221320Z")));
  // POST / with content-type, host:127.0.0.1:8000, x-amz-date and x-amz-target.
  EXPECT_THAT(std::string(request.headers.Find("Authorization").value_or("")),
              EndsWith("SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature="
                       "96535a322171b74e79dc612bdcb4551972bf6e39a1b444510077b2892aa54244"));

  Credentials temporary = SuiteCredentials();
  temporary.session_token = Secret("token");
  ASSERT_TRUE(Sign(temporary, "us-east-1", "dynamodb", 1'700'000'000, &request));
  EXPECT_THAT(std::string(request.headers.Find("Authorization").value_or("")),
              HasSubstr("x-amz-security-token"));

  request.url = "not a url";
  EXPECT_FALSE(Sign(temporary, "us-east-1", "dynamodb", 1'700'000'000, &request));
}

}  // namespace
}  // namespace tidemark::aws
