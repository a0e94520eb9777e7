#include "http/router.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "http/url.h"

namespace tidemark::http {

namespace {

std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> segments;
  path.remove_prefix(1);
  for (;;) {
    const size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

// The segments of a path that came in, each decoded by itself, so that an encoded slash stays
// inside its segment. nullopt when one does not decode.
std::optional<std::vector<std::string>> DecodePath(std::string_view path) {
  std::vector<std::string> decoded;
  for (const std::string_view segment : SplitPath(path)) {
    auto text = PercentDecode(segment);
    if (!text) return std::nullopt;
    decoded.push_back(std::move(*text));
  }
  return decoded;
}

bool IsName(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

Response RunRoute(const Route& route, const RoutedRequest& routed, const Logger* logger) {
  std::string what = "not a std::exception";
  try {
    return route.handler(routed);
  } catch (const std::exception& exception) {
    what = exception.what();
  } catch (...) {
  }
  if (logger != nullptr) {
    logger->Log(LogLevel::kError, "http handler failed",
                {{"pattern", route.pattern}, {"request_id", routed.request.id}, {"what", what}});
  }
  return Problem(500, "The server failed at this request; its log has the request's id.");
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

  // The node for the segments from `at` on, with what its parameters matched; null when there is
  // none. A literal that leads nowhere does not hide the parameter beside it.
  const Node* Find(const std::vector<std::string>& segments, size_t at,
                   std::vector<std::string>* matched) const {
    if (at == segments.size()) return entries.empty() ? nullptr : this;
    if (const auto literal = literals.find(segments[at]); literal != literals.end()) {
      if (const Node* found = literal->second->Find(segments, at + 1, matched)) return found;
    }
    if (parameter == nullptr || segments[at].empty()) return nullptr;
    matched->push_back(segments[at]);
    if (const Node* found = parameter->Find(segments, at + 1, matched)) return found;
    matched->pop_back();
    return nullptr;
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
    Response response = Problem(405, "This path takes other methods: " + allowed + ".");
    response.headers.Add("Allow", allowed);
    return response;
  }
};

Router::Router(WorkerPool* workers, const Logger* logger)
    : root_(std::make_unique<Node>()), workers_(*workers), logger_(logger) {}

Router::~Router() = default;

void Router::Add(Route route) {
  CHECK(route.pattern.starts_with('/'));
  Node* node = root_.get();
  std::vector<std::string> names;
  for (const std::string_view segment : SplitPath(route.pattern)) {
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

void Router::Handle(Request request, Reply reply) {
  if (!request.path.starts_with('/')) return reply(Problem(404, "There is nothing here."));
  const auto segments = DecodePath(request.path);
  if (!segments) {
    return reply(Problem(400, "The path has a '%' without two hexadecimal digits."));
  }
  std::vector<std::string> matched;
  const Node* node = root_->Find(*segments, 0, &matched);
  if (node == nullptr) return reply(Problem(404, "There is nothing here."));
  const Node::Entry* entry = node->Serving(request.method);
  if (entry == nullptr) return reply(node->MethodNotAllowed());

  RoutedRequest routed{.request = std::move(request), .parameters = {}};
  for (size_t i = 0; i < matched.size(); ++i) {
    routed.parameters.emplace(entry->names[i], std::move(matched[i]));
  }
  if (entry->route.run == Run::kOnLoop) {
    return reply(RunRoute(entry->route, routed, logger_));
  }
  // Work is copyable, and a body is not copied for it.
  const auto shared = std::make_shared<RoutedRequest>(std::move(routed));
  const bool taken = workers_.Submit(
      [this, entry, shared, reply] { reply(RunRoute(entry->route, *shared, logger_)); });
  if (taken) return;
  Response busy = Problem(503, "Too much is waiting already: try again in a moment.");
  busy.headers.Add("Retry-After", "1");
  reply(std::move(busy));
}

}  // namespace tidemark::http
