#include "http/router.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "http/url.h"

namespace tidemark::http {

namespace {

// Removes the first segment from a path that begins with '/'. The rest begins with '/' too, or is
// empty.
std::string_view TakeSegment(std::string_view* path) {
  path->remove_prefix(1);
  const std::string_view segment = path->substr(0, path->find('/'));
  path->remove_prefix(segment.size());
  return segment;
}

bool IsName(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

}  // namespace

struct Router::Node {
  struct Entry {
    Route route;
    std::vector<std::string> names;  // Of the parameters, in the order of the path.
  };
  std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
  std::unique_ptr<Node> parameter;
  std::map<Method, Entry> entries;

  // The node for a path, with what its parameters matched; null when there is none. Each segment
  // is decoded by itself, so that an encoded slash stays inside it. When a literal segment leads to
  // no route, or to no route with the wanted method, the parameter at the same place is tried too.
  const Node* Find(std::string_view path, std::optional<Method> method,
                   std::vector<std::string>* matched) const {
    if (path.empty()) return IsEnd(method) ? this : nullptr;
    const std::string_view segment = TakeSegment(&path);
    std::string decoded;
    if (segment.find('%') != std::string_view::npos) decoded = *PercentDecode(segment);
    const std::string_view text = decoded.empty() ? segment : decoded;
    if (const auto literal = literals.find(text); literal != literals.end()) {
      if (const Node* found = literal->second->Find(path, method, matched)) return found;
    }
    if (parameter == nullptr || text.empty()) return nullptr;
    matched->emplace_back(text);
    if (const Node* found = parameter->Find(path, method, matched)) return found;
    matched->pop_back();
    return nullptr;
  }

  bool IsEnd(std::optional<Method> method) const {
    return method ? Serving(*method) != nullptr : !entries.empty();
  }

  void List(std::vector<std::string>* into) const {
    for (const auto& [method, entry] : entries) {
      into->push_back(fmt::format("{} {}", ToString(method), entry.route.pattern));
    }
    for (const auto& [segment, node] : literals) node->List(into);
    if (parameter != nullptr) parameter->List(into);
  }

  const Entry* Serving(Method method) const {
    auto found = entries.find(method);
    if (found == entries.end() && method == Method::kHead) found = entries.find(Method::kGet);
    return found == entries.end() ? nullptr : &found->second;
  }

  Response MethodNotAllowed() const {
    std::string allowed;
    for (const auto& [method, entry] : entries) {
      if (!allowed.empty()) allowed += ", ";
      allowed += ToString(method);
      if (method == Method::kGet && !entries.contains(Method::kHead)) allowed += ", HEAD";
    }
    Response response = BadRequest(405, "This path takes other methods: " + allowed + ".");
    response.headers.Add("Allow", allowed);
    return response;
  }
};

Router::Router(WorkerPool* workers, const Logger& logger)
    : root_(std::make_unique<Node>()), workers_(*workers), logger_(logger) {}

// Counts a request until it is answered. Handlers use objects of the router's owner. So the owner
// destroys the router first, and its destructor waits for them.
class Router::Unanswered {
 public:
  explicit Unanswered(Router* router) : router_(router) {
    const std::lock_guard lock(router_->mutex_);
    ++router_->unanswered_;
  }
  ~Unanswered() {
    if (router_ == nullptr) return;
    const std::lock_guard lock(router_->mutex_);
    // Notified under the lock: once it is released, the router may be destroyed.
    if (--router_->unanswered_ == 0) router_->all_answered_.notify_all();
  }
  Unanswered(Unanswered&& other) noexcept : router_(std::exchange(other.router_, nullptr)) {}
  Unanswered& operator=(Unanswered&&) = delete;

 private:
  Router* router_;
};

Router::~Router() {
  std::unique_lock lock(mutex_);
  all_answered_.wait(lock, [&] { return unanswered_ == 0; });
}

void Router::Add(Route route) {
  CHECK(route.pattern.starts_with('/'));
  Node* node = root_.get();
  std::vector<std::string> names;
  for (std::string_view rest = route.pattern; !rest.empty();) {
    const std::string_view segment = TakeSegment(&rest);
    if (IsName(segment)) names.emplace_back(segment.substr(1, segment.size() - 2));
    std::unique_ptr<Node>& next =
        IsName(segment) ? node->parameter : node->literals[std::string(segment)];
    if (next == nullptr) next = std::make_unique<Node>();
    node = next.get();
  }
  const Method method = route.method;
  const auto [at, added] =
      node->entries.emplace(method, Node::Entry{.route = std::move(route), .names = names});
  CHECK(added);
}

std::vector<std::string> Router::List() const {
  std::vector<std::string> routes;
  root_->List(&routes);
  std::ranges::sort(routes);
  return routes;
}

struct Router::Match {
  const Node::Entry* entry = nullptr;  // Null when there is a refusal.
  std::vector<std::string> matched = {};
  std::optional<Response> refusal = std::nullopt;
};

Router::Match Router::FindRoute(const Request& request) const {
  if (!request.path.starts_with('/')) return {.refusal = BadRequest(404, "There is nothing here.")};
  if (!PercentDecode(request.path)) {
    return {.refusal = BadRequest(400, "The path has a '%' without two hexadecimal digits.")};
  }
  Match match;
  const Node* node = root_->Find(request.path, request.method, &match.matched);
  if (node != nullptr) {
    match.entry = node->Serving(request.method);
    return match;
  }
  const Node* other = root_->Find(request.path, std::nullopt, &match.matched);
  return {.refusal = other == nullptr ? BadRequest(404, "There is nothing here.")
                                      : other->MethodNotAllowed()};
}

std::optional<Response> Router::RefuseByHead(const Request& head) {
  Match match = FindRoute(head);
  if (match.refusal) return std::move(match.refusal);
  return head_check_ ? head_check_(head) : std::nullopt;
}

void Router::Handle(Request request, Reply reply) {
  Match match = FindRoute(request);
  if (match.refusal) return reply(*std::move(match.refusal));
  RoutedRequest routed{.request = std::move(request), .parameters = {}};
  for (size_t i = 0; i < match.matched.size(); ++i) {
    routed.parameters.emplace(match.entry->names[i], std::move(match.matched[i]));
  }
  Serve(match.entry->route, std::move(routed), std::move(reply));
}

void Router::Serve(const Route& route, RoutedRequest routed, Reply reply) {
  const auto shared = std::make_shared<const RoutedRequest>(std::move(routed));
  // In both cases an exception becomes an error.
  Later<Response> response =
      route.run == Run::kOnLoop
          ? Later<Done>(Done{}).Then([&](const Status&) { return route.handler(*shared); })
          : workers_.Run([&route, shared] { return route.handler(*shared); });
  // This step keeps the request and the router alive until the reply is sent.
  std::move(response).Then([this, &route, shared, reply = std::move(reply),
                            unanswered = Unanswered(this)](Result<Response> result) {
    reply(result ? *std::move(result) : ToResponse(route, *shared, result.error()));
  });
}

Response Router::ToResponse(const Route& route, const RoutedRequest& routed,
                            const Error& error) const {
  if (error.code == ErrorCode::kUnavailable) {
    Response busy = Problem(503, "Too much is waiting already: try again in a moment.");
    busy.headers.Add("Retry-After", "1");
    return busy;
  }
  logger_.Log(
      LogLevel::kError, "http handler failed",
      {{"pattern", route.pattern}, {"request_id", routed.request.id}, {"what", error.message}});
  return Problem(500, "The server failed at this request; its log has the request's id.");
}

}  // namespace tidemark::http
