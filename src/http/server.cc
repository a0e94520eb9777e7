#include "http/server.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/worker_pool.h"
#include "http/admission.h"
#include "http/bad_requests.h"
#include "http/listener.h"
#include "http/loop.h"
#include "http/observer.h"
#include "http/tls_context.h"

namespace tidemark::http {

class Server::State {
 public:
  struct Parts {
    ServerLimits limits;
    std::unique_ptr<TlsContext> tls;
    Listeners listeners;
    Observer::PathForLog path_for_log;
    Observer::Labels metric_labels;
  };

  State(Parts parts, Handler* handler, const Runtime& runtime)
      : limits_(parts.limits),
        tls_(std::move(parts.tls)),
        address_(parts.listeners.address),
        address_text_(address_.ToText()),
        observer_(runtime.logger, &runtime.metrics, std::move(parts.path_for_log),
                  parts.metric_labels),
        admission_(limits_),
        bad_requests_(limits_, runtime.clock, &observer_),
        readers_({.threads = kBodyReaders, .max_waiting = limits_.max_connections}) {
    const LoopContext shared{.limits = limits_,
                             .handler = *handler,
                             .clock = runtime.clock,
                             .observer = observer_,
                             .admission = admission_,
                             .bad_requests = bad_requests_,
                             .readers = readers_,
                             .tls = tls_.get()};
    // Each loop counts its request ids from a random number. So the ids of several loops, and of
    // several runs of the program, are different.
    for (const int socket : parts.listeners.sockets) {
      loops_.push_back(std::make_unique<Loop>(shared, socket, runtime.random.Next()));
    }
    for (const auto& loop : loops_) threads_.emplace_back([&loop] { loop->Run(); });
  }

  void Stop(std::chrono::milliseconds patience) {
    const std::lock_guard lock(mutex_);
    // All loops are told before the first is joined, so that they drain at the same time.
    for (const auto& loop : loops_) loop->Stop(patience);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    loops_.clear();
    // After the loops: until they have ended, a connection may need the next piece of a body.
    readers_.Stop();
  }

  Status ReloadCertificate() {
    if (tls_ == nullptr) return Invalid("there is no certificate: the server speaks plain HTTP");
    return tls_->Reload();
  }

  const ListenAddress& address() const { return address_; }
  const std::string& address_text() const { return address_text_; }

 private:
  const ServerLimits limits_;
  const std::unique_ptr<TlsContext> tls_;
  const ListenAddress address_;
  const std::string address_text_;
  Observer observer_;
  Admission admission_;
  BadRequests bad_requests_;
  WorkerPool readers_;
  std::mutex mutex_;  // Held while stopping.
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::thread> threads_;
};

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, Handler* handler,
                                              const Runtime& runtime) {
  const ListenAddress address = TRY(ListenAddress::Parse(options.listen));
  State::Parts parts;
  parts.limits = options.limits;
  parts.path_for_log = std::move(options.path_for_log);
  parts.metric_labels = std::move(options.metric_labels);
  if (options.tls) parts.tls = TRY(TlsContext::Load(*options.tls));
  const size_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  parts.listeners = TRY(Listen(address, options.loops > 0 ? options.loops : cores));
  return std::unique_ptr<Server>(
      new Server(std::make_unique<State>(std::move(parts), handler, runtime)));
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Server::~Server() { Stop(std::chrono::milliseconds(0)); }

const std::string& Server::address() const { return state_->address_text(); }

uint16_t Server::port() const { return state_->address().port; }

void Server::Stop(std::chrono::milliseconds patience) { state_->Stop(patience); }

Status Server::ReloadCertificate() { return state_->ReloadCertificate(); }

}  // namespace tidemark::http
