// A Router finds the route for a request and runs it: on the loop when it cannot block, on a
// worker when it can.
//
//   router.Add({.method = Method::kPost, .pattern = "/api/v1/claims/{key}/complete",
//               .run = Run::kOnWorker, .handler = [&](const RoutedRequest& request) {...}});
//
// Patterns are literal segments and {names}; a name matches one non-empty segment, handed over
// percent-decoded. Literals win over names. Routes are added before the server starts, and never
// after. HEAD is served by the route of GET. What no route matches is answered with 404, a path
// under another method with 405 and Allow, and work that finds the workers' queue full with 503.
// A handler that throws is answered with 500 and logged.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
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

struct Route {
  Method method = Method::kGet;
  std::string pattern;
  Run run = Run::kOnWorker;
  std::function<Response(const RoutedRequest&)> handler;
};

class Router final : public Handler {
 public:
  // The workers outlive the router, and are stopped before it goes. `logger` may be null.
  Router(WorkerPool* workers, const Logger* logger);
  ~Router() override;

  // Adding two routes that match the same requests is a fault of the program.
  void Add(Route route);
  // "POST /api/v1/claims", for each route, sorted: what the description of the API is compared
  // with.
  std::vector<std::string> List() const;

  void Handle(Request request, Reply reply) override;

 private:
  struct Node;
  std::unique_ptr<Node> root_;
  WorkerPool& workers_;
  const Logger* const logger_;
};

}  // namespace tidemark::http
