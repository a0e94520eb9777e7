#include "base/random.h"

#include <array>
#include <map>
#include <set>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

// A failed test is repeated with its printed seed, so the sequence must depend only on the seed.
TEST(SeededRandomTest, RepeatsItsSequence) {
  SeededRandom first(42), second(42), other(43);
  const uint64_t draw = first.Next();
  EXPECT_EQ(draw, second.Next());
  EXPECT_NE(draw, other.Next());
  EXPECT_NE(draw, first.Next());
}

TEST(RandomTest, DrawsEveryNumberBelowTheBoundAboutEquallyOften) {
  SeededRandom random(1);
  std::map<uint64_t, int> counts;
  for (int i = 0; i < 6000; ++i) ++counts[random.Below(6)];
  EXPECT_EQ(counts.size(), 6u);
  for (const auto& [number, count] : counts) {
    EXPECT_LT(number, 6u);
    EXPECT_NEAR(count, 1000, 150) << number;
  }
  EXPECT_EQ(random.Below(1), 0u);
}

// A generator with given numbers shows which draws are dropped.
class ScriptedRandom final : public Random {
 public:
  explicit ScriptedRandom(std::vector<uint64_t> draws) : draws_(std::move(draws)) {}
  uint64_t Next() override { return draws_.at(next_++); }

 private:
  std::vector<uint64_t> draws_;
  size_t next_ = 0;
};

TEST(RandomTest, ThrowsAwayDrawsThatWouldFavourSmallNumbers) {
  // Nearly half of all draws are at or above this bound. With a plain modulo they would all become
  // small numbers.
  const uint64_t bound = (1ull << 63) + 1;
  ScriptedRandom random({bound, bound + 5, 7});
  EXPECT_EQ(random.Below(bound), 7u);
}

TEST(RandomTest, WritesTwoHexDigitsForEachByte) {
  SeededRandom random(2);
  for (size_t length : {0, 1, 8, 9, 16}) {
    const std::string text = random.Hex(length);
    EXPECT_EQ(text.size(), 2 * length);
    EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos) << text;
  }
  EXPECT_EQ(ScriptedRandom({0x0123456789abcdef}).Hex(8), "efcdab8967452301");
}

// Nonces protect ownership: two of them must not be equal.
TEST(SystemRandomTest, DoesNotRepeatItself) {
  SystemRandom random;
  std::set<std::string> nonces;
  for (int i = 0; i < 1000; ++i) nonces.insert(random.Hex(16));
  EXPECT_EQ(nonces.size(), 1000u);
}

// Bits are drawn in advance. Two processes must not use the same ones.
TEST(SystemRandomTest, AChildProcessDrawsItsOwnBits) {
  SystemRandom random;
  (void)random.Next();
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const uint64_t drawn = random.Next();
    _exit(write(ends[1], &drawn, sizeof drawn) == sizeof drawn ? 0 : 1);
  }
  uint64_t of_child = 0;
  ASSERT_EQ(read(ends[0], &of_child, sizeof of_child), static_cast<ssize_t>(sizeof of_child));
  EXPECT_NE(of_child, random.Next());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  for (const int end : ends) close(end);
}

}  // namespace
}  // namespace tidemark
