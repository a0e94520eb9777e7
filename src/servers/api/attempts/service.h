// The AttemptsService is attempts as the server runs them: the table, the decisions, the routes
// and, when there is an old store, the move from it.
//
// May be used from any thread once it has started.
#pragma once

#include <memory>
#include <string>

#include "apps/attempts/account_table.h"
#include "apps/attempts/attempts.h"
#include "apps/attempts/moving/migration.h"
#include "apps/attempts/moving/table_store.h"
#include "apps/attempts/moving/two_stores.h"
#include "base/secret.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"
#include "servers/api/service_context.h"

namespace tidemark::api {

struct AttemptsServiceOptions {
  std::string table = attempts::kDefaultTable;
  attempts::Policy policy = attempts::Policy::Default();
  Secret email_key;                               // Empty: addresses are refused.
  Secret previous_email_key;                      // Empty: the key was never changed.
  moving::Phase migration = moving::Phase::kNew;  // The phase in which a move begins.
};

class AttemptsService {
 public:
  // Needs tables and runtime from the context; the old store may be null.
  AttemptsService(AttemptsServiceOptions options, const ServiceContext& context);

  // Creates the table when it is missing, begins the move, and logs how likely guessing is to
  // succeed.
  Status Start();
  // When `tokens` is null, no token is needed.
  void AddRoutes(http::Router* router, TokenFile* tokens);
  // Ends the requests that take long (a copy of all subjects), so that a stop does not wait for
  // them.
  void Stop();

 private:
  // What is needed only while attempts move from an old store.
  struct Moving {
    Moving(const AttemptsServiceOptions& options, const ServiceContext& context,
           attempts::AccountTable* table, const moving::MoveMetrics& metrics);
    moving::TableStore new_store;
    moving::TwoStores stores;
    moving::Migration migration;
  };

  void LogOdds() const;

  const Secret email_key_;
  const Secret previous_email_key_;
  const Logger& logger_;
  const moving::Phase first_phase_;
  attempts::AccountTable table_;
  const std::unique_ptr<Moving> moving_;  // Null: there is no old store.
  attempts::Attempts attempts_;
};

}  // namespace tidemark::api
