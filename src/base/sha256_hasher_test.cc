#include "base/sha256_hasher.h"

#include <gtest/gtest.h>

#include "base/hashing.h"

namespace tidemark {

// Where the pieces are cut makes no difference.
TEST(Sha256HasherTest, AgreesWithTheHashOfTheWhole) {
  Sha256Hasher hasher;
  for (const char* piece : {"", "ab", "", "c"}) hasher.Add(piece);
  EXPECT_EQ(hasher.Finish(), Sha256("abc"));
  EXPECT_EQ(Sha256Hasher().Finish(), Sha256(""));
}

}  // namespace tidemark
