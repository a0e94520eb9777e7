#include "http/url.h"

#include <string>

#include <gtest/gtest.h>

namespace tidemark::http {
namespace {

// Every byte survives the way there and back, and only the safe ones stand for themselves.
TEST(UrlTest, EncodesAndDecodesEveryByte) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(PercentDecode(PercentEncode(all)), all);
  EXPECT_EQ(PercentEncode("aZ9-._~ /+%"), "aZ9-._~%20%2F%2B%25");
}

// Half an escape is a fault, not a text.
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

// Two values for one name would let two readers see two requests.
TEST(UrlTest, RefusesRepeatedAndBrokenNames) {
  EXPECT_EQ(ParseQuery("a=1&%61=2").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ParseQuery("a=%").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ParseQuery("%x=1").error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace tidemark::http
