#include "apps/documents/cache_error.h"

#include <gtest/gtest.h>

#include "apps/documents/retrier.h"

namespace tidemark::documents {
namespace {

Outcome<int> Half(int number) {
  if (number % 2 != 0) return Refused("the number is odd");
  return number / 2;
}

Outcome<int> Quarter(int number) {
  const int half = TRY(Half(number));
  return Half(half);
}

TEST(CacheErrorTest, OutcomesReturnEarly) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).error().message, "the number is odd");
}

// Callers branch on the type, show the message, log the cause, and ask whether to try again.
// Spec: 002-62
TEST(CacheErrorTest, EachTypeSaysWhatItIs) {
  struct Case {
    CacheError error;
    CacheErrorType type;
    std::string_view name;
    bool retryable;
  };
  const Error refused = Invalid("no id");
  const Error away{ErrorCode::kUnavailable, "busy"};
  const Error lost{ErrorCode::kUnknown, "no answer"};
  const Error denied{ErrorCode::kDenied, "no right"};
  const std::vector<Case> cases = {
      {NotFound("none"), CacheErrorType::kNotFound, "not_found", false},
      {Classify(Store::kTable, "reading", away), CacheErrorType::kThrottling, "throttling", true},
      {Refused(refused), CacheErrorType::kValidation, "validation", false},
      {Classify(Store::kTable, "reading", lost), CacheErrorType::kNetwork, "network", true},
      {Classify(Store::kTable, "reading", denied), CacheErrorType::kUnavailable, "unavailable",
       false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(c.error.type, c.type);
    EXPECT_EQ(ToString(c.error.type), c.name);
    EXPECT_EQ(c.error.retryable, c.retryable) << c.name;
    EXPECT_FALSE(c.error.message.empty());
  }
  EXPECT_EQ(cases[1].error.causes, std::vector<Error>{away});
  EXPECT_EQ(cases[2].error.causes, std::vector<Error>{refused});
  EXPECT_EQ(cases[3].error.causes, std::vector<Error>{lost});
  EXPECT_EQ(cases[4].error.causes, std::vector<Error>{denied});
}

// One error for two stores names both.
TEST(CacheErrorTest, BothKeepsBothCauses) {
  const Error busy{ErrorCode::kUnavailable, "busy"};
  const Error denied{ErrorCode::kDenied, "no right"};
  const CacheError both =
      Both(Classify(Store::kTable, "reading", busy), Classify(Store::kObjects, "opening", denied));
  EXPECT_EQ(both.type, CacheErrorType::kUnavailable);
  EXPECT_TRUE(both.retryable);
  EXPECT_EQ(both.causes, (std::vector<Error>{busy, denied}));
  EXPECT_NE(both.message.find("the table: reading: busy"), std::string::npos) << both.message;
  EXPECT_NE(both.message.find("the object store: opening: no right"), std::string::npos);
}

}  // namespace
}  // namespace tidemark::documents
