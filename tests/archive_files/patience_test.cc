// How long files are tried for, what does not wait for them, and how to ask for them again.
#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/archive/files.h"
#include "tests/archive_files/stage.h"

namespace tidemark::archive {
namespace {

using demo::FailureKind;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct FilesPatienceTest : FilesStage {};

// Review: A7
TEST_F(FilesPatienceTest, WaitsAsLongAsSlackAsks) {
  slack->Fail(demo::kDownloads,
              {.kind = FailureKind::kRateLimited, .retry_after = std::chrono::seconds(90)});
  const Message message = MessageWith({files[0].id});
  Put(message);
  Run();
  const EpochSeconds before = clock.NowSeconds();
  ASSERT_TRUE(RunNext());
  EXPECT_EQ(clock.NowSeconds() - before, 90);
  ExpectComplete(message, {files[0].id});
}

// An outage of Slack's files of some hours loses no file.
// Review: A7
TEST_F(FilesPatienceTest, KeepsTryingForHours) {
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError}, 15);
  const Message message = MessageWith({files[0].id});
  Put(message);
  const EpochSeconds before = clock.NowSeconds();
  RunAll();
  EXPECT_GT(clock.NowSeconds() - before, 4 * 3600);
  ExpectComplete(message, {files[0].id});
}

// Review: A7
TEST_F(FilesPatienceTest, ASlowFileDoesNotHoldUpOthers) {
  Rebuild({.parallel = 2});
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kHang});
  const Message slow = MessageWith({files[0].id});
  Put(slow);
  Run();
  slack->AwaitHanging(1);
  const Message other = MessageWith({files[1].id});
  Put(other);
  Run();
  while (Get(other).files_s3.empty()) std::this_thread::yield();
  EXPECT_THAT(Get(slow).files_s3, IsEmpty());
  slack->Release();
  processor->Wait();
  Run();
  ExpectComplete(slow, {files[0].id});
  ExpectComplete(other, {files[1].id});
}

// A process that ends does not wait for Slack. The download that it ends is not a failure.
// Review: A7
TEST_F(FilesPatienceTest, StoppingEndsADownload) {
  constexpr std::chrono::seconds kTimeout(30);
  downloader = std::make_unique<slack::Downloader>(
      slack::DownloadOptions{.origins = {"http://" + slack->address()}, .timeout = kTimeout},
      &client);
  Rebuild({.max_attempts = 1, .parallel = 2});
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kHang});
  const Message message = MessageWith({files[0].id});
  Put(message);
  const auto before = system_clock.Monotonic();
  Run();
  slack->AwaitHanging(1);
  processor->Stop();
  processor->Wait();
  EXPECT_LT(system_clock.Monotonic() - before, kTimeout / 2);
  EXPECT_FALSE(Get(message).files_fetch_failed);
  slack->Release();
  Rebuild({.max_attempts = 1});
  RunAll();
  ExpectComplete(message, {files[0].id});
}

// A full disk would stop the archive itself. The file waits until there is room.
// Review: A7
TEST_F(FilesPatienceTest, LeavesPartOfTheDiskFree) {
  Rebuild({.max_attempts = 1, .min_free_bytes = uint64_t{1} << 60});
  const Message message = MessageWith({files[0].id});
  Put(message);
  Run();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(RunNext());
  EXPECT_EQ(downloads(), 0u);
  EXPECT_FALSE(Get(message).files_fetch_failed);
  EXPECT_THAT(state.DueFetches(clock.NowSeconds() + 1'000'000, 1).value().at(0).reason,
              HasSubstr("archive.file-free-bytes"));
  Rebuild({.max_attempts = 1});
  RunAll();
  ExpectComplete(message, {files[0].id});
}

// Somebody can find what failed, and ask for it again.
// Review: A7
TEST_F(FilesPatienceTest, WhatFailedIsListedUntilItIsFetched) {
  const Message message = MessageWith({files[0].id});
  Put(message);
  const Message other = MessageWith({files[1].id});
  Put(other);
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kGarbage}, 2);
  RunAll();
  const slack::TeamId& team = message.place.team;
  const auto first = state.FailedFetches(team, std::nullopt, 1).value();
  ASSERT_THAT(first.fetches, SizeIs(1));
  EXPECT_EQ(first.fetches[0].ts, message.ts);
  const auto second = state.FailedFetches(team, first.next, 5).value();
  ASSERT_THAT(second.fetches, SizeIs(1));
  EXPECT_EQ(second.fetches[0].ts, other.ts);
  EXPECT_FALSE(second.next);
  // An event with one more file tries all files of the message.
  Message edited = Get(message);
  edited.traits.files.push_back(MetaOf(files[2]));
  Put(edited);
  EXPECT_TRUE(AskForFilesAgain(tables, kArchiveTable, other.place, other.ts).value());
  EXPECT_FALSE(AskForFilesAgain(tables, kArchiveTable, other.place, other.ts).value());
  RunAll();
  ExpectComplete(message, {files[0].id, files[2].id});
  ExpectComplete(other, {files[1].id});
  EXPECT_THAT(state.FailedFetches(team, std::nullopt, 5).value().fetches, SizeIs(1))
      << "who asks for a message again takes it off the list";
}

}  // namespace
}  // namespace tidemark::archive
