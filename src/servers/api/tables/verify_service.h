// POST /api/v1/verification: checks every row of the tables while the server serves.
//
// The answer comes when the verification has ended, which may take hours. The verification runs on
// a thread of its own. One verification runs at a time; another request in the meantime is answered
// with 409. Only tables that this process has opened can be verified, so `programs` passes the
// function that does it.
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
  // If `verify` is null, every request is refused.
  explicit VerifyService(VerifyTables verify) : verify_(std::move(verify)) {}
  // Calls Stop.
  ~VerifyService() { Stop(); }

  // The router and the tokens outlive this.
  void AddRoutes(http::Router* router, TokenFile* tokens);
  // Interrupts a running verification and waits until it has ended. Its request is answered with
  // 503.
  void Stop();

 private:
  Later<http::Response> Begin();

  const VerifyTables verify_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> is_running_ = false;
  WorkerPool thread_{{.threads = 1, .max_waiting = 1}};
};

}  // namespace tidemark::api
