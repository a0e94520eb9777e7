#include "aws/claim.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::aws {
namespace {

constexpr EpochSeconds kNow = 1'700'000'000;  // 2023-11-14T22:13:20Z
constexpr std::string_view kTime = "20231114T221320Z";
constexpr std::string_view kMismatch =
    "The request signature we calculated does not match the signature you provided. Check your "
    "AWS Secret Access Key and signing method. Consult the service documentation for details.";

Secret SuiteSecret() { return Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"); }

http::Request UnsignedRequest() {
  return {.method = http::Method::kPost,
          .path = "/",
          .headers = {{"Host", "127.0.0.1:8000"},
                      {"Content-Type", "application/x-amz-json-1.0"},
                      {"X-Amz-Date", std::string(kTime)},
                      {"X-Amz-Target", "DynamoDB_20120810.DescribeTable"}},
          .body = R"({"TableName":"t"})"};
}

http::Request SignedRequest() {
  http::Request request = UnsignedRequest();
  const Scope scope{.date = "20231114", .region = "us-east-1", .service = "dynamodb"};
  request.headers.Add(
      "Authorization",
      AuthorizationFor({.access_key = "AKIDEXAMPLE", .secret = SuiteSecret()}, scope, kNow,
                       {.path = request.path,
                        .query = request.query,
                        .headers = request.headers,
                        .body = request.body}));
  return request;
}

// Signed by Python's hmac: POST / with host and x-amz-target, and the query without the signature.
http::Request PresignedRequest() {
  http::Request request = UnsignedRequest();
  request.query =
      "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20231114%2Fus-east-1%2F"
      "dynamodb%2Faws4_request&X-Amz-Date=20231114T221320Z&X-Amz-Expires=300&X-Amz-SignedHeaders="
      "host%3Bx-amz-target&X-Amz-Signature="
      "ebbedf07e7983d2383d6c67493ad2dbbea39f251f6a72caea738611ddc0d7f6d";
  return request;
}

// All checks, as a server makes them. nullopt: the signature is right.
std::optional<Refusal> Verify(const http::Request& request, EpochSeconds now = kNow,
                              const Secret& secret = SuiteSecret()) {
  const auto read = ReadClaim(request);
  if (const auto* refusal = std::get_if<Refusal>(&read)) return *refusal;
  const auto& claim = std::get<Claim>(read);
  const auto checked = CheckClaim(claim, "dynamodb", now);
  if (const auto* refusal = std::get_if<Refusal>(&checked)) return *refusal;
  const Scope& scope = std::get<Checked>(checked).scope;
  if (claim.access_key() != "AKIDEXAMPLE") return UnknownClient();
  return CheckSignature(claim, scope, request, SigningKey(secret, scope));
}

Refusal RefusalOf(const http::Request& request, EpochSeconds now = kNow) {
  return Verify(request, now).value_or(Refusal{"accepted", ""});
}

// The signed request with its Authorization header changed.
http::Request WithAuthorization(const std::function<void(std::string*)>& change) {
  http::Request request = SignedRequest();
  std::string value(*request.headers.Find("Authorization"));
  change(&value);
  request.headers.Set("Authorization", value);
  return request;
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

http::Request WithText(std::string_view from, std::string_view to) {
  return WithAuthorization([&](std::string* value) { *value = Replaced(*value, from, to); });
}

TEST(ClaimTest, TakesARightSignature) {
  EXPECT_EQ(Verify(SignedRequest()), std::nullopt);
  EXPECT_EQ(Verify(PresignedRequest()), std::nullopt);
  // Clients separate the parameters in several ways.
  EXPECT_EQ(Verify(WithAuthorization([](std::string* value) {
              *value =
                  Replaced(Replaced(*value, ", Signature", ",Signature"), ", Signed", " ,  Signed");
            })),
            std::nullopt);
}

TEST(ClaimTest, RefusesWhatWasChangedAfterSigning) {
  const auto refuses = [](const std::function<void(http::Request*)>& change) {
    http::Request request = SignedRequest();
    change(&request);
    return RefusalOf(request) == Refusal{kInvalidSignature, std::string(kMismatch)};
  };
  EXPECT_TRUE(refuses([](http::Request* request) { request->body = R"({"TableName":"u"})"; }));
  EXPECT_TRUE(refuses([](http::Request* request) { request->path = "/x"; }));
  EXPECT_TRUE(refuses([](http::Request* request) { request->query = "a=1"; }));
  EXPECT_TRUE(refuses([](http::Request* request) { request->query = "a=%"; }));
  EXPECT_TRUE(refuses([](http::Request* request) { request->method = http::Method::kPut; }));
  EXPECT_TRUE(refuses([](http::Request* request) { request->headers.Set("Host", "evil"); }));
  EXPECT_TRUE(refuses([](http::Request* request) {
    request->headers.Set("X-Amz-Target", "DynamoDB_20120810.DeleteTable");
  }));
  EXPECT_TRUE(refuses([](http::Request* request) {
    request->headers.Add("X-Amz-Target", "DynamoDB_20120810.DeleteTable");
  }));
  EXPECT_EQ(RefusalOf(WithText("content-type;", "content-type;nowhere;")).message, kMismatch);
  EXPECT_EQ(Verify(SignedRequest(), kNow, Secret("another"))->message, kMismatch);
  // A list that repeats a header would multiply its value.
  std::string repeated;
  for (size_t i = 0; i < kMaxSignedHeaders; ++i) repeated += "host;";
  EXPECT_EQ(RefusalOf(WithText("host;", repeated)).message, kMismatch);
  http::Request presigned = PresignedRequest();
  presigned.query = Replaced(presigned.query, "Expires=300", "Expires=301");
  EXPECT_EQ(RefusalOf(presigned).message, kMismatch);
}

TEST(ClaimTest, NeedsASignature) {
  const Refusal missing{kMissingToken, "Request is missing Authentication Token"};
  EXPECT_EQ(RefusalOf(UnsignedRequest()), missing);
  http::Request request = UnsignedRequest();
  request.headers.Set("Authorization", "Bearer tm_1");
  EXPECT_EQ(RefusalOf(request), missing);
  request = SignedRequest();
  request.headers.Add("Authorization", "AWS4-HMAC-SHA256 Credential=a");
  EXPECT_EQ(RefusalOf(request), missing);
  request = SignedRequest();
  request.query = "X-Amz-Algorithm=AWS4-HMAC-SHA256";
  EXPECT_EQ(RefusalOf(request),
            (Refusal{kInvalidSignature,
                     "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as "
                     "HTTP header."}));
}

TEST(ClaimTest, SaysWhichPartsAreMissing) {
  http::Request request = UnsignedRequest();
  request.headers = {{"Host", "a"}, {"Authorization", "AWS4-HMAC-SHA256"}};
  EXPECT_EQ(RefusalOf(request),
            (Refusal{kIncompleteSignature,
                     "Authorization header requires 'Credential' parameter. Authorization header "
                     "requires 'Signature' parameter. Authorization header requires "
                     "'SignedHeaders' parameter. Authorization header requires existence of either "
                     "a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-HMAC-SHA256"}));
  request.headers.Set("Authorization", "AWS4-HMAC-SHA256 Signature=b,    Credential");
  EXPECT_EQ(RefusalOf(request),
            (Refusal{kIncompleteSignature,
                     "'Credential' not a valid key=value pair (missing equal-sign) in "
                     "Authorization header: 'AWS4-HMAC-SHA256 Signature=b,    Credential'."}));
  request = UnsignedRequest();
  request.query = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20231114T221320Z";
  EXPECT_EQ(RefusalOf(request),
            (Refusal{kIncompleteSignature,
                     "AWS query-string parameters must include 'X-Amz-Credential'. AWS "
                     "query-string parameters must include 'X-Amz-Signature'. AWS query-string "
                     "parameters must include 'X-Amz-SignedHeaders'. Re-examine the query-string "
                     "parameters."}));
}

TEST(ClaimTest, IsValidForQuarterOfAnHourAround) {
  EXPECT_EQ(Verify(SignedRequest(), kNow + 900), std::nullopt);
  EXPECT_EQ(Verify(SignedRequest(), kNow - 900), std::nullopt);
  EXPECT_EQ(RefusalOf(SignedRequest(), kNow + 901),
            (Refusal{kInvalidSignature,
                     "Signature expired: 20231114T221320Z is now earlier than 20231114T221321Z "
                     "(20231114T222821Z - 15 min.)"}));
  EXPECT_EQ(RefusalOf(SignedRequest(), kNow - 901),
            (Refusal{kInvalidSignature,
                     "Signature not yet current: 20231114T221320Z is still later than "
                     "20231114T221319Z (20231114T215819Z + 15 min.)"}));
  // A signature in a query says how long it is valid.
  EXPECT_EQ(Verify(PresignedRequest(), kNow + 300), std::nullopt);
  EXPECT_EQ(RefusalOf(PresignedRequest(), kNow + 301).exception, kInvalidSignature);
  for (const char* expires : {"0", "604801", "-1", "x", "99999999999999999999"}) {
    http::Request request = PresignedRequest();
    request.query = Replaced(request.query, "Expires=300", std::string("Expires=") + expires);
    EXPECT_EQ(RefusalOf(request).exception, kIncompleteSignature) << expires;
  }
  http::Request request = SignedRequest();
  request.headers.Set("X-Amz-Date", "201");
  EXPECT_EQ(RefusalOf(request), (Refusal{kIncompleteSignature,
                                         "Date must be in ISO-8601 'basic format'. Got '201'. See "
                                         "http://en.wikipedia.org/wiki/ISO_8601"}));
}

TEST(ClaimTest, ChecksWhatTheSignatureCovers) {
  EXPECT_EQ(RefusalOf(WithText("host;", "")),
            (Refusal{kInvalidSignature,
                     "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."}));
  EXPECT_EQ(RefusalOf(WithText(";x-amz-target", "")),
            (Refusal{kInvalidSignature,
                     "'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization."}));
  EXPECT_EQ(RefusalOf(WithText("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA25")),
            (Refusal{kIncompleteSignature,
                     "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA25' (only AWS4-HMAC-SHA256 for "
                     "now). "}));
}

TEST(ClaimTest, ChecksTheScope) {
  EXPECT_EQ(RefusalOf(WithText("/us-east-1", "")),
            (Refusal{kIncompleteSignature,
                     "Credential must have exactly 5 slash-delimited elements, e.g. "
                     "keyid/date/region/service/term, got "
                     "'AKIDEXAMPLE/20231114/dynamodb/aws4_request'"}));
  EXPECT_EQ(
      RefusalOf(WithText("20231114/us-east-1/dynamodb/aws4_request", "20231113//s3/aws4_end")),
      (Refusal{kInvalidSignature,
               "Credential should be scoped to a valid region, not ''. Credential should be "
               "scoped to correct service: 'dynamodb'. Credential should be scoped with a "
               "valid terminator: 'aws4_request', not 'aws4_end'. Date in Credential scope "
               "does not match YYYYMMDD from ISO-8601 version of date from HTTP: '20231113' "
               "!= '20231114', from '20231114T221320Z'."}));
  EXPECT_EQ(RefusalOf(WithText("us-east-1", "eu-west-1")).message, kMismatch);
}

TEST(ClaimTest, RefusesUnknownKeysAndSessionTokens) {
  const Refusal unknown{kUnrecognizedClient,
                        "The security token included in the request is invalid."};
  EXPECT_EQ(RefusalOf(WithText("AKIDEXAMPLE", "AKIDOTHER")), unknown);
  http::Request request = SignedRequest();
  request.headers.Add("X-Amz-Security-Token", "t");
  EXPECT_EQ(RefusalOf(request), unknown);
}

}  // namespace
}  // namespace tidemark::aws
