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

// Takes the first segment off a path that begins with '/'; what is left does too, or is empty.
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
  // is decoded by itself, so that an encoded slash stays inside it. A literal that leads nowhere,
  // or not to the method when one is asked for, does not hide the parameter beside it.
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
    Response response = Problem(405, "This path takes other methods: " + allowed + ".");
    response.headers.Add("Allow", allowed);
    return response;
  }
};

Router::Router(WorkerPool* workers, const Logger* logger)
    : root_(std::make_unique<Node>()), workers_(*workers), logger_(logger) {}

// A handler that has begun, until the last copy of its Finish is gone. What it works on is owned
// by whoever owns the router, so the router goes first and waits for this.
class Router::Begun {
 public:
  explicit Begun(Router* router) : router_(*router) {
    const std::lock_guard lock(router_.mutex_);
    ++router_.begun_;
  }
  ~Begun() {
    const std::lock_guard lock(router_.mutex_);
    if (--router_.begun_ == 0) router_.all_finished_.notify_all();
  }
  Begun(const Begun&) = delete;
  Begun& operator=(const Begun&) = delete;

 private:
  Router& router_;
};

Router::~Router() {
  std::unique_lock lock(mutex_);
  all_finished_.wait(lock, [&] { return begun_ == 0; });
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

void Router::Handle(Request request, Reply reply) {
  if (!request.path.starts_with('/')) return reply(Problem(404, "There is nothing here."));
  if (!PercentDecode(request.path)) {
    return reply(Problem(400, "The path has a '%' without two hexadecimal digits."));
  }
  std::vector<std::string> matched;
  const Node* node = root_->Find(request.path, request.method, &matched);
  if (node == nullptr) {
    const Node* other = root_->Find(request.path, std::nullopt, &matched);
    return reply(other == nullptr ? Problem(404, "There is nothing here.")
                                  : other->MethodNotAllowed());
  }
  const Node::Entry* entry = node->Serving(request.method);

  RoutedRequest routed{.request = std::move(request), .parameters = {}};
  for (size_t i = 0; i < matched.size(); ++i) {
    routed.parameters.emplace(entry->names[i], std::move(matched[i]));
  }
  // Work is copyable, and a body is not copied for it.
  const auto shared = std::make_shared<const RoutedRequest>(std::move(routed));
  const auto run = [this, entry, shared, reply] { RunRoute(entry->route, shared, reply); };
  return entry->route.run == Run::kOnLoop ? run() : OnWorker(run, reply);
}

void Router::RunRoute(const Route& route, const SharedRequest& routed, const Reply& reply) {
  if (route.begin) return RunBegin(route, routed, reply);
  reply(Respond(route, *routed, [&] { return route.handler(*routed); }));
}

void Router::RunBegin(const Route& route, const SharedRequest& routed, const Reply& reply) {
  Finish finish = [this, &route, routed, reply,
                   begun = std::make_shared<Begun>(this)](std::variant<Response, Rest> end) {
    if (auto* response = std::get_if<Response>(&end)) return reply(std::move(*response));
    auto work = [this, &route, routed, reply, rest = std::get<Rest>(std::move(end))] {
      reply(Respond(route, *routed, rest));
    };
    // Moved: what the rest holds is gone before a reply says that nobody had time for it.
    OnWorker(std::move(work), reply);
  };
  try {
    route.begin(routed, std::move(finish));
  } catch (const std::exception& exception) {
    reply(Failed(route, *routed, exception.what()));
  } catch (...) {
    reply(Failed(route, *routed, "not a std::exception"));
  }
}

Response Router::Respond(const Route& route, const RoutedRequest& routed,
                         const std::function<Response()>& work) const {
  try {
    return work();
  } catch (const std::exception& exception) {
    return Failed(route, routed, exception.what());
  } catch (...) {
    return Failed(route, routed, "not a std::exception");
  }
}

Response Router::Failed(const Route& route, const RoutedRequest& routed,
                        const std::string& what) const {
  if (logger_ != nullptr) {
    logger_->Log(LogLevel::kError, "http handler failed",
                 {{"pattern", route.pattern}, {"request_id", routed.request.id}, {"what", what}});
  }
  return Problem(500, "The server failed at this request; its log has the request's id.");
}

void Router::OnWorker(std::function<void()> work, const Reply& reply) {
  if (workers_.Submit(std::move(work))) return;
  Response busy = Problem(503, "Too much is waiting already: try again in a moment.");
  busy.headers.Add("Retry-After", "1");
  reply(std::move(busy));
}

}  // namespace tidemark::http
