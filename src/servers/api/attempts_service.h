// The AttemptsService is attempts as the server runs them: who counts, and the routes to it.
//
// May be used from any thread once it has started.
#pragma once

#include "apps/attempts/attempts.h"
#include "base/secret.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"
#include "servers/api/service_context.h"

namespace tidemark::api {

struct AttemptsServiceOptions {
  attempts::AttemptsOptions attempts;
  attempts::Policy policy = attempts::Policy::Default();
  Secret email_key;  // Empty: addresses are refused.
};

class AttemptsService {
 public:
  // Of the context it needs tables, clock and random; logger and metrics may be null.
  AttemptsService(AttemptsServiceOptions options, const ServiceContext& context);

  // Makes the table when it is missing, and tells the log how likely guessing is to succeed.
  Status Start();
  // Without tokens nobody is asked for one.
  void AddRoutes(http::Router* router, TokenFile* tokens);

 private:
  void LogOdds() const;

  const Secret email_key_;
  const Logger* const logger_;
  attempts::Attempts attempts_;
};

}  // namespace tidemark::api
