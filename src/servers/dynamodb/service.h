// The Service is the DynamoDB port: a Door behind a server of its own.
//
//   auto service = TRY(Service::Start(options, &tables, runtime));
//   ...
//   service->Stop(std::chrono::seconds(10));
//
// Start, Stop and ReloadCertificate are for one thread.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/runtime.h"
#include "base/worker_pool.h"
#include "http/server.h"
#include "servers/dynamodb/access_keys.h"
#include "servers/dynamodb/door.h"
#include "tables/tables.h"

namespace tidemark::dynamodb {

struct ServiceOptions {
  http::ServerOptions server;
  DoorOptions door;
  size_t workers = 64;
};

class Service {
 public:
  // The tables and the keys outlive the service. The keys are null in open mode. kInvalid when it
  // would be open to other machines.
  static Result<std::unique_ptr<Service>> Start(ServiceOptions options, tables::Tables* tables,
                                                AccessKeys* keys, const Runtime& runtime);
  // Like Stop with a patience of 0.
  ~Service();

  const std::string& address() const { return server_->address(); }
  Status ReloadCertificate() { return server_->ReloadCertificate(); }
  // Waits this long for running requests, then drops their connections.
  void Stop(std::chrono::milliseconds patience);

 private:
  Service(ServiceOptions options, tables::Tables* tables, AccessKeys* keys, const Runtime& runtime);

  WorkerPool workers_;
  Door door_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace tidemark::dynamodb
