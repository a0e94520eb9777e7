// The AttemptsService is attempts as the server runs them: who counts, the routes to it, and, when
// there is an old store, the move from there.
//
// May be used from any thread once it has started.
#pragma once

#include <memory>

#include "apps/attempts/attempts.h"
#include "apps/attempts/moving/migration.h"
#include "apps/attempts/moving/moving_tables.h"
#include "apps/attempts/moving/table_store.h"
#include "apps/attempts/moving/two_stores.h"
#include "base/secret.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"
#include "servers/api/service_context.h"

namespace tidemark::api {

struct AttemptsServiceOptions {
  attempts::AttemptsOptions attempts;
  attempts::Policy policy = attempts::Policy::Default();
  Secret email_key;                               // Empty: addresses are refused.
  moving::Phase migration = moving::Phase::kNew;  // Where the move begins, if there is one.
};

class AttemptsService {
 public:
  // Of the context it needs tables, clock and random; logger, metrics and the old store may be
  // null.
  AttemptsService(AttemptsServiceOptions options, const ServiceContext& context);

  // Makes the table when it is missing, begins the move, and tells the log how likely guessing is
  // to succeed.
  Status Start();
  // Without tokens nobody is asked for one.
  void AddRoutes(http::Router* router, TokenFile* tokens);
  // Ends what takes long, so that whoever waits for the requests under way does not wait for it.
  void Stop();

 private:
  // What stands between attempts and the tables while they move.
  struct Moving {
    Moving(const AttemptsServiceOptions& options, const ServiceContext& context,
           moving::MoveMetrics metrics);
    moving::TableStore new_store;
    moving::TwoStores stores;
    moving::MovingTables tables;
    moving::Migration migration;
  };

  void LogOdds() const;

  const Secret email_key_;
  const Logger* const logger_;
  const moving::Phase first_phase_;
  const std::unique_ptr<Moving> moving_;  // Null: nothing moves.
  attempts::Attempts attempts_;
};

}  // namespace tidemark::api
