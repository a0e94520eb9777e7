// One event loop of a server: a listening socket and its connections, all on one thread.
//
// Run returns when the loop was stopped and all connections are closed. Stop may be called from any
// thread. Everything else happens on the thread in Run.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/worker_pool.h"
#include "http/admission.h"
#include "http/bad_requests.h"
#include "http/observer.h"
#include "http/server.h"
#include "http/tls_context.h"

namespace tidemark::http {

// What the loops of a server share. All outlive them.
struct LoopContext {
  const ServerLimits& limits;
  Handler& handler;
  const Clock& clock;
  Observer& observer;
  Admission& admission;
  BadRequests& bad_requests;
  WorkerPool& readers;        // Threads that read bodies from sources.
  TlsContext* tls = nullptr;  // Null for plain HTTP.
};

class Loop {
 public:
  // Owns the listening socket. `first_id` is the first number for request ids.
  Loop(const LoopContext& context, int listener, uint64_t first_id);
  ~Loop();

  void Run();
  // Accepts no more connections and closes idle ones. Closes the others when they are answered, or
  // when the patience ends.
  void Stop(std::chrono::milliseconds patience);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::http
