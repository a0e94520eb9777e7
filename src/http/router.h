// A Router finds the route for a request and runs it: on the loop when it cannot block, on a
// worker when it can.
//
//   router.Add({.method = Method::kPost, .pattern = "/api/v1/claims/{key}/complete",
//               .run = Run::kOnWorker, .handler = [&](const RoutedRequest& request) {...}});
//
// A handler returns its response. One with many requests in flight, which would keep as many
// workers waiting for the disk, begins instead, and finishes when the disk has answered.
//
// Patterns are literal segments and {names}; a name matches one non-empty segment, handed over
// percent-decoded. Literals win over names. Routes are added before the server starts, and never
// after. HEAD is served by the route of GET. What no route matches is answered with 404, a path
// under another method with 405 and Allow, and work that finds the workers' queue full with 503.
// A handler that throws is answered with 500 and logged.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/worker_pool.h"
#include "http/message.h"
#include "http/server.h"

namespace tidemark::http {

struct RoutedRequest {
  Request request;
  std::map<std::string, std::string, std::less<>> parameters;  // By the names in the pattern.
};

enum class Run {
  kOnLoop,    // Answers at once and never blocks.
  kOnWorker,  // May block.
};

// For a handler that does not wait for what it asked for: it gives the response when that has come,
// from any thread, or what is left to do by a worker that may block. Exactly once.
using Rest = std::function<Response()>;
using Finish = std::function<void(std::variant<Response, Rest>)>;
using Begin = std::function<void(std::shared_ptr<const RoutedRequest>, Finish)>;

struct Route {
  Method method = Method::kGet;
  std::string pattern;
  Run run = Run::kOnWorker;
  // One of the two.
  std::function<Response(const RoutedRequest&)> handler = nullptr;
  Begin begin = nullptr;
};

class Router final : public Handler {
 public:
  // The workers outlive the router, and are stopped before it goes. `logger` may be null.
  Router(WorkerPool* workers, const Logger* logger);
  // Waits for the handlers that have begun and not finished.
  ~Router() override;

  // Adding two routes that match the same requests is a fault of the program.
  void Add(Route route);
  // "POST /api/v1/claims", for each route, sorted: what the description of the API is compared
  // with.
  std::vector<std::string> List() const;

  void Handle(Request request, Reply reply) override;

 private:
  struct Node;

  class Begun;
  using SharedRequest = std::shared_ptr<const RoutedRequest>;

  void RunRoute(const Route& route, const SharedRequest& routed, const Reply& reply);
  void RunBegin(const Route& route, const SharedRequest& routed, const Reply& reply);
  void OnWorker(std::function<void()> work, const Reply& reply);
  // The response of work that may throw.
  Response Respond(const Route& route, const RoutedRequest& routed,
                   const std::function<Response()>& work) const;
  Response Failed(const Route& route, const RoutedRequest& routed, const std::string& what) const;

  std::unique_ptr<Node> root_;
  WorkerPool& workers_;
  const Logger* const logger_;

  std::mutex mutex_;
  std::condition_variable all_finished_;
  size_t begun_ = 0;  // And not finished.
};

}  // namespace tidemark::http
