#include "base/metrics.h"

#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark {
namespace {

using ::testing::HasSubstr;

// What a scraper reads is the whole point: names, help, kinds, values.
TEST(MetricsTest, ExposesCountersAndGaugesAsPrometheusText) {
  Metrics metrics;
  Counter& writes = metrics.AddCounter({.name = "writes_total", .help = "Writes made."});
  Gauge& waiting = metrics.AddGauge({.name = "waiting", .help = "Writes that wait."});
  writes.Add();
  writes.Add(2);
  waiting.Set(5);
  waiting.Add(-1.5);
  EXPECT_EQ(writes.value(), 3);
  EXPECT_EQ(waiting.value(), 3.5);
  const std::string text = metrics.Expose();
  EXPECT_THAT(text, HasSubstr("# HELP writes_total Writes made.\n"
                              "# TYPE writes_total counter\n"
                              "writes_total 3\n"));
  EXPECT_THAT(text, HasSubstr("# HELP waiting Writes that wait.\n"
                              "# TYPE waiting gauge\n"
                              "waiting 3.5\n"));
}

TEST(MetricsTest, CountsObservationsInBuckets) {
  Metrics metrics;
  Histogram& sync = metrics.AddHistogram(
      {.metric = {.name = "sync_seconds", .help = "Length of a sync."}, .bounds = {0.01, 0.1}});
  sync.Observe(0.005);
  sync.Observe(0.05);
  sync.Observe(7);
  EXPECT_THAT(metrics.Expose(), HasSubstr("sync_seconds_count 3\n"
                                          "sync_seconds_sum 7.055\n"
                                          "sync_seconds_bucket{le=\"0.01\"} 1\n"
                                          "sync_seconds_bucket{le=\"0.1\"} 2\n"
                                          "sync_seconds_bucket{le=\"+Inf\"} 3\n"));
}

TEST(MetricsTest, KeepsMetricsOfOneNameApartByLabels) {
  Metrics metrics;
  Counter& puts = metrics.AddCounter(
      {.name = "requests_total", .help = "Requests.", .labels = {{"operation", "put"}}});
  Counter& gets = metrics.AddCounter(
      {.name = "requests_total", .help = "Requests.", .labels = {{"operation", "get"}}});
  puts.Add(2);
  gets.Add(1);
  EXPECT_THAT(metrics.Expose(), HasSubstr("requests_total{operation=\"put\"} 2\n"));
  EXPECT_THAT(metrics.Expose(), HasSubstr("requests_total{operation=\"get\"} 1\n"));
}

// docs/metrics.md is compared with this list.
TEST(MetricsTest, ListsWhatWasAdded) {
  Metrics metrics;
  metrics.AddGauge({.name = "waiting", .help = "Writes that wait."});
  metrics.AddCounter({.name = "reads_total", .help = "Reads.", .labels = {{"kind", "a"}}});
  metrics.AddCounter({.name = "reads_total", .help = "Reads.", .labels = {{"kind", "b"}}});
  const auto list = metrics.List();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list.at("waiting").kind, "gauge");
  EXPECT_EQ(list.at("waiting").help, "Writes that wait.");
  EXPECT_EQ(list.at("reads_total").kind, "counter");
}

TEST(MetricsTest, LosesNoCountBetweenThreads) {
  Metrics metrics;
  Counter& counter = metrics.AddCounter({.name = "bumps_total", .help = "Bumps."});
  std::vector<std::thread> threads(4);
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      for (int j = 0; j < 1000; ++j) counter.Add();
      EXPECT_THAT(metrics.Expose(), HasSubstr("bumps_total "));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.value(), 4000);
}

// References are kept for the life of the program while other parts add theirs.
TEST(MetricsTest, KeepsReferencesValidWhenMoreAreAdded) {
  Metrics metrics;
  Counter& first = metrics.AddCounter({.name = "first_total", .help = "First."});
  for (int i = 0; i < 1000; ++i) {
    metrics.AddCounter({.name = "m" + std::to_string(i), .help = "More."});
  }
  first.Add();
  EXPECT_THAT(metrics.Expose(), HasSubstr("first_total 1\n"));
}

// Two parts that count under one name would add up to a number that means nothing.
TEST(MetricsDeathTest, StopsWhenANameIsTakenTwice) {
  Metrics metrics;
  metrics.AddCounter({.name = "taken", .help = "One."});
  EXPECT_DEATH(metrics.AddCounter({.name = "taken", .help = "One."}), "broken invariant");
  EXPECT_DEATH(metrics.AddGauge({.name = "taken", .help = "One.", .labels = {{"a", "b"}}}),
               "broken invariant");
  EXPECT_DEATH(metrics.AddGauge({.name = "no spaces", .help = "One."}), "broken invariant");
}

}  // namespace
}  // namespace tidemark
