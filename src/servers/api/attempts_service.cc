#include "servers/api/attempts_service.h"

#include <utility>

#include "servers/api/attempts_routes.h"

namespace tidemark::api {

AttemptsService::AttemptsService(AttemptsServiceOptions options, const ServiceContext& context)
    : email_key_(std::move(options.email_key)),
      logger_(context.logger),
      attempts_(std::move(options.attempts), std::move(options.policy), context.tables,
                context.clock, context.random, context.logger, context.metrics) {}

Status AttemptsService::Start() {
  TRY(attempts_.CreateTable());
  if (logger_ != nullptr) LogOdds();
  return Done{};
}

void AttemptsService::LogOdds() const {
  for (const attempts::Odds& odds : attempts_.policy().YearlyOdds()) {
    logger_->Log(LogLevel::kInfo, "odds of guessing",
                 {{"rule", odds.rule},
                  {"guesses_a_year", odds.guesses_a_year},
                  {"odds_a_year", odds.a_year}});
  }
}

void AttemptsService::AddRoutes(http::Router* router, TokenFile* tokens) {
  AddAttemptsRoutes(router, {.attempts = &attempts_, .email_key = &email_key_}, tokens);
}

}  // namespace tidemark::api
