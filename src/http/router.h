// A Router finds the route for a request and runs it: on the loop when it cannot block, on a
// worker when it can.
//
//   router.Add({.method = Method::kPost, .pattern = "/api/v1/claims/{key}/complete",
//               .run = Run::kOnWorker, .handler = [&](const RoutedRequest& request) {...}});
//
// A handler returns its response, or a Later when the response comes later. A route with many
// requests in flight returns a Later, so that none of them keeps a worker waiting for the disk.
// What such a handler must do on a thread that may block, it does with workers().Run(...).
//
// A pattern has literal segments and {names}. A name matches one non-empty segment; the handler
// gets it percent-decoded. A literal is preferred to a name. All routes are added before the server
// starts. The route of GET also serves HEAD. A path without a route is answered with 404, and a
// path with another method with 405 and Allow. A handler's error is answered with 503 when it is
// kUnavailable, as when the workers' queue is full, and otherwise with 500 and a line in the log;
// so is a handler that throws. Handlers turn the errors that a client can do something about into
// responses themselves.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/later.h"
#include "base/log.h"
#include "base/worker_pool.h"
#include "http/message.h"
#include "http/server.h"

namespace tidemark::http {

// It lives until the request is answered.
struct RoutedRequest {
  Request request;
  std::map<std::string, std::string, std::less<>> parameters;  // By the names in the pattern.
  // The name of the caller's token, once the check of the token has found it, on the thread that
  // runs the handler; empty before that, and where no token is needed.
  mutable std::string caller = {};
};

enum class Run {
  kOnLoop,    // Never blocks: answers at once, or returns a Later.
  kOnWorker,  // May block.
};

// A Response converts to a Later, so a function that returns a Response is a handler too.
using RouteHandler = std::function<Later<Response>(const RoutedRequest&)>;

struct Route {
  Method method = Method::kGet;
  std::string pattern;
  Run run = Run::kOnWorker;
  RouteHandler handler = nullptr;
};

class Router final : public Handler {
 public:
  // Both outlive the router. The workers are stopped before it is destroyed.
  Router(WorkerPool* workers, const Logger& logger);
  // Waits until every request is answered.
  ~Router() override;

  // CHECKs that no two routes match the same requests.
  void Add(Route route);
  // "POST /api/v1/claims", for each route, sorted: what the description of the API is compared
  // with.
  std::vector<std::string> List() const;

  // Called on the loop before the body of a request is read, for each request with a route. See
  // Handler::RefuseByHead. Set before the server starts.
  using HeadCheck = std::function<std::optional<Response>(const Request&)>;
  void SetHeadCheck(HeadCheck check) { head_check_ = std::move(check); }

  void Handle(Request request, Reply reply) override;
  // Requests without a route are refused, and those that the head check refuses.
  std::optional<Response> RefuseByHead(const Request& head) override;

  // For what a handler does on a thread that may block.
  WorkerPool& workers() { return workers_; }

 private:
  struct Node;
  class Unanswered;

  // The node that serves the request, with what its parameters matched; or the response when there
  // is none.
  struct Match;
  Match FindRoute(const Request& request) const;
  void Serve(const Route& route, RoutedRequest routed, Reply reply);
  Response ToResponse(const Route& route, const RoutedRequest& routed, const Error& error) const;

  std::unique_ptr<Node> root_;
  HeadCheck head_check_;
  WorkerPool& workers_;
  const Logger& logger_;

  std::mutex mutex_;
  std::condition_variable all_answered_;
  size_t unanswered_ = 0;
};

}  // namespace tidemark::http
