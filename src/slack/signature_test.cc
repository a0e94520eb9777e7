#include "slack/signature.h"

#include <utility>

#include <gtest/gtest.h>

namespace tidemark::slack {
namespace {

constexpr EpochSeconds kNow = 1'700'000'000;
constexpr std::string_view kBody = R"({"type":"event_callback"})";

Secret Key(std::string text) { return Secret(std::move(text)); }

std::vector<SigningSecret> One(std::string key = "current") {
  std::vector<SigningSecret> secrets;
  secrets.push_back({.id = "one", .value = Key(std::move(key))});
  return secrets;
}

// The verdict of a verifier with the secret "current", at kNow, on a request signed with `key` at
// `timestamp`.
SignatureVerdict Judge(const std::string& timestamp, const std::string& key = "current") {
  const std::string signature = Sign(Key(key), timestamp, kBody);
  return SignatureVerifier(One())
      .Verify({.timestamps = {timestamp}, .signatures = {signature}, .body = kBody}, kNow)
      .verdict;
}

// The same with another text in place of the signature.
SignatureVerdict JudgeSignature(std::string_view signature) {
  return SignatureVerifier(One())
      .Verify({.timestamps = {"1700000000"}, .signatures = {signature}, .body = kBody}, kNow)
      .verdict;
}

// The example in Slack's documentation.
TEST(SignatureTest, AcceptsSlacksPublishedExample) {
  constexpr std::string_view kExample =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
      "&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner"
      "&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands"
      "%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
      "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
  constexpr std::string_view kSignature =
      "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";
  const std::string key = "8f742231b10e8888abcd99yyyzzz85a5";
  EXPECT_EQ(Sign(Key(key), "1531420618", kExample), kSignature);
  const SignatureCheck check = SignatureVerifier(One(key)).Verify(
      {.timestamps = {"1531420618"}, .signatures = {kSignature}, .body = kExample}, 1531420618);
  EXPECT_EQ(check.verdict, SignatureVerdict::kValid);
  EXPECT_EQ(check.secret_id, "one");
}

// A timestamp in the future is refused like an old one.
TEST(SignatureTest, AcceptsThreeHundredSecondsOnBothSides) {
  EXPECT_EQ(Judge(std::to_string(kNow)), SignatureVerdict::kValid);
  EXPECT_EQ(Judge(std::to_string(kNow - 300)), SignatureVerdict::kValid);
  EXPECT_EQ(Judge(std::to_string(kNow - 301)), SignatureVerdict::kStale);
  EXPECT_EQ(Judge(std::to_string(kNow + 300)), SignatureVerdict::kValid);
  EXPECT_EQ(Judge(std::to_string(kNow + 301)), SignatureVerdict::kFuture);
  EXPECT_EQ(Judge("0"), SignatureVerdict::kStale);
  EXPECT_EQ(Judge("999999999999"), SignatureVerdict::kFuture);
}

// Texts that some number parsers accept must be refused, even if they are signed.
TEST(SignatureTest, RefusesTimestampsThatAreNotDigits) {
  for (const char* text :
       {"", "-1700000000", "+1700000000", " 1700000000", "1700000000 ", "1700000000.0", "17e8",
        "0x6553f100", "now", "1700000000000000000", "99999999999999999999999999999999"}) {
    EXPECT_EQ(Judge(text), SignatureVerdict::kBadTimestamp) << text;
  }
}

// A request without the headers must not be accepted.
TEST(SignatureTest, RefusesMissingHeaders) {
  const std::string signature = Sign(Key("current"), "1700000000", kBody);
  const SignatureVerifier verifier(One());
  EXPECT_EQ(verifier.Verify({.signatures = {signature}, .body = kBody}, kNow).verdict,
            SignatureVerdict::kMissingHeader);
  EXPECT_EQ(verifier.Verify({.timestamps = {"1700000000"}, .body = kBody}, kNow).verdict,
            SignatureVerdict::kMissingHeader);
  EXPECT_EQ(verifier.Verify({.body = kBody}, kNow).verdict, SignatureVerdict::kMissingHeader);
}

// A proxy may use one of two values and we the other, so both are refused.
TEST(SignatureTest, RefusesRepeatedHeaders) {
  const std::string signature = Sign(Key("current"), "1700000000", kBody);
  const SignatureVerifier verifier(One());
  const std::string_view time = "1700000000";
  EXPECT_EQ(
      verifier.Verify({.timestamps = {time, time}, .signatures = {signature}, .body = kBody}, kNow)
          .verdict,
      SignatureVerdict::kRepeatedHeader);
  EXPECT_EQ(
      verifier
          .Verify({.timestamps = {time}, .signatures = {signature, signature}, .body = kBody}, kNow)
          .verdict,
      SignatureVerdict::kRepeatedHeader);
}

TEST(SignatureTest, RefusesMalformedSignatures) {
  const std::string good = Sign(Key("current"), "1700000000", kBody);
  EXPECT_EQ(JudgeSignature(good), SignatureVerdict::kValid);
  std::string upper = good;
  for (char& c : upper) {
    if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
  }
  const std::string digits = good.substr(3);
  for (const std::string& text :
       {std::string(), std::string("v0="), digits, upper, good + "0", good.substr(0, 66),
        "v1=" + digits, "V0=" + digits, good + " ", " " + good, "v0=" + std::string(64, 'g')}) {
    EXPECT_EQ(JudgeSignature(text), SignatureVerdict::kBadSignature) << text;
  }
}

// Each of time, body and key is part of what is signed.
TEST(SignatureTest, RefusesSignaturesOfOtherSecretsAndTexts) {
  EXPECT_EQ(Judge("1700000000", "another"), SignatureVerdict::kMismatch);
  const std::string signature = Sign(Key("current"), "1700000000", kBody);
  const SignatureVerifier verifier(One());
  EXPECT_EQ(
      verifier
          .Verify({.timestamps = {"1700000001"}, .signatures = {signature}, .body = kBody}, kNow)
          .verdict,
      SignatureVerdict::kMismatch);
  EXPECT_EQ(
      verifier.Verify({.timestamps = {"1700000000"}, .signatures = {signature}, .body = ""}, kNow)
          .verdict,
      SignatureVerdict::kMismatch);
  for (const size_t position : {3, 66}) {
    std::string wrong = signature;
    wrong[position] = wrong[position] == '0' ? '1' : '0';
    EXPECT_EQ(JudgeSignature(wrong), SignatureVerdict::kMismatch) << position;
  }
}

// The signature covers the bytes: the same JSON written differently is another body.
TEST(SignatureTest, SignsTheBytesAsReceived) {
  const std::string body("{ \"a\":\t\"\xff\0\" }\r\n", 16);
  const std::string signature = Sign(Key("current"), "1700000000", body);
  const SignatureVerifier verifier(One());
  const auto verdict = [&](std::string_view bytes) {
    return verifier
        .Verify({.timestamps = {"1700000000"}, .signatures = {signature}, .body = bytes}, kNow)
        .verdict;
  };
  EXPECT_EQ(verdict(body), SignatureVerdict::kValid);
  EXPECT_EQ(verdict(std::string_view(body).substr(0, body.size() - 2)),
            SignatureVerdict::kMismatch);
}

// During a rotation both secrets are accepted; before and after it, only one.
TEST(SignatureTest, TriesEveryActiveSecret) {
  std::vector<SigningSecret> secrets;
  secrets.push_back({.id = "old", .value = Key("old key"), .not_after = kNow + 100});
  secrets.push_back({.id = "new", .value = Key("new key"), .not_before = kNow - 100});
  const SignatureVerifier verifier(std::move(secrets));
  const auto check = [&](std::string key, EpochSeconds now) {
    const std::string time = std::to_string(now);
    const std::string signature = Sign(Key(std::move(key)), time, kBody);
    return verifier.Verify({.timestamps = {time}, .signatures = {signature}, .body = kBody}, now);
  };
  EXPECT_EQ(check("old key", kNow).secret_id, "old");
  EXPECT_EQ(check("new key", kNow).secret_id, "new");
  EXPECT_EQ(check("old key", kNow + 99).verdict, SignatureVerdict::kValid);
  EXPECT_EQ(check("old key", kNow + 100).verdict, SignatureVerdict::kMismatch);
  EXPECT_EQ(check("new key", kNow - 100).verdict, SignatureVerdict::kValid);
  EXPECT_EQ(check("new key", kNow - 101).verdict, SignatureVerdict::kMismatch);
}

// Without a secret nothing is valid. An empty setting must not become a secret that anybody knows.
TEST(SignatureTest, RefusesEverythingWithoutAnActiveSecret) {
  const std::string signature = Sign(Key("current"), "1700000000", kBody);
  const SignedRequest request = {
      .timestamps = {"1700000000"}, .signatures = {signature}, .body = kBody};
  EXPECT_EQ(SignatureVerifier({}).Verify(request, kNow).verdict, SignatureVerdict::kNoSecret);
  std::vector<SigningSecret> expired = One();
  expired[0].not_after = kNow;
  EXPECT_EQ(SignatureVerifier(std::move(expired)).Verify(request, kNow).verdict,
            SignatureVerdict::kNoSecret);
  EXPECT_EQ(SignatureVerifier(One("")).Verify(request, kNow).verdict, SignatureVerdict::kNoSecret);
}

TEST(SignatureTest, NamesEveryVerdict) {
  EXPECT_EQ(ToString(SignatureVerdict::kValid), "valid");
  EXPECT_EQ(ToString(SignatureVerdict::kMissingHeader), "missing_header");
  EXPECT_EQ(ToString(SignatureVerdict::kRepeatedHeader), "repeated_header");
  EXPECT_EQ(ToString(SignatureVerdict::kBadTimestamp), "bad_timestamp");
  EXPECT_EQ(ToString(SignatureVerdict::kStale), "stale");
  EXPECT_EQ(ToString(SignatureVerdict::kFuture), "future");
  EXPECT_EQ(ToString(SignatureVerdict::kBadSignature), "bad_signature");
  EXPECT_EQ(ToString(SignatureVerdict::kMismatch), "mismatch");
  EXPECT_EQ(ToString(SignatureVerdict::kNoSecret), "no_secret");
}

}  // namespace
}  // namespace tidemark::slack
