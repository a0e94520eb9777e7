#include "apps/documents/options.h"

#include <fmt/format.h>

#include "apps/documents/limits.h"

namespace tidemark::documents {

namespace {

constexpr int64_t kDaySeconds = 86'400;

Status CheckRange(std::string_view setting, int64_t value, int64_t most) {
  if (value >= 1 && value <= most) return Done{};
  return Invalid(fmt::format("{} is {}: it must be between 1 and {}", setting, value, most));
}

Status CheckName(std::string_view setting, std::string_view value) {
  if (!value.empty()) return Done{};
  return Invalid(fmt::format("{} is empty: give it a name", setting));
}

}  // namespace

Status ValidateOptions(const DocumentsOptions& options) {
  TRY(CheckName("documents.table (DYNAMODB_CACHE_TABLE_NAME)", options.table));
  TRY(CheckName("documents.bucket", options.bucket));
  TRY(CheckName("documents.prefix", options.prefix));
  if (options.repair_prefix.starts_with(options.prefix) ||
      options.prefix.starts_with(options.repair_prefix)) {
    return Invalid(
        "documents.prefix and the prefix of repair notes must not contain each other: change "
        "documents.prefix");
  }
  TRY(CheckRange("documents.rate (DYNAMODB_RATE_LIMIT_RPS)", options.rate_per_second,
                 kMaxRatePerSecond));
  TRY(CheckRange("the life of a row in seconds, from documents.ttl-days (DYNAMODB_CACHE_TTL_DAYS)",
                 options.ttl.count(), kMaxTtlDays * kDaySeconds));
  if (options.sample != 0) TRY(CheckRange("documents.sample", options.sample, kMaxSample));
  if (options.sample_every < kShortestSampling) {
    return Invalid(fmt::format("documents.sample-every is {} ms: it must be {} ms at least",
                               options.sample_every.count(), kShortestSampling.count()));
  }
  return CheckRange("the time in seconds for which an absent id is remembered",
                    options.negative_life.count(), kLongestNegativeLife.count());
}

Result<DocumentsOptions> OptionsFrom(const Settings& settings) {
  const int64_t ttl_days = settings.Integer("documents.ttl-days");
  TRY(CheckRange("documents.ttl-days (DYNAMODB_CACHE_TTL_DAYS)", ttl_days, kMaxTtlDays));
  DocumentsOptions options{.table = settings.Text("documents.table"),
                           .ttl = std::chrono::seconds(ttl_days * kDaySeconds),
                           .enabled = settings.Bool("documents.cache"),
                           .rate_per_second = settings.Integer("documents.rate"),
                           .limits_calls = settings.IsGiven("documents.rate"),
                           .bucket = settings.Text("documents.bucket"),
                           .prefix = settings.Text("documents.prefix"),
                           .write_mode = settings.Text("documents.writes") == "lenient"
                                             ? WriteMode::kLenient
                                             : WriteMode::kStrict,
                           .dry_run = settings.Bool("documents.dry-run"),
                           .sample = settings.Integer("documents.sample"),
                           .sample_every = settings.Duration("documents.sample-every")};
  TRY(ValidateOptions(options));
  return options;
}

}  // namespace tidemark::documents
