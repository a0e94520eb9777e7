#include "expression/reserved_words.h"

#include <string>

#include <gtest/gtest.h>

namespace tidemark::expression {
namespace {

// The first, the last and the longest word, and words that people often use as names.
TEST(ReservedWordsTest, FindsReservedWordsInAnyCase) {
  for (const std::string_view word :
       {"ABORT", "ZONE", "name", "Status", "tImEsTaMp", "ttl", "data", "year", "count", "size",
        "AUTHORIZATION", "DETERMINISTIC", "and", "between", "key", "value", "values", "user"}) {
    EXPECT_TRUE(IsReservedWord(word)) << word;
  }
}

TEST(ReservedWordsTest, LeavesOtherNamesAlone) {
  for (const std::string_view word : {"", "id", "named", "nam", "pk", "statuses", "ttl1", "_", "A",
                                      "zzz", "attribute_exists", "a-b"}) {
    EXPECT_FALSE(IsReservedWord(word)) << word;
  }
  EXPECT_FALSE(IsReservedWord(std::string(100'000, 'A')));
}

}  // namespace
}  // namespace tidemark::expression
