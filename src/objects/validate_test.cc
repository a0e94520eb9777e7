#include "objects/validate.h"

#include <string>

#include <gtest/gtest.h>

namespace tidemark::objects {

namespace {

bool IsKey(std::string_view key) { return ValidateKey(key).has_value(); }

bool Takes(PutRequest request) { return Validate(request).has_value(); }

}  // namespace

// Every key that S3 accepts is accepted.
TEST(ValidateTest, AcceptsEveryKeyOfS3) {
  for (const std::string& key :
       {std::string("a"), std::string("a/b"), std::string("/"), std::string("a//b/"),
        std::string("..."), std::string("a/.b"), std::string("\0\x01", 2),
        std::string("caf\xc3\xa9/\xf0\x9f\x8c\x8a"), std::string(kMaxKeyBytes, 'k')}) {
    EXPECT_TRUE(IsKey(key)) << key;
  }
}

// A key must not lead out of the bucket, and must be valid text.
TEST(ValidateTest, RefusesInvalidKeys) {
  for (const std::string& key :
       {std::string(), std::string("."), std::string(".."), std::string("a/../b"),
        std::string("a/."), std::string("./a"), std::string("\xff"), std::string("a\xc3"),
        std::string("\xc0\x80"), std::string("\xe0\x80\x80"), std::string("\xed\xa0\x80"),
        std::string("\xf4\x90\x80\x80"), std::string(kMaxKeyBytes + 1, 'k')}) {
    EXPECT_FALSE(IsKey(key)) << key;
  }
}

// Metadata is sent in HTTP headers, so values that headers cannot hold are refused.
TEST(ValidateTest, ChecksMetadataContentTypeAndConditions) {
  EXPECT_TRUE(Takes({.key = "k", .metadata = {{"team", "T1"}, {"a-b_c.d", ""}}}));
  EXPECT_FALSE(Takes({.key = "k", .metadata = {{"Team", "T1"}}}));
  EXPECT_FALSE(Takes({.key = "k", .metadata = {{"", "T1"}}}));
  EXPECT_FALSE(Takes({.key = "k", .metadata = {{"team", "T1\r\nX: y"}}}));
  EXPECT_FALSE(Takes({.key = "k", .metadata = {{"team", std::string(2048, 'x')}}}));
  EXPECT_FALSE(Takes({.key = "k", .content_type = "text/plain\r\n"}));
  EXPECT_FALSE(Takes({.key = "k", .bytes = "b", .file = "f"}));
  EXPECT_FALSE(Takes({.key = "k", .if_absent = true, .if_match = "e"}));
}

// The size of a page is limited.
TEST(ValidateTest, LimitsTheSizeOfAPage) {
  EXPECT_TRUE(Validate(ListRequest{.limit = kMaxPage}).has_value());
  EXPECT_FALSE(Validate(ListRequest{.limit = kMaxPage + 1}).has_value());
  EXPECT_FALSE(Validate(ListRequest{.limit = 0}).has_value());
}

}  // namespace tidemark::objects
