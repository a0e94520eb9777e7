// Files that other programs put into the folder of objects, seen through the running service.
#include "servers/api/documents_watch.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tables/embedded/embedded_tables.h"
#include "tests/front_door/front_door.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/memory_objects.h"
#include "tests/support/temp_folder.h"

namespace tidemark::testing {
namespace {

using http::Method;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Much longer than anything here takes, so that a slow machine fails no test.
constexpr std::chrono::seconds kPatience(30);

class DocumentsWatchTest : public ::testing::Test {
 protected:
  DocumentsWatchTest()
      : door_([](api::ServiceOptions* options) {
          FrontDoor::WithDocuments(options);
          options->background = true;
        }) {}

  std::filesystem::path In(const std::string& name) const {
    return door_.objects_folder() + "/" + name;
  }
  static std::string Change(const std::string& id, const std::string& status = "submitted") {
    return fmt::format(R"({{"object_type":"change","changeId":"{}","changeTitle":"A change",)"
                       R"("status":"{}","createdAt":{},"customers":["hts"]}})",
                       id, status, SystemClock().NowSeconds() - 60);
  }
  void WriteFile(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(In(name).parent_path());
    std::ofstream(In(name)) << text;
  }
  http::Response Get(const std::string& rest) {
    return door_.Call(Method::kGet, "/api/v1/documents" + rest);
  }
  // From the cache alone, which knows of a file only what the watch told it.
  std::string Query(const std::string& status) { return Get("?beyond=flag&status=" + status).body; }
  double Changes() { return door_.CounterOf("tidemark_documents_watch_changes_total"); }

  // Asks until it holds.
  static bool Soon(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
  bool IsFound(const std::string& id, const std::string& status) {
    return Query(status).find(id) != std::string::npos;
  }

  FrontDoor door_;
};

// Also the folder is new: nobody has put a document through us yet.
TEST_F(DocumentsWatchTest, AFileThatIsCopiedInIsFound) {
  EXPECT_EQ(Get("/CHG-1").status, 404);
  WriteFile("archive/CHG-1.json", Change("CHG-1"));
  EXPECT_TRUE(Soon([&] { return IsFound("CHG-1", "submitted"); }));
  const http::Response got = Get("/CHG-1");
  EXPECT_THAT(got.body, AllOf(HasSubstr(R"("source":"cache")"), HasSubstr("CHG-1")));
  // The hash alone, since nobody gave the file a record.
  const auto info = door_.objects().Head("archive/CHG-1.json");
  ASSERT_TRUE(info && *info);
  EXPECT_EQ((*info)->etag.size(), 64);
  EXPECT_EQ(got.headers.Find("ETag"), fmt::format("\"{}\"", (*info)->etag));
}

TEST_F(DocumentsWatchTest, AFileThatIsReplacedOrRemovedIsNotServedAnyMore) {
  ASSERT_EQ(door_.Call(Method::kPut, "/api/v1/documents/CHG-1", Change("CHG-1")).status, 200);
  ASSERT_TRUE(IsFound("CHG-1", "submitted"));
  WriteFile("archive/.CHG-1.json.tmp", Change("CHG-1", "approved"));
  std::filesystem::rename(In("archive/.CHG-1.json.tmp"), In("archive/CHG-1.json"));
  EXPECT_TRUE(Soon([&] { return IsFound("CHG-1", "approved"); }));
  EXPECT_FALSE(IsFound("CHG-1", "submitted"));
  std::filesystem::remove(In("archive/CHG-1.json"));
  EXPECT_TRUE(Soon([&] { return Get("/CHG-1").status == 404; }));
  EXPECT_FALSE(IsFound("CHG-1", "approved"));
}

// Working copies and triggers carry the same ids, and are not the truth.
TEST_F(DocumentsWatchTest, OtherPrefixesChangeNothing) {
  WriteFile("archive/CHG-1.json", Change("CHG-1"));
  ASSERT_TRUE(Soon([&] { return IsFound("CHG-1", "submitted"); }));
  WriteFile("drafts/CHG-1.json", Change("CHG-1", "draft"));
  WriteFile("customers/hts/CHG-1.json", Change("CHG-1", "draft"));
  std::filesystem::remove(In("customers/hts/CHG-1.json"));
  WriteFile("archive/CHG-2.json", Change("CHG-2"));
  ASSERT_TRUE(Soon([&] { return IsFound("CHG-2", "submitted"); }));
  EXPECT_TRUE(IsFound("CHG-1", "submitted"));
  EXPECT_EQ(Changes(), 2);
}

// A folder that moves away takes its files along without a word: the cache is compared with what
// is left.
TEST_F(DocumentsWatchTest, WhatAMovedFolderTookAlongIsNotServed) {
  WriteFile("archive/CHG-1.json", Change("CHG-1"));
  ASSERT_TRUE(Soon([&] { return IsFound("CHG-1", "submitted"); }));
  std::filesystem::rename(In("archive"), In("before"));
  WriteFile("archive/CHG-2.json", Change("CHG-2"));
  EXPECT_TRUE(Soon([&] { return !IsFound("CHG-1", "submitted"); }));
  EXPECT_TRUE(Soon([&] { return IsFound("CHG-2", "submitted"); }));
  EXPECT_EQ(door_.CounterOf("tidemark_documents_watch_overflows_total"), 1);
}

// What is no document must keep no other from being noticed.
TEST_F(DocumentsWatchTest, WhatIsNoDocumentIsDroppedWithALine) {
  WriteFile("archive/CHG-1.json", "{");
  WriteFile("archive/notes.txt", "not a document");
  WriteFile("archive/CHG-2.json", Change("CHG-2"));
  EXPECT_TRUE(Soon([&] { return IsFound("CHG-2", "submitted"); }));
  EXPECT_THAT(door_.log(), HasSubstr("an event was dropped key=archive/CHG-1.json"));
  EXPECT_EQ(door_.CounterOf("tidemark_documents_watch_failures_total"), 0);
}

// Tells what it was given, and then that nothing comes: time passes instead.
class ScriptedWatcher final : public objects::Watcher {
 public:
  ScriptedWatcher(ManualClock* clock, Result<objects::News> first)
      : clock_(*clock), first_(std::move(first)) {}

  Result<objects::News> Wait(std::chrono::milliseconds patience) override {
    if (first_) {
      // After an error nobody asks again.
      if (!first_->has_value()) idle_.count_down();
      return *std::exchange(first_, std::nullopt);
    }
    clock_.Advance(patience);
    // Who waits a minute has nothing to do.
    if (patience < std::chrono::minutes(1)) return objects::News{};
    idle_.count_down();
    stopped_.wait();
    return objects::News{};
  }
  void Stop() override {
    if (!is_stopped_.exchange(true)) stopped_.count_down();
  }
  void WaitUntilIdle() { idle_.wait(); }

 private:
  ManualClock& clock_;
  std::optional<Result<objects::News>> first_;
  std::atomic<bool> is_stopped_ = false;
  std::latch idle_{1};
  std::latch stopped_{1};
};

class ScriptedWatchTest : public ::testing::Test {
 protected:
  void Start(Result<objects::News> first) {
    documents_ = documents::Documents::Open({}, {.tables = &tables_,
                                                 .objects = &objects_,
                                                 .clock = &clock_,
                                                 .pauser = &pauser_,
                                                 .random = &random_})
                     .value();
    watcher_.emplace(&clock_, std::move(first));
    watch_.emplace("ccoe-change-metadata", api::DocumentsWatchParts{.documents = documents_.get(),
                                                                    .watcher = &*watcher_,
                                                                    .clock = &clock_,
                                                                    .logger = &logger_,
                                                                    .metrics = &metrics_});
    watch_->Run();
  }
  void Upload(const std::string& id) {
    const std::string json = fmt::format(
        R"({{"object_type":"change","changeId":"{}","changeTitle":"A change","createdAt":{}}})", id,
        clock_.NowSeconds());
    ASSERT_TRUE(objects_.Put({.key = "archive/" + id + ".json", .bytes = json}));
  }
  bool IsCached(const std::string& id) {
    const auto reply = documents_->Get(documents_->NewContext(), id);
    return reply && reply->source == documents::ReadSource::kCache;
  }

  ManualClock clock_;
  SeededRandom random_{1};
  documents::SystemPauser pauser_;
  TempFolder folder_;
  std::unique_ptr<embedded::EmbeddedTables> stored_ =
      embedded::EmbeddedTables::Open({.folder = folder_.path() + "/data", .background = false})
          .value();
  FaultyTables tables_{stored_.get()};
  MemoryObjects objects_;
  Metrics metrics_;
  LogCapture log_;
  Logger logger_{{}, clock_, &log_};
  std::unique_ptr<documents::Documents> documents_;
  std::optional<ScriptedWatcher> watcher_;
  std::optional<api::DocumentsWatch> watch_;
};

// What the table could not take is not lost, and is not tried without a pause either.
TEST_F(ScriptedWatchTest, AFileThatCameWhileTheTableWasAwayIsFoundLater) {
  Upload("CHG-1");
  const auto begin = clock_.Monotonic();
  tables_.decide = [&](Operation operation) -> std::optional<Fault> {
    const bool is_away = clock_.Monotonic() < begin + std::chrono::seconds(5);
    if (is_away && operation == Operation::kGet) return Denied();
    return std::nullopt;
  };
  Start(objects::News{.keys = {"archive/CHG-1.json"}});
  watcher_->WaitUntilIdle();
  EXPECT_TRUE(IsCached("CHG-1"));
  EXPECT_THAT(metrics_.Expose(), AllOf(HasSubstr("tidemark_documents_watch_failures_total 3\n"),
                                       HasSubstr("tidemark_documents_watch_changes_total 1\n")));
}

// When some changes were missed, everything is compared, also what nobody named.
TEST_F(ScriptedWatchTest, WhatWasMissedIsFoundByALookAtAll) {
  Upload("CHG-1");
  Upload("CHG-2");
  Start(objects::News{.keys = {"archive/CHG-1.json"}, .all = true});
  watcher_->WaitUntilIdle();
  EXPECT_TRUE(IsCached("CHG-1"));
  EXPECT_TRUE(IsCached("CHG-2"));
  EXPECT_THAT(metrics_.Expose(), HasSubstr("tidemark_documents_watch_overflows_total 1\n"));
}

TEST_F(ScriptedWatchTest, WhatIsNotWatchedIsSaid) {
  Start(objects::News{.problems = {"the folder is one too many"}});
  watcher_->WaitUntilIdle();
  EXPECT_THAT(log_.text(), HasSubstr("the folder is one too many"));
  EXPECT_THAT(metrics_.Expose(), HasSubstr("tidemark_documents_watch_failures_total 1\n"));
}

TEST_F(ScriptedWatchTest, AWatcherThatFailsIsSaid) {
  Start(Error{ErrorCode::kUnavailable, "the kernel is tired"});
  watcher_->WaitUntilIdle();
  watch_->Stop();
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("not noticed any more"), HasSubstr("kernel is tired")));
}

}  // namespace
}  // namespace tidemark::testing
