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

namespace tidemark::http {
namespace {

// The router with one worker, and the reply to one request.
class RouterTest : public ::testing::Test {
 protected:
  RouterTest()
      : logger_({}, clock_, &log_),
        workers_({.threads = 1, .max_waiting = 1}),
        router_(&workers_, &logger_) {}
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

// Literals win, also when a name came first; a literal that leads nowhere hides no name.
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

// Nor does one that takes other methods: POST /a/events may stand beside an a of any name.
TEST_F(RouterTest, ALiteralOfAnotherMethodHidesNoName) {
  Add(Method::kPost, "/a/b");
  Add(Method::kGet, "/a/{x}");
  EXPECT_EQ(Ask(Method::kPost, "/a/b").body, "/a/b");
  EXPECT_EQ(Get("/a/b"), "/a/{x} x=b");
  EXPECT_EQ(Ask(Method::kHead, "/a/b").status, 200);
  EXPECT_EQ(Ask(Method::kDelete, "/a/b").status, 405);
}

// What is close to a route is still none.
TEST_F(RouterTest, AnswersNotFound) {
  Add(Method::kGet, "/a/{x}");
  for (const char* path : {"/", "/a", "/a/", "/a/b/", "/a/b/c", "//a/b", "/A/b", "*"}) {
    EXPECT_EQ(Get(path), "404") << path;
  }
}

// An encoded slash belongs to the name; broken encoding is the client's fault.
TEST_F(RouterTest, DecodesEachSegmentByItself) {
  Add(Method::kGet, "/claims/{key}/complete");
  EXPECT_EQ(Get("/claims/a%2Fb%20c/complete"), "/claims/{key}/complete key=a/b c");
  EXPECT_EQ(Get("/%63laims/x/complete"), "/claims/{key}/complete key=x");
  EXPECT_EQ(Get("/claims/%zz/complete"), "400");
  EXPECT_EQ(Get("/claims%2Fx/complete"), "404");
}

// Routes of one place may name their parameters differently.
TEST_F(RouterTest, NamesParametersByTheRouteThatMatched) {
  Add(Method::kGet, "/a/{x}");
  Add(Method::kPost, "/a/{y}");
  EXPECT_EQ(Get("/a/1"), "/a/{x} x=1");
  EXPECT_EQ(Ask(Method::kPost, "/a/1").body, "/a/{y} y=1");
}

// The path exists: the client learns what it may do there.
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

// A handler's exception is the client's 500 and the operator's line, wherever it ran.
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

// What was begun on one thread is finished on another, with a response or with work to do.
TEST_F(RouterTest, FinishesWhatBegan) {
  for (const http::Run run : {http::Run::kOnLoop, http::Run::kOnWorker}) {
    router_.Add({.method = Method::kGet,
                 .pattern = run == http::Run::kOnLoop ? "/loop" : "/worker",
                 .run = run,
                 .begin = [](std::shared_ptr<const RoutedRequest> routed, http::Finish finish) {
                   std::thread([=] {
                     if (routed->request.query == "at once") return finish(Text(200, "at once"));
                     finish(http::Rest([=] { return Text(200, "later " + routed->request.path); }));
                   }).detach();
                 }});
  }
  for (const std::string path : {"/loop", "/worker"}) {
    EXPECT_EQ(Ask(Method::kGet, path, "at once").body, "at once");
    EXPECT_EQ(Ask(Method::kGet, path, "").body, "later " + path);
  }
}

TEST_F(RouterTest, AnswersWhatFailsAtItsBeginOrInItsRest) {
  router_.Add({.method = Method::kGet,
               .pattern = "/begin",
               .begin = [](const std::shared_ptr<const RoutedRequest>&, const http::Finish&) {
                 throw std::runtime_error("the dog ate it");
               }});
  router_.Add(
      {.method = Method::kGet,
       .pattern = "/rest",
       .begin = [](const std::shared_ptr<const RoutedRequest>&, const http::Finish& finish) {
         finish(http::Rest([]() -> Response { throw std::runtime_error("the cow did"); }));
       }});
  EXPECT_EQ(Ask(Method::kGet, "/begin").status, 500);
  EXPECT_EQ(Ask(Method::kGet, "/rest").status, 500);
  EXPECT_NE(log_.str().find("the dog ate it"), std::string::npos);
  EXPECT_NE(log_.str().find("the cow did"), std::string::npos);
}

// What is thrown need not be an exception; the server goes on, on the loop and on a worker.
TEST_F(RouterTest, AnswersABeginThatThrowsAnything) {
  for (const http::Run run : {http::Run::kOnLoop, http::Run::kOnWorker}) {
    const std::string path = run == http::Run::kOnLoop ? "/loop" : "/worker";
    router_.Add({.method = Method::kGet,
                 .pattern = path,
                 .run = run,
                 .begin = [](const std::shared_ptr<const RoutedRequest>& routed,
                             const http::Finish& finish) {
                   if (routed->request.query.empty()) throw 7;
                   finish(Text(200, "as ever"));
                 }});
    EXPECT_EQ(Ask(Method::kGet, path).status, 500);
    EXPECT_EQ(Ask(Method::kGet, path, "again").body, "as ever");
  }
}

// Who owns the router owns what its handlers work on.
TEST(RouterEndTest, WaitsForWhatHasBegun) {
  WorkerPool workers({.threads = 1, .max_waiting = 1});
  http::Finish finish;
  auto router = std::make_unique<Router>(&workers, nullptr);
  router->Add({.method = Method::kGet,
               .pattern = "/",
               .run = http::Run::kOnLoop,
               .begin = [&](const std::shared_ptr<const RoutedRequest>&, http::Finish given) {
                 finish = std::move(given);
               }});
  Request request;
  request.path = "/";
  std::promise<Response> reply;
  router->Handle(std::move(request),
                 [&](Response response) { reply.set_value(std::move(response)); });
  std::atomic<bool> going = false;
  std::atomic<bool> finished = false;
  std::thread other([&, taken = std::exchange(finish, nullptr)]() mutable {
    // Time enough for a router that would not wait.
    for (int turn = 0; turn < 1'000 || !going; ++turn) std::this_thread::yield();
    finished = true;
    taken(Text(200, "in the end"));
    taken = nullptr;
  });
  going = true;
  router.reset();
  EXPECT_TRUE(finished);
  EXPECT_EQ(reply.get_future().get().body, "in the end");
  other.join();
}

// Blocking work runs elsewhere, and what finds no place is told to come again.
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

// Which of two routes should win nobody could say.
TEST(RouterDeathTest, RefusesTwoRoutesForTheSameRequests) {
  WorkerPool no_workers({.threads = 0, .max_waiting = 0});
  Router router(&no_workers, nullptr);
  const auto answer = [](const RoutedRequest&) { return Text(200, ""); };
  router.Add({.pattern = "/a/{x}", .handler = answer});
  EXPECT_DEATH(router.Add({.pattern = "/a/{y}", .handler = answer}), "added");
}

}  // namespace
}  // namespace tidemark::http
