#include "programs/program_settings.h"

#include <gtest/gtest.h>

namespace tidemark::programs {
namespace {

// Each default must be a valid value of its setting.
TEST(ProgramSettingsTest, LoadsItsOwnDefaults) {
  const Settings settings = Settings::Load(ProgramSettings(), {}).value();
  EXPECT_EQ(settings.Text("data"), "tidemark-data");
  EXPECT_EQ(settings.Text("durability"), "synced");
  EXPECT_EQ(settings.Text("log.level"), "info");
  EXPECT_EQ(settings.Text("log.format"), "text");
  for (const Setting& setting : ProgramSettings()) EXPECT_FALSE(setting.help.empty());
}

}  // namespace
}  // namespace tidemark::programs
