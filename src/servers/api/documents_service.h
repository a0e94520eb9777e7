// The DocumentsService is documents as the server runs them: both stores behind them, the routes,
// and what is to be done from time to time.
//
// May be used from any thread once it has started.
#pragma once

#include <memory>
#include <stop_token>

#include "apps/documents/documents.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"
#include "servers/api/documents_watch.h"
#include "servers/api/service_context.h"

namespace tidemark::api {

class DocumentsService {
 public:
  // Makes the table when it is missing. Of the context it needs tables, objects, clock and random;
  // logger and metrics may be null. kInvalid when an option is wrong.
  static Result<std::unique_ptr<DocumentsService>> Start(const documents::DocumentsOptions& options,
                                                         const ServiceContext& context);

  // Without tokens nobody is asked for one.
  void AddRoutes(http::Router* router, TokenFile* tokens);
  // Notices from now on what other programs do to the objects, if the context has a watcher.
  void Watch();
  // Settles writes that were left, and repairs rows that were noted.
  Status Housekeep();
  // Measures how many rows are behind their objects, in the metrics; nothing when that is not
  // wanted.
  Status Sample();
  // Nobody waits for a store any longer.
  void Stop();

 private:
  DocumentsService(const documents::DocumentsOptions& options, const Clock* clock)
      : options_(options), clock_(*clock) {}

  const documents::DocumentsOptions options_;
  const Clock& clock_;
  documents::SystemPauser pauser_;
  std::stop_source stopped_;
  std::unique_ptr<documents::Documents> documents_;
  std::unique_ptr<DocumentsWatch> watch_;  // Null: nobody notices.
};

}  // namespace tidemark::api
