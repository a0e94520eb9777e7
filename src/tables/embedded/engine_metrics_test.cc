#include "tables/embedded/engine_metrics.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace tidemark::embedded {
namespace {

// An operator must be able to look up every metric.
TEST(EngineMetricsTest, EveryMetricIsDocumentedWithItsKindAndMeaning) {
  std::ifstream file(std::string(TIDEMARK_SOURCE_FOLDER) + "/docs/metrics.md");
  std::stringstream document;
  document << file.rdbuf();
  Metrics metrics;
  EngineMetrics engine(&metrics);
  ASSERT_FALSE(metrics.List().empty());
  for (const auto& [name, description] : metrics.List()) {
    const std::string row =
        "| `" + name + "` | " + description.kind + " | " + description.help + " |";
    EXPECT_NE(document.str().find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace tidemark::embedded
