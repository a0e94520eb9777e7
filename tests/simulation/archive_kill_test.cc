// The program itself, killed again and again while events come in.
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/metrics.h"
#include "objects/directory/directory_objects.h"
#include "servers/api/archive/service.h"
#include "servers/demo/events.h"
#include "servers/demo/pretend_slack.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/programs/serve_fixture.h"
#include "tests/simulation/courier.h"
#include "tests/simulation/differences.h"
#include "tests/support/long_run.h"
#include "tests/support/offset_clock.h"
#include "tests/support/seed.h"

namespace tidemark::testing {
namespace {

using ::testing::IsEmpty;

// After this time the leases of a killed process have ended, and Slack would still retry.
constexpr std::chrono::seconds kLater(150);

class ArchiveKillTest : public ServeFixture {
 protected:
  ArchiveKillTest() : workspace_(demo::MakeWorkspace({.users = 8, .channels = 12, .files = 0})) {
    slack_ = demo::PretendSlack::Start({.bot_token = Secret(std::string(kDemoToken))}, workspace_,
                                       {.clock = &clock_, .random = &random_})
                 .value();
  }

  // All channels and files exist from the beginning: an event that arrives late must not be
  // refused because of a later change.
  void Generate(size_t count, uint64_t seed) {
    demo::EventGenerator generator({.seed = seed,
                                    .mix = demo::Mix::kEventful,
                                    .start = clock_.NowSeconds(),
                                    .gap = std::chrono::milliseconds(20),
                                    .files_url = slack_->files_url()},
                                   workspace_);
    for (size_t i = 0; i < count; ++i) {
      events_.push_back(generator.Next());
      const demo::Changes& changes = events_.back().changes;
      slack_->Apply({.channels = changes.channels, .files = changes.files});
      truth_.Apply(events_.back());
    }
  }

  void ServeArchive() {
    Words environment = SlackAt(slack_->api_url());
    environment.push_back("TIDEMARK_ARCHIVE_CONSENT=true");
    environment.push_back("TIDEMARK_ARCHIVE_FILE_ORIGINS=http://" + slack_->address());
    // The truth has only what the events say.
    environment.push_back("TIDEMARK_SLACK_LISTS=false");
    Serve({}, environment);
  }

  // Kills and restarts the server while the courier delivers events.
  void KillAgainAndAgain(int kills, uint64_t seed, Courier* courier) {
    SeededRandom random(seed);
    const size_t between = events_.size() / static_cast<size_t>(kills + 1);
    size_t next = 0;
    for (int i = 0; i < kills && !HasFatalFailure(); ++i) {
      next += between / 2 + random.Below(between);
      courier->AwaitAcknowledged(next);
      KillServer();
      ServeArchive();
    }
    courier->AwaitAcknowledged(events_.size());
  }

  // The work of the processors is finished here, in the test's process.
  void FinishWork(tables::Tables* tables, objects::Objects* objects, const Clock* clock) {
    std::ostringstream log;
    const Logger logger({}, clock_, &log);
    Metrics metrics;
    const Runtime runtime{.clock = *clock,
                          .random = random_,
                          .sleeper = sleeper_,
                          .logger = logger,
                          .metrics = metrics};
    slack::WebApi web_api({.url = slack_->api_url()}, &client_, runtime);
    const gate::FixedTokens tokens{Secret(std::string(kDemoToken))};
    api::ArchiveServiceOptions options;
    options.files.spool = path("spool");
    options.files.first_wait = std::chrono::seconds(0);
    options.download.origins.push_back("http://" + slack_->address());
    api::ArchiveService service(
        options, {.tables = tables, .objects = objects, .client = &client_, .runtime = runtime},
        &web_api, &tokens);
    EXPECT_TRUE(service.Start());
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(service.StepRows());
      EXPECT_TRUE(service.StepFiles()) << log.str();
    }
  }

  void Compare() {
    const OffsetClock later(&clock_, kLater);
    const auto tables =
        embedded::EmbeddedTables::Open({.folder = path("tidemark-data"), .clock = &later}).value();
    const auto objects =
        directory::DirectoryObjects::Open(path("tidemark-data/objects"), later, random_).value();
    FinishWork(tables.get(), objects.get(), &later);
    EXPECT_EQ(truth_.Settle(), 0U);
    EXPECT_THAT(FindDifferences({.truth = &truth_,
                                 .tables = tables.get(),
                                 .objects = objects.get(),
                                 .clock = &later,
                                 .team = workspace_.team.id,
                                 .bot_token = kDemoToken,
                                 .log = server_->err(),
                                 .is_fetchable = [](const std::string&) { return true; }}),
                IsEmpty());
    EXPECT_THAT(slack_->faults(), IsEmpty());
  }

  const demo::Workspace workspace_;
  std::unique_ptr<demo::PretendSlack> slack_;
  std::vector<demo::GeneratedEvent> events_;
  GroundTruth truth_;
};

// An event that was acknowledged before a kill is stored once. A short downtime loses nothing.
TEST_F(ArchiveKillTest, EverythingAcknowledgedIsInTheArchive) {
  const int kills = AmountOf({10, 100});
  const uint64_t seed = ChooseSeed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  Generate(static_cast<size_t>(kills) * 150, seed);
  slack_->Fail(demo::kDownloads, {.kind = demo::FailureKind::kShortBody});
  slack_->Fail(demo::kDownloads, {.kind = demo::FailureKind::kServerError});
  ServeArchive();
  Courier courier({.sender = {.url = url() + "/slack/events",
                              .signing_secret = Secret(std::string(kDemoSecret))},
                   .events = events_,
                   .truth = &truth_,
                   .client = &client_,
                   .clock = &clock_,
                   .seed = seed});
  courier.Start();
  KillAgainAndAgain(kills, seed, &courier);
  courier.Stop();
  EXPECT_EQ(courier.acknowledged(), events_.size());
  EXPECT_THAT(courier.refused(), IsEmpty());
  EXPECT_GT(courier.failed(), static_cast<size_t>(kills) / 2) << "the kills met no delivery";
  KillServer();
  Compare();
  std::cout << kills << " kills, " << courier.failed() << " deliveries failed, " << truth_.excused()
            << " of " << truth_.messages().size() << " messages excused\n";
}

}  // namespace
}  // namespace tidemark::testing
