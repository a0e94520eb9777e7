#include "servers/api/documents_service.h"

#include <algorithm>
#include <chrono>

#include "servers/api/documents_routes.h"

namespace tidemark::api {

namespace {

// The cache is never complete for what expires while it is asked: ranges that name no start leave
// it out, or each of them would have to search the objects.
constexpr std::chrono::minutes kExpiring(1);

}  // namespace

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
                      .default_range = std::max(options_.ttl - kExpiring, options_.ttl / 2),
                      .stop = stopped_.get_token()},
                     tokens);
}

Status DocumentsService::Housekeep() {
  const auto done = documents_->Housekeep(documents_->NewContext(stopped_.get_token()));
  if (!done) return ToError(done.error());
  return Done{};
}

Status DocumentsService::Sample() {
  if (!options_.enabled || options_.sample == 0) return Done{};
  const auto done = documents_->Sample(documents_->NewContext(stopped_.get_token()),
                                       static_cast<size_t>(options_.sample));
  if (!done) return ToError(done.error());
  return Done{};
}

}  // namespace tidemark::api
