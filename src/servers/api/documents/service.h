// DocumentsService runs documents in the server: the routes, the watch over the folder of objects,
// and the work that is done at regular times.
//
// May be used from any thread once it has started.
#pragma once

#include <memory>
#include <stop_token>

#include "apps/documents/documents.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"
#include "servers/api/documents/watch.h"
#include "servers/api/documents/workers.h"
#include "servers/api/service_context.h"

namespace tidemark::api {

class DocumentsService {
 public:
  // Makes the table when it is missing. Of the context it needs tables, objects and runtime.
  // kInvalid when an option is wrong.
  static Result<std::unique_ptr<DocumentsService>> Start(const documents::DocumentsOptions& options,
                                                         const ServiceContext& context);

  // When `tokens` is null, callers need no token.
  void AddRoutes(http::Router* router, TokenFile* tokens);
  // Starts to compare the cache with the objects, which other programs may have changed since the
  // last start, and to watch what they do, if the context has a watcher.
  void Watch();
  // For a program that does not call Watch: reads look at the objects, or all are compared now.
  void DoubtCache();
  Status Compare();
  // Settles stale writes, and repairs rows that have a note.
  Status Housekeep();
  // Measures how many rows differ from their objects, for the metrics. Does nothing when
  // documents.sample is 0.
  Status Sample();
  // Ends every wait for a store, for the rate limit and for a retry, and the watch.
  void Stop();

 private:
  DocumentsService(const documents::DocumentsOptions& options, const Runtime& runtime)
      : options_(options), runtime_(runtime) {}

  const documents::DocumentsOptions options_;
  const Runtime runtime_;
  std::stop_source stopped_;
  std::unique_ptr<documents::Documents> documents_;
  std::unique_ptr<DocumentsWatch> watch_;  // Null: nothing is watched.
  DocumentsWorkers workers_;               // After the documents: they are used until it stops.
};

}  // namespace tidemark::api
