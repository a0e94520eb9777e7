#include "tables/embedded/write.h"

#include <string>

#include <gtest/gtest.h>

#include "item/limits.h"

namespace tidemark::embedded {
namespace {

TEST(WriteTest, AnUpdateStoresNoNameThatAPutRefuses) {
  const auto update_of = [](size_t name_bytes) {
    return Prepare(tables::UpdateRequest{.table = "things",
                                         .key = {{"id", "a"}},
                                         .update = "SET #n = :v",
                                         .names = {{"#n", std::string(name_bytes, 'n')}},
                                         .values = {{":v", "x"}}});
  };
  EXPECT_TRUE(update_of(item::kMaxAttributeNameBytes));
  const auto refused = update_of(item::kMaxAttributeNameBytes + 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace tidemark::embedded
