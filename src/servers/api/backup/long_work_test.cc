// Backups and verifications, which may take hours: a server that is told to stop ends them.
#include <future>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "servers/api/backup/backup_service.h"
#include "servers/api/tables/verify_service.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_runtime.h"

namespace tidemark::api {
namespace {

using ::testing::HasSubstr;

// Works until it is told to stop, and tells when it has begun.
class EndlessWork final : public BackupMaker {
 public:
  Result<BackupReport> Make(const std::string& /*folder*/, BackupProgress* progress) override {
    return WaitFor(progress->stop);
  }
  Error WaitFor(const std::atomic<bool>* stop) {
    begun.set_value();
    while (!*stop) std::this_thread::yield();
    return {ErrorCode::kCancelled, "told to stop"};
  }

  std::promise<void> begun;
};

class LongWorkTest : public ::testing::Test {
 protected:
  std::future<http::Response> Post(const std::string& path, const std::string& body = "") {
    auto answer = std::make_shared<std::promise<http::Response>>();
    router_.Handle({.method = http::Method::kPost,
                    .path = path,
                    .headers = {{"Authorization", "Bearer " + token_}},
                    .body = body},
                   [answer](http::Response response) { answer->set_value(std::move(response)); });
    return answer->get_future();
  }

  TempFolder folder_;
  testing::TestRuntime test_;
  const std::string tokens_file_ = folder_.path() + "/tokens";
  const std::string token_ = CreateToken(tokens_file_, "ci", test_.clock, test_.random).value();
  TokenFile tokens_{tokens_file_, test_.clock, test_.logger};
  EndlessWork work_;
  WorkerPool workers_{{.threads = 2, .max_waiting = 10}};
  http::Router router_{&workers_, test_.logger};
};

TEST_F(LongWorkTest, OneVerificationRunsAtATimeAndEndsWhenTheServerStops) {
  VerifyService service(
      [&](const std::atomic<bool>* stop) -> Result<std::string> { return work_.WaitFor(stop); });
  service.AddRoutes(&router_, &tokens_);
  auto running = Post("/api/v1/verification");
  work_.begun.get_future().wait();
  EXPECT_EQ(Post("/api/v1/verification").get().status, 409);
  service.Stop();
  const http::Response ended = running.get();
  EXPECT_EQ(ended.status, 503);
  EXPECT_THAT(ended.body, HasSubstr("told to stop"));
  workers_.Stop();
}

TEST_F(LongWorkTest, ABackupEndsWhenTheServerStops) {
  BackupService service(folder_.path(), &work_, test_.logger);
  service.AddRoutes(&router_, &tokens_);
  EXPECT_EQ(Post("/api/v1/backups", R"({"name":"monday"})").get().status, 200);
  work_.begun.get_future().wait();
  EXPECT_EQ(Post("/api/v1/backups", R"({"name":"tuesday"})").get().status, 409);
  service.Stop();
  EXPECT_EQ(Post("/api/v1/backups", R"({"name":"tuesday"})").get().status, 503);
  workers_.Stop();
}

}  // namespace
}  // namespace tidemark::api
