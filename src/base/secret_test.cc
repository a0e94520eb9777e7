#include "base/secret.h"

#include <concepts>
#include <ostream>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <gtest/gtest.h>

namespace tidemark {
namespace {

template <typename T>
concept Streamable = requires(std::ostream& out, const T& value) {
  out << value;
};

// Code that prints a secret must not compile.
static_assert(Streamable<std::string>);
static_assert(!Streamable<Secret>);
static_assert(fmt::is_formattable<std::string>::value);
static_assert(!fmt::is_formattable<Secret>::value);
static_assert(!std::is_convertible_v<Secret, std::string>);
static_assert(!std::is_convertible_v<Secret, std::string_view>);
static_assert(!std::is_convertible_v<std::string, Secret>);
static_assert(!std::is_constructible_v<Secret, const std::string&>);
static_assert(!std::three_way_comparable<Secret>);

Secret Make(std::string value) { return Secret(std::move(value)); }

TEST(SecretTest, ComparesByItsBytes) {
  EXPECT_TRUE(Make("abc") == Make("abc"));
  EXPECT_FALSE(Make("abc") == Make("abd"));
  EXPECT_FALSE(Make("abc") == Make("ab"));
  EXPECT_TRUE(Secret() == Make(""));
}

// Moving a short string copies its bytes, so the source must be wiped.
TEST(SecretTest, WipesTheStringItWasMadeFrom) {
  std::string source = "short";
  const char* bytes = source.data();
  const Secret secret(std::move(source));
  EXPECT_EQ(secret.Reveal(), "short");
  EXPECT_EQ(std::string_view(bytes, 5), std::string_view("\0\0\0\0\0", 5));
}

TEST(SecretTest, WipesTheSourceOfAMove) {
  for (const std::string& text : {std::string("short"), std::string(100, 'k')}) {
    Secret first = Make(text);
    Secret second = std::move(first);
    EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move): the point of the test.
    Secret third;
    third = std::move(second);
    EXPECT_TRUE(second.empty());  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(third.Reveal(), text);
  }
}

// The bytes of a short string are inside the object, so the test can read its memory after the
// destructor.
TEST(SecretTest, WipesItsBytesWhenDestroyed) {
  alignas(Secret) unsigned char memory[sizeof(Secret)] = {};
  auto* secret = new (memory) Secret(Make("hunter2"));
  const std::string_view bytes(reinterpret_cast<const char*>(memory), sizeof memory);
  ASSERT_NE(bytes.find("hunter2"), std::string_view::npos);
  secret->~Secret();
  EXPECT_EQ(bytes.find("hunter2"), std::string_view::npos);
}

TEST(SecretTest, KeepsItsValueWhenAssignedToItself) {
  Secret secret = Make("abc");
  const Secret& same = secret;
  secret = same;
  EXPECT_EQ(secret.Reveal(), "abc");
}

TEST(SecretTest, CopiesAreIndependent) {
  Secret first = Make("abc");
  const Secret second = first;
  first = Make("other");
  EXPECT_EQ(second.Reveal(), "abc");
}

}  // namespace
}  // namespace tidemark
