#include "servers/api/attempts_service.h"

#include <utility>

#include <fmt/format.h>

#include "servers/api/attempts_routes.h"
#include "servers/api/migration_routes.h"

namespace tidemark::api {

AttemptsService::Moving::Moving(const AttemptsServiceOptions& options,
                                const ServiceContext& context, moving::MoveMetrics metrics)
    : new_store(options.attempts.table, context.tables),
      stores(context.old_attempts, &new_store, context.clock, context.random, context.logger,
             metrics),
      tables(options.attempts.table, context.tables, &stores),
      migration(&stores, moving::LongestLife(options.policy)) {}

AttemptsService::AttemptsService(AttemptsServiceOptions options, const ServiceContext& context)
    : email_key_(std::move(options.email_key)),
      logger_(context.logger),
      first_phase_(options.migration),
      moving_([&]() -> std::unique_ptr<Moving> {
        const auto metrics = moving::MoveMetrics::AddTo(context.metrics);
        if (context.old_attempts == nullptr) return nullptr;
        return std::make_unique<Moving>(options, context, metrics);
      }()),
      attempts_(std::move(options.attempts), std::move(options.policy),
                moving_ ? &moving_->tables : context.tables, context.clock, context.random,
                context.logger, context.metrics) {}

Status AttemptsService::Start() {
  TRY(attempts_.CreateTable());
  if (moving_) TRY(moving_->stores.Start(first_phase_).WithContext("attempts.old.url"));
  if (logger_ != nullptr) LogOdds();
  return Done{};
}

void AttemptsService::LogOdds() const {
  for (const attempts::Odds& odds : attempts_.policy().YearlyOdds()) {
    logger_->Log(LogLevel::kInfo, "odds of guessing",
                 {{"rule", odds.rule},
                  {"guesses_a_year", static_cast<int64_t>(odds.guesses_a_year)},
                  {"odds_a_year", fmt::format("{:.3g}", odds.a_year)}});
  }
}

void AttemptsService::Stop() {
  if (moving_) moving_->migration.Stop();
}

void AttemptsService::AddRoutes(http::Router* router, TokenFile* tokens) {
  AddAttemptsRoutes(router, {.attempts = &attempts_, .email_key = &email_key_}, tokens);
  AddMigrationRoutes(router, moving_ ? &moving_->migration : nullptr, tokens);
}

}  // namespace tidemark::api
