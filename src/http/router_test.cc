#include "http/router.h"

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/manual_time.h"
#include "tests/support/test_runtime.h"

namespace tidemark::http {
namespace {

// The router with one worker, and the reply to one request.
class RouterTest : public ::testing::Test {
 protected:
  RouterTest()
      : logger_({}, clock_, &log_),
        workers_({.threads = 1, .max_waiting = 1}),
        router_(&workers_, logger_) {}
  ~RouterTest() override { workers_.Stop(); }

  void Add(Method method, const std::string& pattern, http::Run run = http::Run::kOnLoop) {
    router_.Add({.method = method,
                 .pattern = pattern,
                 .run = run,
                 .handler = [pattern](const RoutedRequest& routed) {
                   std::string text = pattern;
                   for (const auto& [name, value] : routed.parameters) {
                     text += " " + name + "=" + value;
                   }
                   return Text(200, text);
                 }});
  }

  Response Ask(Method method, const std::string& path, const std::string& query = "") {
    std::promise<Response> reply;
    Request request;
    request.method = method;
    request.path = path;
    request.query = query;
    router_.Handle(std::move(request),
                   [&](Response response) { reply.set_value(std::move(response)); });
    return reply.get_future().get();
  }
  std::string Get(const std::string& path) {
    Response response = Ask(Method::kGet, path);
    return response.status == 200 ? response.body : std::to_string(response.status);
  }

  ManualClock clock_;
  std::ostringstream log_;
  Logger logger_;
  WorkerPool workers_;
  Router router_;
};

// A literal is preferred, also when the name was added first. A literal that leads to no route does
// not hide a name.
TEST_F(RouterTest, FindsTheMostLiteralRoute) {
  Add(Method::kGet, "/");
  Add(Method::kGet, "/a/{x}");
  Add(Method::kGet, "/a/b");
  Add(Method::kGet, "/a/b/d");
  Add(Method::kGet, "/a/{x}/c/{y}");
  EXPECT_EQ(Get("/"), "/");
  EXPECT_EQ(Get("/a/b"), "/a/b");
  EXPECT_EQ(Get("/a/z"), "/a/{x} x=z");
  EXPECT_EQ(Get("/a/b/c/e"), "/a/{x}/c/{y} x=b y=e");
  EXPECT_EQ(Get("/a/b/d"), "/a/b/d");
}

// A literal with other methods does not hide a name: POST /a/events and GET /a/{name} may both
// exist.
TEST_F(RouterTest, ALiteralOfAnotherMethodDoesNotHideAName) {
  Add(Method::kPost, "/a/b");
  Add(Method::kGet, "/a/{x}");
  EXPECT_EQ(Ask(Method::kPost, "/a/b").body, "/a/b");
  EXPECT_EQ(Get("/a/b"), "/a/{x} x=b");
  EXPECT_EQ(Ask(Method::kHead, "/a/b").status, 200);
  EXPECT_EQ(Ask(Method::kDelete, "/a/b").status, 405);
}

// Paths that are similar to a route.
TEST_F(RouterTest, AnswersNotFound) {
  Add(Method::kGet, "/a/{x}");
  for (const char* path : {"/", "/a", "/a/", "/a/b/", "/a/b/c", "//a/b", "/A/b", "*"}) {
    EXPECT_EQ(Get(path), "404") << path;
  }
}

// An encoded slash is part of the name. A broken encoding is a mistake of the client.
TEST_F(RouterTest, DecodesEachSegmentByItself) {
  Add(Method::kGet, "/claims/{key}/complete");
  EXPECT_EQ(Get("/claims/a%2Fb%20c/complete"), "/claims/{key}/complete key=a/b c");
  EXPECT_EQ(Get("/%63laims/x/complete"), "/claims/{key}/complete key=x");
  EXPECT_EQ(Get("/claims/%zz/complete"), "400");
  EXPECT_EQ(Get("/claims%2Fx/complete"), "404");
}

// Two routes may use different names for the parameter at the same place.
TEST_F(RouterTest, NamesParametersByTheRouteThatMatched) {
  Add(Method::kGet, "/a/{x}");
  Add(Method::kPost, "/a/{y}");
  EXPECT_EQ(Get("/a/1"), "/a/{x} x=1");
  EXPECT_EQ(Ask(Method::kPost, "/a/1").body, "/a/{y} y=1");
}

// The path exists, so the client is told the allowed methods.
TEST_F(RouterTest, AnswersOtherMethodsWithAllow) {
  Add(Method::kGet, "/a");
  Add(Method::kPost, "/a");
  const Response response = Ask(Method::kDelete, "/a");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.headers.Find("Allow"), "GET, HEAD, POST");
}

// HEAD needs no routes of its own.
TEST_F(RouterTest, ServesHeadByGet) {
  Add(Method::kGet, "/a");
  EXPECT_EQ(Ask(Method::kHead, "/a").status, 200);
}

// The description of the API is compared with this.
TEST_F(RouterTest, ListsItsRoutes) {
  Add(Method::kPost, "/b/{x}");
  Add(Method::kGet, "/a");
  Add(Method::kGet, "/b/{x}");
  EXPECT_EQ(router_.List(), (std::vector<std::string>{"GET /a", "GET /b/{x}", "POST /b/{x}"}));
}

// An exception in a handler gives a 500 and a log line, on the loop and on a worker.
TEST_F(RouterTest, AnswersAFailedHandler) {
  for (const http::Run run : {http::Run::kOnLoop, http::Run::kOnWorker}) {
    const std::string path = run == http::Run::kOnLoop ? "/loop" : "/worker";
    router_.Add({.method = Method::kGet,
                 .pattern = path,
                 .run = run,
                 .handler = [](const RoutedRequest&) -> Response {
                   throw std::runtime_error("the cat ate it");
                 }});
    const Response response = Ask(Method::kGet, path);
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.body.find("cat"), std::string::npos);
  }
  EXPECT_NE(log_.str().find("the cat ate it"), std::string::npos);
}

// A response that another thread gives later, at once or after more work on a worker.
TEST_F(RouterTest, AnswersWhenTheResponseComes) {
  for (const http::Run run : {http::Run::kOnLoop, http::Run::kOnWorker}) {
    router_.Add({.method = Method::kGet,
                 .pattern = run == http::Run::kOnLoop ? "/loop" : "/worker",
                 .run = run,
                 .handler = [this](const RoutedRequest& routed) {
                   auto [promise, later] = MakeLater<Done>();
                   std::thread([promise = std::move(promise)]() mutable {
                     promise.Fulfil(Done{});
                   }).detach();
                   return std::move(later).Then([&](const Status&) -> Later<Response> {
                     if (routed.request.query == "at once") return Text(200, "at once");
                     return router_.workers().Run(
                         [&] { return Text(200, "later " + routed.request.path); });
                   });
                 }});
  }
  for (const std::string path : {"/loop", "/worker"}) {
    EXPECT_EQ(Ask(Method::kGet, path, "at once").body, "at once");
    EXPECT_EQ(Ask(Method::kGet, path, "").body, "later " + path);
  }
}

// A handler may fail before it returns, in a later step, or by forgetting its promise.
TEST_F(RouterTest, AnswersAHandlerThatFailsLater) {
  router_.Add({.method = Method::kGet,
               .pattern = "/before",
               .handler = [](const RoutedRequest&) -> Later<Response> {
                 throw std::runtime_error("the dog ate it");
               }});
  router_.Add(
      {.method = Method::kGet, .pattern = "/after", .handler = [this](const RoutedRequest&) {
         return router_.workers().Run(
             []() -> Response { throw std::runtime_error("the cow did"); });
       }});
  router_.Add({.method = Method::kGet,
               .pattern = "/forgotten",
               .handler = [](const RoutedRequest&) { return MakeLater<Response>().later; }});
  EXPECT_EQ(Ask(Method::kGet, "/before").status, 500);
  EXPECT_EQ(Ask(Method::kGet, "/after").status, 500);
  EXPECT_EQ(Ask(Method::kGet, "/forgotten").status, 500);
  EXPECT_NE(log_.str().find("the dog ate it"), std::string::npos);
  EXPECT_NE(log_.str().find("the cow did"), std::string::npos);
  EXPECT_NE(log_.str().find("without an answer"), std::string::npos);
}

// A handler may throw a value that is not a std::exception. The server continues, on the loop and
// on a worker.
TEST_F(RouterTest, AnswersAHandlerThatThrowsAnything) {
  for (const http::Run run : {http::Run::kOnLoop, http::Run::kOnWorker}) {
    const std::string path = run == http::Run::kOnLoop ? "/loop" : "/worker";
    router_.Add({.method = Method::kGet,
                 .pattern = path,
                 .run = run,
                 .handler = [](const RoutedRequest& routed) -> Later<Response> {
                   if (routed.request.query.empty()) throw 7;
                   return Text(200, "as ever");
                 }});
    EXPECT_EQ(Ask(Method::kGet, path).status, 500);
    EXPECT_EQ(Ask(Method::kGet, path, "again").body, "as ever");
  }
}

// Handlers use objects of the router's owner, so the router must wait for them.
TEST(RouterEndTest, WaitsUntilEveryRequestIsAnswered) {
  testing::TestRuntime test;
  WorkerPool workers({.threads = 1, .max_waiting = 1});
  std::optional<Promise<Response>> promise;
  auto router = std::make_unique<Router>(&workers, test.logger);
  router->Add({.method = Method::kGet,
               .pattern = "/",
               .run = http::Run::kOnLoop,
               .handler = [&](const RoutedRequest&) {
                 auto [made, later] = MakeLater<Response>();
                 promise.emplace(std::move(made));
                 return std::move(later);
               }});
  Request request;
  request.path = "/";
  std::promise<Response> reply;
  router->Handle(std::move(request),
                 [&](Response response) { reply.set_value(std::move(response)); });
  std::atomic<bool> going = false;
  std::atomic<bool> answered = false;
  std::thread other([&, taken = *std::move(promise)]() mutable {
    // Enough time for a router that does not wait to end too early.
    for (int turn = 0; turn < 1'000 || !going; ++turn) std::this_thread::yield();
    answered = true;
    taken.Fulfil(Text(200, "in the end"));
  });
  going = true;
  router.reset();
  EXPECT_TRUE(answered);
  EXPECT_EQ(reply.get_future().get().body, "in the end");
  other.join();
}

// Blocking work runs on workers. When their queue is full, the answer is 503.
TEST_F(RouterTest, AnswersBusyWhenTheWorkersAreFull) {
  std::promise<void> started;
  std::promise<void> go_on;
  std::shared_future<void> gate = go_on.get_future().share();
  std::thread::id ran_on;
  router_.Add({.method = Method::kGet,
               .pattern = "/slow",
               .run = http::Run::kOnWorker,
               .handler = [&, gate](const RoutedRequest& routed) {
                 ran_on = std::this_thread::get_id();
                 if (routed.request.query == "first") {
                   started.set_value();
                   gate.wait();
                 }
                 return Text(200, "done");
               }});
  const auto send = [&](const std::string& query, std::promise<Response>* reply) {
    Request request;
    request.path = "/slow";
    request.query = query;
    router_.Handle(std::move(request),
                   [reply](Response response) { reply->set_value(std::move(response)); });
  };
  std::promise<Response> first;
  std::promise<Response> second;
  std::promise<Response> third;
  send("first", &first);
  started.get_future().wait();
  send("", &second);
  send("", &third);
  const Response busy = third.get_future().get();
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(busy.headers.Find("Retry-After"), "1");
  go_on.set_value();
  EXPECT_EQ(first.get_future().get().status, 200);
  EXPECT_EQ(second.get_future().get().status, 200);
  EXPECT_NE(ran_on, std::this_thread::get_id());
}

// It would be unclear which of the two routes is meant.
TEST(RouterDeathTest, RefusesTwoRoutesForTheSameRequests) {
  WorkerPool no_workers({.threads = 0, .max_waiting = 0});
  const testing::TestRuntime test;
  Router router(&no_workers, test.logger);
  const auto answer = [](const RoutedRequest&) { return Text(200, ""); };
  router.Add({.pattern = "/a/{x}", .handler = answer});
  EXPECT_DEATH(router.Add({.pattern = "/a/{y}", .handler = answer}), "added");
}

}  // namespace
}  // namespace tidemark::http
