#include "apps/archive/files.h"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hashing.h"
#include "http/scripted_server.h"
#include "item/limits.h"
#include "item/size.h"
#include "objects/directory/directory_objects.h"
#include "tests/archive_files/stage.h"
#include "tests/support/forwarding_tables.h"

namespace tidemark::archive {
namespace {

using demo::FailureKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

struct FilesTest : FilesStage {
  // The files are there, and nothing is said to be missing.
  void ExpectComplete(const Message& message, const std::vector<std::string>& ids) {
    const Message row = Get(message);
    std::vector<std::string> uris;
    for (const std::string& id : ids) uris.push_back(UriOf(message, id));
    std::sort(uris.begin(), uris.end());
    EXPECT_EQ(row.files_s3, uris);
    EXPECT_FALSE(row.files_fetch_failed) << row.files_fetch_error;
    EXPECT_EQ(row.files_fetch_error, "");
    EXPECT_EQ(state.CountFetches().value(), 0u);
  }
  void ExpectFailed(const Message& message, const std::string& reason) {
    const Message row = Get(message);
    EXPECT_TRUE(row.files_fetch_failed);
    EXPECT_THAT(row.files_fetch_error, HasSubstr(reason));
    EXPECT_EQ(state.CountFetches().value(), 0u);
  }
};

// Spec: 001-47, 001-48
TEST_F(FilesTest, FetchesTheFilesOfAMessage) {
  const Message message = MessageWith({files[0].id, files[1].id});
  Put(message);
  Run();
  ExpectComplete(message, {files[0].id, files[1].id});
  for (size_t i : {0, 1}) {
    const std::string key = fmt::format("slack/{}/{}/{}/{}", workspace.team.id,
                                        workspace.channels[0].id, message.ts.text(), files[i].id);
    EXPECT_EQ(objects.Bytes(key), ContentOf(files[i]));
    const auto info = objects.Head(key).value().value();
    EXPECT_EQ(info.content_type, files[i].mimetype);
    EXPECT_EQ(info.metadata.at("sha256"), ToHex(Sha256(ContentOf(files[i]))));
  }
  // The pretend Slack notes each request without the bot's token.
  EXPECT_THAT(slack->faults(), IsEmpty());
  EXPECT_EQ(Counted("stored"), 2);
}

// A change that brings files is as good as a new message.
// Spec: 001-47
TEST_F(FilesTest, FetchesFilesThatAChangeBrings) {
  Message message = MessageWith({});
  Put(message);
  Run();
  EXPECT_EQ(downloads(), 0u);
  message.traits.files = {MetaOf(files[0])};
  message.revision = 2;
  Put(message);
  Run();
  ExpectComplete(message, {files[0].id});
}

// Also a change of the text alone, when the files were never fetched.
// Spec: 001-47
TEST_F(FilesTest, FetchesWhatIsMissingAtAnyChange) {
  Message message = MessageWith({files[0].id});
  Put(message);
  ASSERT_TRUE(follower->Step([](const tables::StreamRecord&) { return Status(Done{}); }));
  message.body->text = "edited";
  Put(message);
  Run();
  ExpectComplete(message, {files[0].id});
}

// Spec: 001-47
TEST_F(FilesTest, IgnoresRemovalsAndWhatHasNoFiles) {
  const Message message = MessageWith({files[0].id});
  Put(message);
  ASSERT_TRUE(tables.Delete(
      {.table = kArchiveTable, .key = KeyOf(MessagesOf(message.place), message.ts.text())}));
  Put(MessageWith({}));
  item::Item other = Encode(MessageWith({files[0].id}));
  other.Set("itemId", "meta#T01#versions#C01");
  ASSERT_TRUE(tables.Put({.table = kArchiveTable, .item = other}));
  RunAll();
  EXPECT_EQ(downloads(), 0u);
  EXPECT_EQ(objects.size(), 0u);
}

// Spec: 001-49
TEST_F(FilesTest, RedeliveriesLeaveOneReferenceAFile) {
  const Message message = MessageWith({files[0].id, files[1].id});
  Put(message);
  std::vector<tables::StreamRecord> records;
  const auto keep = [&](const tables::StreamRecord& record) {
    records.push_back(record);
    return processor->Notice(record);
  };
  ASSERT_TRUE(follower->Step(keep));
  ASSERT_TRUE(processor->Step());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(processor->Notice(records.front()));
    ASSERT_TRUE(processor->Step());
  }
  RunAll();
  ExpectComplete(message, {files[0].id, files[1].id});
  EXPECT_EQ(downloads(), 2u);
  // As it is stored: a set of the two, and not what a reader makes of it.
  const auto row = tables.Get(
      {.table = kArchiveTable, .key = KeyOf(MessagesOf(message.place), message.ts.text())});
  const auto* references = row.value()->Find("files_s3")->As<item::StringSet>();
  ASSERT_NE(references, nullptr);
  EXPECT_EQ(references->size(), 2u);
}

// A process that died between the object and its reference has left the object.
// Spec: 001-50
TEST_F(FilesTest, AnObjectThatIsThereIsNotUploadedAgain) {
  const Message message = MessageWith({files[0].id});
  ASSERT_TRUE(objects.Put({.key = KeyOfObject(message, files[0].id), .bytes = "as it was"}));
  Put(message);
  Run();
  ExpectComplete(message, {files[0].id});
  EXPECT_EQ(objects.puts(), 1u);
  EXPECT_EQ(objects.Bytes(KeyOfObject(message, files[0].id)), "as it was");
  EXPECT_EQ(downloads(), 0u);
  EXPECT_EQ(Counted("present"), 1);
}

// Forgets the reply to the first update of a message's files.
class ForgetfulTables final : public tidemark::testing::ForwardingTables {
 public:
  using ForwardingTables::ForwardingTables;
  Result<tables::WriteReply> Update(const tables::UpdateRequest& request) override {
    auto reply = ForwardingTables::Update(request);
    if (std::exchange(forgets_, false)) return Error{ErrorCode::kUnknown, "the reply is lost"};
    return reply;
  }

 private:
  bool forgets_ = true;
};

// Whether files_s3 was written is not known: it is written again, to the same end.
// Spec: 001-49, 001-50
TEST_F(FilesTest, ALostReplyOfTheTablesIsMadeUpFor) {
  ForgetfulTables forgetful(&tables);
  archive_tables = &forgetful;
  Rebuild({});
  const Message message = MessageWith({files[0].id, files[1].id});
  Put(message);
  ASSERT_TRUE(follower->Step([&](const auto& record) { return processor->Notice(record); }));
  const Status lost = processor->Step();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kUnknown);
  RunAll();
  ExpectComplete(message, {files[0].id, files[1].id});
  EXPECT_EQ(objects.puts(), 2u);
  EXPECT_EQ(downloads(), 2u);
}

// Spec: 001-51
TEST_F(FilesTest, TransientFailuresArePutOffWithGrowingWaits) {
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError}, 2);
  const Message message = MessageWith({files[0].id});
  Put(message);
  std::vector<EpochSeconds> waits;
  Run();
  while (true) {
    const EpochSeconds before = clock.NowSeconds();
    if (!RunNext()) break;
    waits.push_back(clock.NowSeconds() - before);
  }
  EXPECT_THAT(waits, ElementsAre(1, 2));
  EXPECT_EQ(downloads(), 3u);
  ExpectComplete(message, {files[0].id});
  EXPECT_EQ(Counted("retried"), 2);
}

// Nothing is tried before its time, whatever else happens.
TEST_F(FilesTest, WaitsAreKept) {
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError});
  Put(MessageWith({files[0].id}));
  Run();
  for (int i = 0; i < 5; ++i) Run();
  EXPECT_EQ(downloads(), 1u);
  EXPECT_THAT(sleeper.slept(), IsEmpty());
}

// Spec: 001-52
TEST_F(FilesTest, ExhaustedTriesAreFlaggedAndWhatWorkedIsKept) {
  const Message message = MessageWith({files[0].id, files[1].id});
  Put(message);
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError});
  Run();
  // The other of the two was fetched; the rest of the tries are for this one.
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError}, 10);
  RunAll();
  ExpectFailed(message, "500");
  EXPECT_THAT(Get(message).files_s3, SizeIs(1));
  EXPECT_EQ(downloads(), 4u);
  EXPECT_EQ(Counted("stored"), 1);
  EXPECT_EQ(Counted("failed"), 1);
  EXPECT_THAT(log.str(), HasSubstr("files of a message were not fetched"));
}

// The processor's own updates come back through the stream, and start nothing.
// Spec: 001-53
TEST_F(FilesTest, OneFileThatFailsForEverDoesNotGoRound) {
  Message message = MessageWith({files[0].id, files[1].id});
  FileMeta gone = MetaOf(files[2]);
  gone.url_private = slack->files_url() + "/" + gone.id + "/another-name";
  message.traits.files.push_back(gone);
  Put(message);
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kRateLimited}, 3);
  RunAll();
  EXPECT_EQ(Get(message).files_s3.size(), 2u);
  const size_t tried = downloads();
  EXPECT_LE(tried, 9u);
  for (int i = 0; i < 10; ++i) {
    clock.Advance(std::chrono::hours(1));
    Run();
  }
  EXPECT_EQ(downloads(), tried);
  ExpectFailed(message, gone.id + ": the server answered 404");
}

// Spec: 001-54
TEST_F(FilesTest, FilesThatAreNotSlacksArePassedOver) {
  http::ScriptedServer elsewhere([](http::ScriptedServer::Connection&) {});
  Message message = MessageWith({files[0].id});
  FileMeta external = MetaOf(files[1]);
  external.is_external = true;
  external.url_private = elsewhere.url("/doc");
  FileMeta remote = MetaOf(files[2]);
  remote.mode = "external";
  remote.url_private = elsewhere.url("/doc");
  FileMeta without_url = MetaOf(files[3]);
  without_url.url_private = "";
  FileMeta hidden = MetaOf(files[4]);
  hidden.mode = "hidden_by_limit";
  FileMeta deleted = MetaOf(files[5]);
  deleted.mode = "tombstone";
  for (const FileMeta& file : {external, remote, without_url, hidden, deleted}) {
    message.traits.files.push_back(file);
  }
  Put(message);
  RunAll();
  ExpectComplete(message, {files[0].id});
  EXPECT_EQ(downloads(), 1u);
  EXPECT_EQ(elsewhere.connections(), 0u);
  EXPECT_EQ(Counted("skipped"), 5);
}

// Spec: 001-55
TEST_F(FilesTest, ALaterSuccessClearsTheFlag) {
  Message message = MessageWith({files[0].id});
  Put(message);
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kGarbage});
  RunAll();
  ExpectFailed(message, files[0].id);
  // An edit that leaves the files alone tries nothing; one that brings another tries all.
  message = Get(message);
  message.body->text = "edited";
  Put(message);
  RunAll();
  EXPECT_EQ(downloads(), 1u);
  message.traits.files.push_back(MetaOf(files[1]));
  Put(message);
  RunAll();
  ExpectComplete(message, {files[0].id, files[1].id});
}

// Whoever has mended what was wrong takes the flag away, and it is tried again.
// Spec: 001-55
TEST_F(FilesTest, RemovingTheFlagAsksForAnotherTry) {
  const Message message = MessageWith({files[0].id});
  Put(message);
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kGarbage}, 2);
  RunAll();
  const auto ask_again = [&] {
    ASSERT_TRUE(tables.Update({.table = kArchiveTable,
                               .key = KeyOf(MessagesOf(message.place), message.ts.text()),
                               .update = "REMOVE files_fetch_failed, files_fetch_error"}));
  };
  ask_again();
  RunAll();
  ExpectFailed(message, "sign in");
  EXPECT_EQ(downloads(), 2u);
  ask_again();
  RunAll();
  ExpectComplete(message, {files[0].id});
  EXPECT_EQ(downloads(), 3u);
}

// A row that is full to the brim has no room for a reference; the others are not held up.
// Spec: 001-58
TEST_F(FilesTest, ARowWithoutRoomStopsNothing) {
  Message full = MessageWith({files[0].id});
  full.body->text = "";
  full.body->text = std::string(item::kMaxItemBytes - item::SizeBytes(Encode(full)) - 10, 'x');
  Put(full);
  const Message message = MessageWith({files[1].id});
  Put(message);
  RunAll();
  ExpectComplete(message, {files[1].id});
  EXPECT_THAT(Get(full).files_s3, IsEmpty());
  EXPECT_THAT(log.str(), HasSubstr("files of a message were not fetched"));
}

// What fails now was deleted in Slack since, and so is missed no more.
// Spec: 001-55
TEST_F(FilesTest, TheFlagGoesWhenNothingIsMissingAnyMore) {
  Message message = MessageWith({files[0].id});
  Put(message);
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kGarbage});
  RunAll();
  message = Get(message);
  EXPECT_TRUE(message.files_fetch_failed);
  message.traits.files.front().mode = "tombstone";
  Put(message);
  RunAll();
  EXPECT_FALSE(Get(message).files_fetch_failed);
}

struct BadDownload {
  FailureKind kind;
  const char* reason;
  size_t tries;
  size_t failures = 10;
};

// Spec: 001-56
TEST_F(FilesTest, WhatIsNotTheFileIsAFailureAndNoUpload) {
  for (const BadDownload& bad : {BadDownload{FailureKind::kGarbage, "sign in", 1},
                                 BadDownload{FailureKind::kLoginRedirect, "localhost", 1},
                                 BadDownload{FailureKind::kRedirectLoop, "redirected too often", 4},
                                 BadDownload{FailureKind::kShortBody, "bytes came", 3},
                                 BadDownload{FailureKind::kWrongType, "a page came", 1},
                                 BadDownload{FailureKind::kServerError, "500", 3},
                                 BadDownload{FailureKind::kRateLimited, "429", 3}}) {
    SCOPED_TRACE(bad.reason);
    const size_t before = downloads();
    slack->Fail(demo::kDownloads, {.kind = bad.kind}, bad.failures);
    const Message message = MessageWith({files[0].id});
    Put(message);
    RunAll();
    slack->Recover();
    ExpectFailed(message, bad.reason);
    EXPECT_EQ(downloads() - before, bad.tries);
    EXPECT_EQ(objects.puts(), 0u);
  }
  EXPECT_THAT(slack->faults(), IsEmpty());
}

// A host that never answers is given up in time, and asked again.
// Spec: 001-56
TEST_F(FilesTest, AHostThatHangsIsLeft) {
  downloader = std::make_unique<slack::Downloader>(
      slack::DownloadOptions{.origins = {"http://" + slack->address()},
                             .timeout = std::chrono::seconds(1)},
      &client);
  Rebuild({});
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kHang});
  const Message message = MessageWith({files[0].id});
  Put(message);
  RunAll();
  ExpectComplete(message, {files[0].id});
  EXPECT_EQ(Counted("retried"), 1);
}

// Spec: 001-57
TEST_F(FilesTest, AFileThatIsGoneIsFlaggedWithoutADownload) {
  Rebuild({.ask_first = true});
  Message message = MessageWith({files[0].id});
  FileMeta gone = MetaOf(files[1]);
  gone.id = "F0GONE";
  message.traits.files = {gone};
  Put(message);
  RunAll();
  ExpectFailed(message, "F0GONE: files.info says file_not_found");
  EXPECT_EQ(downloads(), 0u);
  // One that is there is fetched after the question.
  const Message other = MessageWith({files[0].id});
  Put(other);
  RunAll();
  ExpectComplete(other, {files[0].id});
  EXPECT_EQ(slack->calls("files.info"), 2u);
}

// Slack Connect shows files as stubs, which only files.info resolves.
TEST_F(FilesTest, StubsAreResolvedByFilesInfo) {
  Message message = MessageWith({});
  const demo::File& external =
      *std::ranges::find_if(workspace.files, [](const auto& f) { return !f.external_url.empty(); });
  message.traits.files = {{.id = files[0].id, .mode = "file_access"},
                          {.id = external.id, .mode = "file_access"}};
  Put(message);
  slack->Fail("files.info", {.kind = FailureKind::kServerError});
  RunAll();
  ExpectComplete(message, {files[0].id});
  EXPECT_EQ(objects.Bytes(KeyOfObject(message, files[0].id)), ContentOf(files[0]));
  EXPECT_THAT(slack->faults(), IsEmpty());
}

TEST_F(FilesTest, AStubThatMayNotBeSeenIsFlagged) {
  Message message = MessageWith({});
  message.traits.files = {{.id = files[0].id, .mode = "file_access"}};
  Put(message);
  slack->Fail("files.info", {.kind = FailureKind::kError, .error = "access_denied"}, 5);
  RunAll();
  ExpectFailed(message, "access_denied");
  EXPECT_EQ(slack->calls("files.info"), 1u);
}

// Spec: 001-58
TEST_F(FilesTest, OneBadRecordOfTenIsRetriedAlone) {
  std::vector<Message> messages;
  for (size_t i = 0; i < 10; ++i) {
    messages.push_back(MessageWith({files[i].id}));
    Put(messages.back());
  }
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError});
  Run();
  EXPECT_EQ(objects.size(), 9u);
  EXPECT_EQ(state.CountFetches().value(), 1u);
  EXPECT_EQ(downloads(), 10u);
  RunAll();
  EXPECT_EQ(downloads(), 11u);
  for (size_t i = 0; i < 10; ++i) ExpectComplete(messages[i], {files[i].id});
}

// A row that is no message, under a message's key, stops nothing either.
// Spec: 001-58
TEST_F(FilesTest, ARowThatIsNoneStopsNothing) {
  item::Item odd = Encode(MessageWith({files[0].id}));
  odd.Set("timestamp", "yesterday");
  ASSERT_TRUE(tables.Put({.table = kArchiveTable, .item = odd}));
  const Message message = MessageWith({files[1].id});
  Put(message);
  RunAll();
  ExpectComplete(message, {files[1].id});
}

// Spec: 001-59
TEST_F(FilesTest, WithoutATokenTheMessageIsFlagged) {
  token.reset();
  const Message message = MessageWith({files[0].id});
  Put(message);
  RunAll();
  ExpectFailed(message, "there is no bot token");
  EXPECT_EQ(downloads(), 0u);
}

// Every way to fail, with a token that is easy to find.
// Spec: 001-59
TEST_F(FilesTest, TheTokenIsNeverInLogsOrRows) {
  for (const FailureKind kind :
       {FailureKind::kGarbage, FailureKind::kLoginRedirect, FailureKind::kRedirectLoop,
        FailureKind::kShortBody, FailureKind::kWrongType, FailureKind::kServerError,
        FailureKind::kRateLimited}) {
    slack->Fail(demo::kDownloads, {.kind = kind}, 12);
    Message message = MessageWith({files[0].id, files[1].id});
    message.traits.files[0].url_private += "?t=query-of-the-url";
    Put(message);
    Run();
    EXPECT_THAT(Everything(), Not(HasSubstr(kCanary)));
    RunAll();
    EXPECT_TRUE(Get(message).files_fetch_failed);
    EXPECT_THAT(Get(message).files_fetch_error, Not(HasSubstr("query-of-the-url")));
    slack->Recover();
  }
  EXPECT_THAT(Everything(), Not(HasSubstr(kCanary)));
  EXPECT_THAT(log.str(), Not(HasSubstr("query-of-the-url")));
}

// The token is asked for at each try: one that came meanwhile counts.
// Spec: 001-73
TEST_F(FilesTest, ATokenThatIsRotatedCountsAtTheNextTry) {
  token = Secret("xoxb-canary-of-yesterday");
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError});
  const Message message = MessageWith({files[0].id});
  Put(message);
  Run();
  token = Secret(std::string(kCanary));
  RunAll();
  ExpectComplete(message, {files[0].id});
}

// When our own store is away, nobody is given up.
TEST_F(FilesTest, AStoreThatIsAwayIsWaitedFor) {
  const Message message = MessageWith({files[0].id});
  Put(message);
  objects.Fail(6);
  RunAll();
  ExpectComplete(message, {files[0].id});
}

// Nor at the first failure of Slack's that comes after.
TEST_F(FilesTest, AStoreThatWasAwayCostsNoTries) {
  const Message message = MessageWith({files[0].id});
  Put(message);
  objects.Fail(6);
  Run();
  while (state.DueFetches(clock.NowSeconds() + 1'000'000, 1)->front().delays < 6) RunNext();
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError}, 2);
  RunAll();
  ExpectComplete(message, {files[0].id});
  EXPECT_EQ(downloads(), 3u);
}

// What was purged does not come back, at whatever moment that was.
TEST_F(FilesTest, AMessageThatIsPurgedBetweenTriesKeepsNoFile) {
  Message message = MessageWith({files[0].id});
  Put(message);
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError});
  Run();
  message.purged = true;
  Put(message);
  RunAll();
  EXPECT_EQ(downloads(), 1u);
  EXPECT_EQ(objects.size(), 0u);
  EXPECT_THAT(Get(message).files_s3, IsEmpty());
  EXPECT_EQ(state.CountFetches().value(), 0u);
}

TEST_F(FilesTest, AMessageThatIsPurgedDuringTheDownloadKeepsNoFile) {
  Message message = MessageWith({files[0].id});
  Put(message);
  message.purged = true;
  before_fetch = [&] { Put(message); };
  RunAll();
  EXPECT_EQ(downloads(), 1u);
  EXPECT_EQ(objects.size(), 0u);
  EXPECT_THAT(Get(message).files_s3, IsEmpty());
}

// The purge has emptied the row, so that nobody knows the file's id any more.
TEST_F(FilesTest, AFileThatADeadProcessStoredDuringThePurgeGoes) {
  Message message = MessageWith({files[0].id});
  Put(message);
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError});
  Run();
  ASSERT_EQ(state.CountFetches().value(), 1u);
  ASSERT_TRUE(objects.Put({.key = KeyOfObject(message, files[0].id), .bytes = "late"}));
  const Message neighbour = MessageWith({files[1].id});
  ASSERT_TRUE(objects.Put({.key = KeyOfObject(neighbour, files[1].id), .bytes = "another's"}));
  message.traits.files.clear();
  message.body.reset();
  message.purged = true;
  Put(message);
  RunAll();
  EXPECT_FALSE(objects.Bytes(KeyOfObject(message, files[0].id)));
  EXPECT_TRUE(objects.Bytes(KeyOfObject(neighbour, files[1].id)));
  EXPECT_EQ(state.CountFetches().value(), 0u);
}

// The store that one machine has: a folder.
// Spec: 001-48, 001-50
TEST_F(FilesTest, FilesGoIntoAFolder) {
  auto directory =
      directory::DirectoryObjects::Open(folder.path() + "/objects", clock, random).value();
  store = directory.get();
  Rebuild({});
  const Message message = MessageWith({files[0].id});
  Put(message);
  RunAll();
  ExpectComplete(message, {files[0].id});
  const auto object = directory->Open(KeyOfObject(message, files[0].id)).value();
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->Read(0, 1 << 20).value(), ContentOf(files[0]));
  EXPECT_EQ(object->info().content_type, files[0].mimetype);
}

// An id is part of a key: one that is none is not looked for.
TEST_F(FilesTest, AFileWhoseIdIsNoneIsFlagged) {
  Message message = MessageWith({});
  message.traits.files = {MetaOf(files[0])};
  message.traits.files[0].id = "../../etc";
  Put(message);
  RunAll();
  ExpectFailed(message, "its id is none");
  EXPECT_EQ(objects.size(), 0u);
}

TEST_F(FilesTest, NothingStaysInTheSpoolFolder) {
  const std::string spool = folder.path() + "/spool";
  Put(MessageWith({files[0].id}));
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kShortBody});
  RunAll();
  EXPECT_TRUE(std::filesystem::is_empty(spool));
  // Nor what a process left that was killed.
  std::filesystem::copy_file("/proc/self/cmdline", spool + "/fetch-9");
  Rebuild({});
  EXPECT_TRUE(std::filesystem::is_empty(spool));
}

TEST_F(FilesTest, TheBacklogIsShown) {
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError}, 2);
  Put(MessageWith({files[0].id}));
  Put(MessageWith({files[1].id}));
  Run();
  EXPECT_THAT(metrics->Expose(), HasSubstr("tidemark_archive_files_backlog 2"));
  RunAll();
  EXPECT_THAT(metrics->Expose(), HasSubstr("tidemark_archive_files_backlog 0"));
}

TEST(ObjectKeyTest, TakesFileIdsAlone) {
  const Place place{.team = slack::TeamId::Parse("T01").value(),
                    .channel = slack::ChannelId::Parse("C01").value()};
  const auto ts = slack::Timestamp::Parse("1700000000.000100").value();
  EXPECT_EQ(ObjectKeyOf(place, ts, "F01").value(), "slack/T01/C01/1700000000.000100/F01");
  for (const char* id : {"", "F", "f01", "U01", "F0/1", "F0#1", "../F01", "F0 1", "F0é"}) {
    EXPECT_FALSE(ObjectKeyOf(place, ts, id)) << id;
  }
}

}  // namespace
}  // namespace tidemark::archive
