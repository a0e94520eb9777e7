#include "servers/api/documents_service.h"

#include "servers/api/documents_routes.h"

namespace tidemark::api {

Result<std::unique_ptr<DocumentsService>> DocumentsService::Start(
    const documents::DocumentsOptions& options, const ServiceContext& context) {
  // The documents wait by the service's pauser, and so are made in it.
  std::unique_ptr<DocumentsService> service(new DocumentsService(options, context.clock));
  service->documents_ = TRY(documents::Documents::Open(options, {.tables = context.tables,
                                                                 .objects = context.objects,
                                                                 .clock = context.clock,
                                                                 .pauser = &service->pauser_,
                                                                 .random = context.random,
                                                                 .logger = context.logger,
                                                                 .metrics = context.metrics}));
  if (context.watcher && options.enabled) {
    service->watch_ = std::make_unique<DocumentsWatch>(
        options.bucket, DocumentsWatchParts{.documents = service->documents_.get(),
                                            .watcher = context.watcher,
                                            .clock = context.clock,
                                            .logger = context.logger,
                                            .metrics = context.metrics});
  }
  return service;
}

void DocumentsService::Watch() {
  if (watch_) watch_->Run();
}

void DocumentsService::Stop() {
  stopped_.request_stop();
  if (watch_) watch_->Stop();
}

void DocumentsService::AddRoutes(http::Router* router, TokenFile* tokens) {
  AddDocumentsRoutes(router,
                     {.documents = documents_.get(),
                      .clock = &clock_,
                      .default_range = options_.ttl,
                      .stop = stopped_.get_token()},
                     tokens);
}

Status DocumentsService::Housekeep() {
  const auto done = documents_->Housekeep(documents_->NewContext(stopped_.get_token()));
  if (!done) return ToError(done.error());
  return Done{};
}

}  // namespace tidemark::api
