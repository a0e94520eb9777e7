// The service as `tidemark serve` starts it, in the process of a benchmark.
//
//   RunningService service(folder.path(), tables.get());
//   KeepAliveClient client = service.Connect();
//
// Connecting is for one thread at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/sleeper.h"
#include "bench/harness.h"
#include "bench/keep_alive_client.h"
#include "http/client.h"
#include "objects/objects.h"
#include "servers/api/api_tokens.h"
#include "servers/api/service.h"
#include "tables/tables.h"

namespace tidemark::bench {

class RunningService {
 public:
  // All outlive this.
  RunningService(const std::string& folder, tables::Tables* tables,
                 api::ServiceOptions options = {}, objects::Objects* objects = nullptr)
      : tables_(*tables) {
    options.server.listen = "127.0.0.1:0";
    options.tokens_file = folder + "-tokens";
    std::filesystem::remove(options.tokens_file);
    token_ = Must(api::CreateToken(options.tokens_file, "bench", clock_, random_));
    tokens_file_ = options.tokens_file;
    service_ = Must(api::Service::Start(std::move(options), {.tables = &tables_,
                                                             .objects = objects,
                                                             .client = &client_,
                                                             .runtime = {.clock = clock_,
                                                                         .random = random_,
                                                                         .sleeper = sleeper_,
                                                                         .logger = logger_,
                                                                         .metrics = metrics_}}));
  }
  ~RunningService() { std::filesystem::remove(tokens_file_); }

  std::string address() const { return service_->address(); }
  const std::string& token() const { return token_; }
  KeepAliveClient Connect() const { return KeepAliveClient(service_->address(), token_); }

 private:
  tables::Tables& tables_;
  SystemClock clock_;
  SystemRandom random_;
  SystemSleeper sleeper_;
  Metrics metrics_;
  Logger logger_{{}, clock_};
  http::CurlClient client_{{}, &clock_, &sleeper_};
  std::string token_;
  std::string tokens_file_;
  std::unique_ptr<api::Service> service_;
};

}  // namespace tidemark::bench
