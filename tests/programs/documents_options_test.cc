#include <map>
#include <string>

#include <gtest/gtest.h>

#include "apps/documents/options.h"
#include "programs/program_settings.h"

namespace tidemark::documents {
namespace {

Result<DocumentsOptions> Load(Environment environment) {
  const auto settings = Settings::Load(programs::ProgramSettings(),
                                       {.environment = std::move(environment), .flags = {}});
  if (!settings) return settings.error();
  return OptionsFrom(*settings);
}

// The seed's four variables, and its values without them.
// Spec: 002-66
TEST(OptionsTest, ReadsTheFourVariables) {
  const auto defaults = Load({});
  ASSERT_TRUE(defaults.has_value()) << defaults.error().message;
  EXPECT_EQ(defaults->table, "ccoe-customer-contact-manager-cache");
  EXPECT_EQ(defaults->ttl, std::chrono::hours(24 * 90));
  EXPECT_TRUE(defaults->enabled);
  EXPECT_EQ(defaults->rate_per_second, 100);

  const auto given = Load({{"DYNAMODB_CACHE_TABLE_NAME", "other"},
                           {"DYNAMODB_CACHE_TTL_DAYS", "30"},
                           {"DYNAMODB_CACHE_ENABLED", "false"},
                           {"DYNAMODB_RATE_LIMIT_RPS", "7"}});
  ASSERT_TRUE(given.has_value()) << given.error().message;
  EXPECT_EQ(given->table, "other");
  EXPECT_EQ(given->ttl, std::chrono::hours(24 * 30));
  EXPECT_FALSE(given->enabled);
  EXPECT_EQ(given->rate_per_second, 7);
}

// A typing error in a number must not become a cache that keeps nothing or everything.
// Spec: 002-66
TEST(OptionsTest, RefusesBadValues) {
  const std::map<std::string, std::vector<std::string>> bad = {
      {"DYNAMODB_CACHE_TTL_DAYS", {"0", "-1", "ninety", "9.5", "1000000"}},
      {"DYNAMODB_RATE_LIMIT_RPS", {"0", "-100", "fast", "2000000"}},
      {"DYNAMODB_CACHE_ENABLED", {"yes", "TRUE", "1"}}};
  for (const auto& [variable, values] : bad) {
    for (const std::string& value : values) {
      const auto options = Load({{variable, value}});
      ASSERT_FALSE(options.has_value()) << variable << "=" << value;
      EXPECT_EQ(options.error().code, ErrorCode::kInvalid);
      EXPECT_NE(options.error().message.find(variable), std::string::npos)
          << options.error().message;
    }
  }
}

TEST(OptionsTest, SamplingCanBeTurnedOffAndItsRateIsLimited) {
  EXPECT_EQ(Load({{"TIDEMARK_DOCUMENTS_SAMPLE", "0"}})->sample, 0);
  EXPECT_FALSE(Load({{"TIDEMARK_DOCUMENTS_SAMPLE", "-1"}}).has_value());
  EXPECT_FALSE(Load({{"TIDEMARK_DOCUMENTS_SAMPLE", "10001"}}).has_value());
  EXPECT_FALSE(Load({{"TIDEMARK_DOCUMENTS_SAMPLE_EVERY", "0s"}}).has_value());
}

// Notes of repairs must not be taken for documents, nor documents for notes.
TEST(OptionsTest, RefusesAPrefixInsideAnotherPrefix) {
  DocumentsOptions options;
  options.prefix = "cache-repairs/archive/";
  EXPECT_FALSE(ValidateOptions(options).has_value());
  options = {};
  options.negative_life = std::chrono::seconds(31);
  EXPECT_FALSE(ValidateOptions(options).has_value());
  EXPECT_TRUE(ValidateOptions({}).has_value());
}

}  // namespace
}  // namespace tidemark::documents
