// One loop of a server: a listening socket, the connections that it takes, and the thread that
// runs them all.
//
// Run ends when the loop was stopped and its connections are gone. Stop may be called from any
// thread; everything else happens on the thread in Run.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/worker_pool.h"
#include "http/admission.h"
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
  WorkerPool& readers;        // Of bodies that come from a source.
  TlsContext* tls = nullptr;  // Null for plain HTTP.
};

class Loop {
 public:
  // Owns the listening socket. Requests are named from `first_id` on.
  Loop(const LoopContext& context, int listener, uint64_t first_id);
  ~Loop();

  void Run();
  // Takes no more connections, closes idle ones, and the others when they are answered or
  // patience ends.
  void Stop(std::chrono::milliseconds patience);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::http
