#include "base/places.h"

#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(PlacesTest, OthersWaitInOrderAndFurtherOnesAreRefused) {
  Places places({.capacity = 10, .max_waiting = 2});
  std::optional<Places::Place> first = places.Take(4).Wait().value();
  std::optional<Places::Place> second = places.Take(6).Wait().value();
  std::vector<int> served;
  std::optional<Places::Place> third;
  places.Take(1'000).Then([&](Result<Places::Place> place) {
    served.push_back(3);
    third.emplace(*std::move(place));
  });
  places.Take(1).Then([&](const Result<Places::Place>& place) {
    EXPECT_TRUE(place);
    served.push_back(4);
  });
  std::optional<ErrorCode> refusal;
  places.Take(1).Then([&](const Result<Places::Place>& place) { refusal = place.error().code; });
  EXPECT_EQ(refusal, ErrorCode::kUnavailable);
  first.reset();
  EXPECT_TRUE(served.empty());  // The next needs all places, and the other is behind it.
  second.reset();
  EXPECT_EQ(served, std::vector<int>{3});
  third.reset();
  EXPECT_EQ(served, (std::vector<int>{3, 4}));
  // All places are free again.
  first.emplace(places.Take(10).Wait().value());
}

}  // namespace
}  // namespace tidemark
