// How the environment names the table of claims.
#include <gtest/gtest.h>

#include "apps/dedup/claims.h"
#include "programs/program_settings.h"
#include "servers/api/service_options.h"

namespace tidemark::dedup {
namespace {

std::string TableIn(Environment environment) {
  environment.emplace("TIDEMARK_ARCHIVE_ENABLED", "false");
  const auto settings = Settings::Load(programs::ProgramSettings(), {.environment = environment});
  EXPECT_TRUE(settings.has_value());
  const auto options = api::ReadOptions(*settings);
  EXPECT_TRUE(options.has_value()) << options.error().message;
  return options ? options->claims.table : "";
}

// Tidemark's variable comes first, then the seed's variable, then the seed's name.
TEST(DedupSettingsTest, TheTablesNameComesFromTheEnvironment) {
  EXPECT_EQ(TableIn({}), "slack-classify-bot-processed-events");
  EXPECT_EQ(TableIn({{"DEDUP_TABLE_NAME", "events"}}), "events");
  EXPECT_EQ(TableIn({{"DEDUP_TABLE_NAME", "events"}, {"TIDEMARK_DEDUP_TABLE", "mine"}}), "mine");
}

}  // namespace
}  // namespace tidemark::dedup
