#include "base/places.h"

#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(PlacesTest, OthersWaitInOrderAndFurtherOnesAreRefused) {
  Places places({.at_once = 1, .max_waiting = 2});
  std::optional<Places::Place> first = places.Take().Wait().value();
  std::vector<int> served;
  std::optional<Places::Place> second;
  places.Take().Then([&](Result<Places::Place> place) {
    served.push_back(2);
    second.emplace(*std::move(place));
  });
  places.Take().Then([&](const Result<Places::Place>& place) {
    EXPECT_TRUE(place);
    served.push_back(3);
  });
  EXPECT_EQ(places.Take().Wait().error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(served.empty());
  first.reset();
  EXPECT_EQ(served, std::vector<int>{2});
  second.reset();
  EXPECT_EQ(served, (std::vector<int>{2, 3}));
  // All places are free again.
  first.emplace(places.Take().Wait().value());
}

}  // namespace
}  // namespace tidemark
