// The operator's routes, over the service that a server runs.
#include <future>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/worker_pool.h"
#include "http/router.h"
#include "servers/api/attempts/service.h"
#include "tests/attempts_migration/move_stage.h"
#include "tests/support/manual_time.h"
#include "tests/support/test_runtime.h"

namespace tidemark::moving {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// One process with an old store, and its routes.
class Server {
 public:
  explicit Server(MigrationStore* old_store) {
    api::AttemptsServiceOptions options;
    options.migration = Phase::kOld;
    service_.emplace(std::move(options),
                     api::ServiceContext{
                         .tables = &model_, .runtime = test_.runtime(), .old_attempts = old_store});
    CHECK(service_->Start().has_value());
    service_->AddRoutes(&router_, nullptr);
  }
  ~Server() { workers_.Stop(); }

  http::Response Ask(http::Method method, const std::string& path, const std::string& body = "") {
    std::promise<http::Response> answered;
    http::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    router_.Handle(std::move(request),
                   [&](http::Response response) { answered.set_value(std::move(response)); });
    return answered.get_future().get();
  }
  std::string Post(const std::string& step, const std::string& body = "") {
    return Ask(http::Method::kPost, "/api/v1/attempts/migration/" + step, body).body;
  }

  void Stop() { service_->Stop(); }

  tidemark::testing::TestRuntime test_;
  ManualClock& clock = test_.clock;

 private:
  model::ModelTables model_{clock};
  WorkerPool workers_{{.threads = 1, .max_waiting = 4}};
  http::Router router_{&workers_, test_.logger};
  std::optional<api::AttemptsService> service_;
};

TEST(MigrationRoutesTest, MoveAndSayWhyNot) {
  MemoryStore old_store;
  Server server(&old_store);
  EXPECT_THAT(server.Ask(http::Method::kGet, "/api/v1/attempts/migration").body,
              AllOf(HasSubstr(R"("phase":"old","epoch":1)"),
                    HasSubstr(R"("visited":0,"visited_per_second":0)")));
  EXPECT_THAT(server.Post("advance"),
              HasSubstr(R"("moved":true,"held_by":"","phase":"dual-old-decides","epoch":2)"));
  EXPECT_THAT(server.Post("advance"), HasSubstr(R"("moved":false,"held_by":"3660 more seconds)"));
  EXPECT_THAT(server.Post("verify", R"({"copy":true})"), HasSubstr(R"("differing":0)"));
  EXPECT_THAT(server.Post("advance", R"({"for_seconds":0})"), HasSubstr("between 1 and 60"));
  EXPECT_THAT(server.Post("back", R"({"force":true})"), HasSubstr(R"("phase":"old","epoch":3)"));
  EXPECT_THAT(server.Post("back", R"({"forse":true})"), HasSubstr("forse"));
}

// A stop waits for running requests, so a copy of all subjects must end at once. Other requests
// still work.
TEST(MigrationRoutesTest, LongRunsAreRefusedAfterTheServiceStops) {
  MemoryStore old_store;
  Server server(&old_store);
  server.Post("advance");
  const std::string lock = R"({"journey":"SIGN_IN","classifier":"PASSWORD_RESET"})";
  const auto set_lock = [&] {
    return server.Ask(http::Method::kPost, "/api/v1/subjects/ann/locks", lock).status;
  };
  EXPECT_EQ(set_lock(), 200);
  server.Stop();
  EXPECT_EQ(server.Ask(http::Method::kPost, "/api/v1/attempts/migration/verify").status, 503);
  EXPECT_EQ(set_lock(), 200);
}

// The phase decides which store the server writes.
TEST(MigrationRoutesTest, TheServerCountsInTheOldStore) {
  MemoryStore old_store;
  Server server(&old_store);
  const auto counted = server.Ask(http::Method::kPost, "/api/v1/subjects/ann/counts/increment",
                                  R"({"journey":"SIGN_IN","count_type":"ERROR_COUNT",
                                      "classifier":"PASSWORD_ENTRY"})");
  EXPECT_EQ(counted.status, 200) << counted.body;
  EXPECT_TRUE(old_store.Find(attempts::SubjectOf("ann"), kCountKey).has_value());
}

TEST(MigrationRoutesTest, WithoutAnOldStoreThereIsNothingToMove) {
  Server server(nullptr);
  const auto refused = server.Ask(http::Method::kGet, "/api/v1/attempts/migration");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("attempts.old.url is not set"));
}

}  // namespace
}  // namespace tidemark::moving
