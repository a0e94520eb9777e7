#include "servers/dynamodb/service.h"

#include <utility>

#include <fmt/format.h>

#include "http/limits.h"
#include "http/listener.h"

namespace tidemark::dynamodb {

Service::Service(ServiceOptions options, tables::Tables* tables, AccessKeys* keys,
                 const Runtime& runtime)
    : workers_({.threads = options.workers, .max_waiting = http::kMaxWaitingWork}),
      door_(std::move(options.door), tables, keys, &workers_, runtime) {}

Result<std::unique_ptr<Service>> Service::Start(ServiceOptions options, tables::Tables* tables,
                                                AccessKeys* keys, const Runtime& runtime) {
  const auto address =
      TRY(http::ListenAddress::Parse(options.server.listen).WithContext("dynamodb.listen"));
  if (options.door.open && !address.IsLoopback()) {
    return Invalid(fmt::format(
        "dynamodb.open accepts everybody, and other machines can reach {}: listen on 127.0.0.1, "
        "or set dynamodb.open = false and create access keys with `tidemark key create`",
        options.server.listen));
  }
  http::ServerOptions server = options.server;
  server.limits.max_body_bytes = kMaxBodyBytes;
  server.metric_labels = {{"port", "dynamodb"}};
  std::unique_ptr<Service> service(new Service(std::move(options), tables, keys, runtime));
  service->server_ = TRY(http::Server::Start(std::move(server), &service->door_, runtime));
  return service;
}

Service::~Service() { Stop(std::chrono::milliseconds(0)); }

void Service::Stop(std::chrono::milliseconds patience) {
  if (server_ != nullptr) server_->Stop(patience);
  workers_.Stop();
}

}  // namespace tidemark::dynamodb
