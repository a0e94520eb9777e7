#include "http/url.h"

#include <string>

#include <gtest/gtest.h>

namespace tidemark::http {
namespace {

// Decoding returns every encoded byte, and only the safe bytes are not escaped.
TEST(UrlTest, EncodesAndDecodesEveryByte) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(PercentDecode(PercentEncode(all)), all);
  EXPECT_EQ(PercentEncode("aZ9-._~ /+%"), "aZ9-._~%20%2F%2B%25");
}

// An incomplete escape is an error.
TEST(UrlTest, RefusesBrokenEscapes) {
  for (const char* text : {"%", "%4", "a%4", "%zz", "%4g", "%%41"}) {
    EXPECT_EQ(PercentDecode(text), std::nullopt) << text;
  }
  EXPECT_EQ(PercentDecode("a%2fb+c"), "a/b+c");
}

// Queries as forms and clients write them.
TEST(UrlTest, ParsesQueries) {
  const auto values = ParseQuery("a=1&b=x%20y+z&c&=d&&e=f=g");
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(*values, (std::map<std::string, std::string>{
                         {"a", "1"}, {"b", "x y z"}, {"c", ""}, {"", "d"}, {"e", "f=g"}}));
  EXPECT_TRUE(ParseQuery("")->empty());
}

// With two values for one name, two programs might read different requests.
TEST(UrlTest, RefusesRepeatedAndBrokenNames) {
  EXPECT_EQ(ParseQuery("a=1&%61=2").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ParseQuery("a=%").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ParseQuery("%x=1").error().code, ErrorCode::kInvalid);
}

TEST(UrlTest, GivesTheHostOfAUrl) {
  const UrlParts parts = SplitUrl("HTTPS://Files.Slack.COM/a/b?c=d#e").value();
  EXPECT_EQ(parts.Origin(), "https://files.slack.com:443");
  EXPECT_FALSE(parts.has_user_info);
  EXPECT_FALSE(parts.is_ip_literal);
  EXPECT_EQ(SplitUrl("http://host/")->Origin(), "http://host:80");
  EXPECT_EQ(SplitUrl("http://host:8080")->Origin(), "http://host:8080");
}

// Ways to write a URL so that its host looks like another one.
TEST(UrlTest, RecognisesHostsThatAreWrittenInUnusualWays) {
  EXPECT_EQ(SplitUrl("https://files.slack.com@evil.test/")->host, "evil.test");
  EXPECT_TRUE(SplitUrl("https://files.slack.com@evil.test/")->has_user_info);
  EXPECT_TRUE(SplitUrl("https://:x@files.slack.com/")->has_user_info);
  EXPECT_EQ(SplitUrl("https://evil.test/files.slack.com")->host, "evil.test");
  EXPECT_EQ(SplitUrl("https://evil.test?@files.slack.com/")->host, "evil.test");
  EXPECT_EQ(SplitUrl("https://evil.test#@files.slack.com/")->host, "evil.test");
  EXPECT_EQ(SplitUrl("https://files.slack.com.evil.test/")->host, "files.slack.com.evil.test");
}

TEST(UrlTest, KnowsIpLiteralsInAnyForm) {
  for (const char* url : {"http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/",
                          "http://0177.0.0.1/", "http://[::1]/", "http://[::ffff:10.0.0.1]:80/"}) {
    EXPECT_TRUE(SplitUrl(url)->is_ip_literal) << url;
  }
}

TEST(UrlTest, RefusesUrlsThatAreNotHttpOrHttps) {
  for (const char* url :
       {"", "files.slack.com", "/path", "ftp://host/", "file:///etc/passwd", "https://",
        "https://host:99999/", "https://host:0/", "https://a b/", "javascript:alert(1)"}) {
    EXPECT_FALSE(SplitUrl(url)) << url;
  }
  EXPECT_FALSE(SplitUrl(std::string("https://a/\0.b/", 14)));
  EXPECT_FALSE(SplitUrl("https://host/" + std::string(20'000, 'x')));
}

TEST(UrlTest, ResolvesLocations) {
  const UrlParts base = SplitUrl("https://one.test/a/b?c").value();
  EXPECT_EQ(ResolveUrl(base, "/x")->url, "https://one.test/x");
  EXPECT_EQ(ResolveUrl(base, "x")->url, "https://one.test/a/x");
  EXPECT_EQ(ResolveUrl(base, "//two.test/x")->Origin(), "https://two.test:443");
  EXPECT_EQ(ResolveUrl(base, "http://two.test/x")->Origin(), "http://two.test:80");
  EXPECT_FALSE(ResolveUrl(base, "ftp://two.test/x"));
}

}  // namespace
}  // namespace tidemark::http
