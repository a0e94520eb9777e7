// The DynamoDB port of `tidemark serve`, with its access keys.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/runtime.h"
#include "base/settings.h"
#include "http/server.h"
#include "programs/key/served_keys.h"
#include "servers/dynamodb/service.h"
#include "tables/tables.h"

namespace tidemark::programs {

class DynamoDbPort {
 public:
  // Null when the setting dynamodb.listen is empty. `server` has the limits and the certificate of
  // the other port. On the first start it makes an access key, writes it into a file and says
  // where. The tables and the keys outlive the port. kInvalid when the settings do not fit
  // together.
  static Result<std::unique_ptr<DynamoDbPort>> Open(const Settings& settings,
                                                    const http::ServerOptions& server,
                                                    dynamodb::OwnTables own_tables,
                                                    tables::Tables* tables, ServedKeys* served_keys,
                                                    const Runtime& runtime);

  const std::string& address() const { return service_->address(); }
  Status ReloadCertificate() { return service_->ReloadCertificate(); }
  void Stop(std::chrono::milliseconds patience) { service_->Stop(patience); }

 private:
  explicit DynamoDbPort(std::unique_ptr<dynamodb::Service> service)
      : service_(std::move(service)) {}

  std::unique_ptr<dynamodb::Service> service_;
};

}  // namespace tidemark::programs
