// POST /api/v1/verification: checks every row of the tables while the server serves.
//
// The answer comes when the verification has ended, which may take hours. It runs on a thread of
// its own. One runs at a time; another request meanwhile is answered with 409. Its tables can only
// be those of this process, so `programs` gives it the function.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/worker_pool.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

// Returns the report as JSON. Blocks. Ends with kCancelled soon after `stop` is set.
using VerifyTables = std::function<Result<std::string>(const std::atomic<bool>* stop)>;

class VerifyService {
 public:
  // Without a function, every verification is refused.
  explicit VerifyService(VerifyTables verify) : verify_(std::move(verify)) {}
  // Like Stop.
  ~VerifyService() { Stop(); }

  // Both outlive this.
  void AddRoutes(http::Router* router, TokenFile* tokens);
  // Ends a verification that is running, and waits for that. Its request is answered with 503.
  void Stop();

 private:
  Later<http::Response> Begin();

  const VerifyTables verify_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> is_running_ = false;
  WorkerPool thread_{{.threads = 1, .max_waiting = 1}};
};

}  // namespace tidemark::api
