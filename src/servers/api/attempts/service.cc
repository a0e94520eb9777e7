#include "servers/api/attempts/service.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "servers/api/attempts/locked_routes.h"
#include "servers/api/attempts/migration_routes.h"
#include "servers/api/attempts/routes.h"

namespace tidemark::api {

AttemptsService::Moving::Moving(const AttemptsServiceOptions& options,
                                const ServiceContext& context, attempts::AccountTable* table,
                                const moving::MoveMetrics& metrics)
    : new_store(options.table, context.tables),
      stores({.old_store = context.old_attempts, .new_store = &new_store, .table = table},
             context.runtime, metrics),
      migration(&stores, moving::LongestLife(options.policy)) {}

AttemptsService::AttemptsService(AttemptsServiceOptions options, const ServiceContext& context)
    : email_key_(std::move(options.email_key)),
      previous_email_key_(std::move(options.previous_email_key)),
      logger_(context.runtime.logger),
      first_phase_(options.migration),
      table_(options.table, context.tables),
      moving_([&]() -> std::unique_ptr<Moving> {
        // The counters are there also without a move: an alarm on them needs a value.
        const moving::MoveMetrics metrics(&context.runtime.metrics);
        if (context.old_attempts == nullptr) return nullptr;
        return std::make_unique<Moving>(options, context, &table_, metrics);
      }()),
      attempts_(std::move(options.policy),
                moving_ ? static_cast<attempts::AccountStore*>(&moving_->stores) : &table_,
                context.runtime) {}

Status AttemptsService::Start() {
  // Before the move: its record of the phase is a row of this table.
  TRY(table_.Create());
  if (moving_) TRY(moving_->migration.Start(first_phase_).WithContext("attempts.old.url"));
  LogOdds();
  return Done{};
}

// One line for the rule that is easiest to guess at. `tidemark attempts odds` shows all of them.
void AttemptsService::LogOdds() const {
  const std::vector<attempts::Odds> all = attempts_.policy().GuessOdds();
  const auto highest = std::ranges::max_element(all, {}, &attempts::Odds::a_year);
  if (highest == all.end()) return;
  logger_.Log(
      LogLevel::kInfo, "highest odds of guessing",
      {{"rule", highest->rule},
       {"guesses_between_successes", static_cast<int64_t>(highest->guesses_between_successes)},
       {"odds_between_successes", fmt::format("{:.3g}", highest->between_successes)},
       {"guesses_a_year", static_cast<int64_t>(highest->guesses_a_year)},
       {"odds_a_year", fmt::format("{:.3g}", highest->a_year)},
       {"rules", all.size()}});
}

void AttemptsService::Stop() {
  if (moving_) moving_->migration.Stop();
}

void AttemptsService::AddRoutes(http::Router* router, TokenFile* tokens) {
  AddAttemptsRoutes(router,
                    {.attempts = &attempts_,
                     .email_key = &email_key_,
                     .previous_email_key = &previous_email_key_},
                    tokens);
  moving::Migration* migration = moving_ ? &moving_->migration : nullptr;
  AddLockedRoutes(router, {.attempts = &attempts_, .table = &table_, .migration = migration},
                  tokens);
  AddMigrationRoutes(router, migration, tokens);
}

}  // namespace tidemark::api
