#include "servers/api/documents/service.h"

#include <algorithm>
#include <chrono>

#include "servers/api/documents/routes.h"

namespace tidemark::api {

namespace {

// Rows expire while a request runs, so the cache is never complete for its oldest minute. A range
// without a start leaves that minute out. Otherwise every such range would read all objects.
constexpr std::chrono::minutes kExpiring(1);
constexpr size_t kProcessNameBytes = 8;

}  // namespace

Result<std::unique_ptr<DocumentsService>> DocumentsService::Start(
    const documents::DocumentsOptions& options, const ServiceContext& context) {
  documents::DocumentsOptions own = options;
  // The stores in this process hold a lock, so no other process has them open.
  own.sole_process = context.runtime.random.Hex(kProcessNameBytes);
  std::unique_ptr<DocumentsService> service(new DocumentsService(own, context.runtime));
  service->documents_ =
      TRY(documents::Documents::Open(own, context.tables, context.objects, context.runtime));
  if (options.enabled) {
    service->watch_ = std::make_unique<DocumentsWatch>(
        options.bucket, DocumentsWatchParts{.documents = service->documents_.get(),
                                            .watcher = context.watcher,
                                            .runtime = context.runtime});
  }
  return service;
}

void DocumentsService::Watch() {
  if (watch_) watch_->Run();
}

void DocumentsService::Stop() {
  stopped_.request_stop();
  if (watch_) watch_->Stop();
  workers_.Stop();
}

void DocumentsService::AddRoutes(http::Router* router, TokenFile* tokens) {
  AddDocumentsRoutes(router,
                     {.documents = documents_.get(),
                      .clock = &runtime_.clock,
                      .default_range = std::max(options_.ttl - kExpiring, options_.ttl / 2),
                      .workers = &workers_,
                      .stop = stopped_.get_token()},
                     tokens);
}

void DocumentsService::DoubtCache() { documents_->BeginComparison(); }

Status DocumentsService::Compare() {
  DoubtCache();
  bool is_finished = false;
  while (!is_finished) {
    const documents::Context context = documents_->NewContext(stopped_.get_token());
    is_finished = TRY(documents_->Compare(context, context.deadline));
  }
  return Done{};
}

Status DocumentsService::Housekeep() {
  const auto done = documents_->Housekeep(documents_->NewContext(stopped_.get_token()));
  if (!done) return done.error();
  return Done{};
}

Status DocumentsService::Sample() {
  if (!options_.enabled || options_.sample == 0) return Done{};
  const auto done = documents_->Sample(documents_->NewContext(stopped_.get_token()),
                                       static_cast<size_t>(options_.sample));
  if (!done) return done.error();
  return Done{};
}

}  // namespace tidemark::api
