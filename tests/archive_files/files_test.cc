#include "apps/archive/files.h"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hashing.h"
#include "item/limits.h"
#include "item/size.h"
#include "objects/directory/directory_objects.h"
#include "tests/archive_files/stage.h"
#include "tests/support/forwarding_tables.h"
#include "tests/support/scripted_server.h"

namespace tidemark::archive {
namespace {

using demo::FailureKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

struct FilesTest : FilesStage {};

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
  // The pretend Slack records each request without the bot's token.
  EXPECT_THAT(slack->faults(), IsEmpty());
  EXPECT_EQ(Counted("stored"), 2);
}

// A change that adds files is handled like a new message.
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

// A change of the text alone also fetches files that are missing.
// Spec: 001-47
TEST_F(FilesTest, FetchesMissingFilesAtAnyChange) {
  Message message = MessageWith({files[0].id});
  Put(message);
  ASSERT_TRUE(follower->Step([](const tables::StreamRecord&) { return Status(Done{}); }));
  message.body->text = "edited";
  Put(message);
  Run();
  ExpectComplete(message, {files[0].id});
}

// Spec: 001-47
TEST_F(FilesTest, IgnoresRemovalsAndRowsWithoutFiles) {
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
TEST_F(FilesTest, RedeliveriesLeaveOneReferenceForEachFile) {
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
  // As it is stored: a set with the two URIs.
  const auto row = tables.Get(
      {.table = kArchiveTable, .key = KeyOf(MessagesOf(message.place), message.ts.text())});
  const auto* references = row.value()->Find("files_s3")->As<item::StringSet>();
  ASSERT_NE(references, nullptr);
  EXPECT_EQ(references->size(), 2u);
}

// A process that died before it recorded the file has left the object.
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

// It is not known whether files_s3 was written. Writing it again gives the same result.
// Spec: 001-49, 001-50
TEST_F(FilesTest, ALostReplyOfTheTablesDoesNoHarm) {
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
TEST_F(FilesTest, TransientFailuresArePostponedWithGrowingWaits) {
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

// No fetch is tried before it is due.
TEST_F(FilesTest, WaitsAreKept) {
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError});
  Put(MessageWith({files[0].id}));
  Run();
  for (int i = 0; i < 5; ++i) Run();
  EXPECT_EQ(downloads(), 1u);
  EXPECT_THAT(sleeper.slept(), IsEmpty());
}

// Spec: 001-52
TEST_F(FilesTest, AfterTheLastTryTheMessageIsFlaggedAndStoredFilesAreKept) {
  Rebuild({.max_attempts = 3});
  const Message message = MessageWith({files[0].id, files[1].id});
  Put(message);
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError});
  Run();
  // The other file was fetched. The remaining tries are for this one.
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError}, 10);
  RunAll();
  ExpectFailed(message, "500");
  EXPECT_THAT(Get(message).files_s3, SizeIs(1));
  EXPECT_EQ(downloads(), 4u);
  EXPECT_EQ(Counted("stored"), 1);
  EXPECT_EQ(Counted("failed"), 1);
  EXPECT_THAT(log.str(), HasSubstr("files of a message were not fetched"));
}

// The processor's own updates come back through the stream and cause no work.
// Spec: 001-53
TEST_F(FilesTest, AFileThatAlwaysFailsIsNotTriedForEver) {
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
TEST_F(FilesTest, ExternalAndHiddenFilesAreSkipped) {
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
  // An edit without new files tries nothing. An edit with a new file tries all files.
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

// Somebody who has repaired the cause removes the flag, and the files are tried again.
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
  ExpectFailed(message, "sign-in");
  EXPECT_EQ(downloads(), 2u);
  ask_again();
  RunAll();
  ExpectComplete(message, {files[0].id});
  EXPECT_EQ(downloads(), 3u);
}

// A row that is full has no room for the URI. Other messages must not wait for it.
// Spec: 001-58
TEST_F(FilesTest, ARowWithoutRoomDoesNotHoldUpOthers) {
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

// The file that failed was deleted in Slack, so no file is missing any more.
// Spec: 001-55
TEST_F(FilesTest, TheFlagIsRemovedWhenNoFileIsMissing) {
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
TEST_F(FilesTest, AnotherBodyThanTheFileIsAFailureAndNotStored) {
  Rebuild({.max_attempts = 3});
  for (const BadDownload& bad : {BadDownload{FailureKind::kGarbage, "sign-in", 1},
                                 BadDownload{FailureKind::kLoginRedirect, "localhost", 1},
                                 BadDownload{FailureKind::kRedirectLoop, "too many redirects", 4},
                                 BadDownload{FailureKind::kShortBody, "bytes arrived", 3},
                                 BadDownload{FailureKind::kWrongType, "is an HTML page", 1},
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

// A host that never answers is given up at the deadline and tried again.
// Spec: 001-56
TEST_F(FilesTest, AHostThatHangsIsGivenUp) {
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
  // A file that exists is fetched after files.info was asked.
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
  // What files.info says is kept, because no event says it.
  const std::vector<FileMeta> shown = ShownFiles(Get(message));
  const FileMeta& stub = *std::ranges::find(shown, files[0].id, &FileMeta::id);
  EXPECT_EQ(stub.name, files[0].name);
  EXPECT_EQ(stub.mimetype, files[0].mimetype);
  EXPECT_EQ(stub.size, static_cast<int64_t>(files[0].size_bytes));
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

// A row with a message's key that is not a message does not hold up others either.
// Spec: 001-58
TEST_F(FilesTest, ADamagedRowDoesNotHoldUpOthers) {
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

// Every kind of failure, with a token that is easy to find.
// Spec: 001-59
TEST_F(FilesTest, TheTokenIsNeverInLogsOrRows) {
  Rebuild({.max_attempts = 3});
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

// The token is read at each try, so a new token is used.
// Spec: 001-73
TEST_F(FilesTest, ARotatedTokenIsUsedAtTheNextTry) {
  token = Secret("xoxb-canary-of-yesterday");
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError});
  const Message message = MessageWith({files[0].id});
  Put(message);
  Run();
  token = Secret(std::string(kCanary));
  RunAll();
  ExpectComplete(message, {files[0].id});
}

// While our own store is unavailable, no file is given up.
TEST_F(FilesTest, AFetchWaitsForAStoreThatIsUnavailable) {
  const Message message = MessageWith({files[0].id});
  Put(message);
  objects.Fail(6);
  RunAll();
  ExpectComplete(message, {files[0].id});
}

// Nor at the first failure of Slack after that.
TEST_F(FilesTest, AnOutageOfTheStoreUsesUpNoTries) {
  const Message message = MessageWith({files[0].id});
  Put(message);
  objects.Fail(6);
  Run();
  const auto fetch = [&] { return state.DueFetches(clock.NowSeconds() + 1'000'000, 1)->front(); };
  while (fetch().delays < 6) RunNext();
  EXPECT_EQ(fetch().attempts, 0);
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kServerError}, 2);
  RunAll();
  ExpectComplete(message, {files[0].id});
  EXPECT_EQ(downloads(), 3u);
}

// Files of a purged message do not come back, whenever the purge happened.
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

// The purge has emptied the row, so the id of the file is not known any more.
TEST_F(FilesTest, AFileThatADeadProcessStoredDuringThePurgeIsDeleted) {
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

// The objects of a single machine: a folder.
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

// An id is part of a key, so an invalid id is not looked up.
TEST_F(FilesTest, AFileWithAnInvalidIdIsFlagged) {
  Message message = MessageWith({});
  message.traits.files = {MetaOf(files[0])};
  message.traits.files[0].id = "../../etc";
  Put(message);
  RunAll();
  ExpectFailed(message, "its id is not a valid file id");
  EXPECT_EQ(objects.size(), 0u);
}

TEST_F(FilesTest, TheSpoolFolderIsEmptyAfterwards) {
  const std::string spool = folder.path() + "/spool";
  Put(MessageWith({files[0].id}));
  slack->Fail(demo::kDownloads, {.kind = FailureKind::kShortBody});
  RunAll();
  EXPECT_TRUE(std::filesystem::is_empty(spool));
  // Files that a killed process left are removed too.
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
