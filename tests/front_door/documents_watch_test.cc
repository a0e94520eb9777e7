// Files that other programs write into the folder of objects, and how the running service notices
// them.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "servers/api/documents/watch.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/documents/read_now.h"
#include "tests/front_door/front_door.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/manual_time.h"
#include "tests/support/memory_objects.h"
#include "tests/support/temp_folder.h"

namespace tidemark::testing {
namespace {

using http::Method;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Much longer than any step takes, so that the tests do not fail on a slow machine.
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
  // Asks the cache alone, which knows a file only from the watch.
  std::string Query(const std::string& status) { return Get("?beyond=flag&status=" + status).body; }
  double Changes() { return door_.CounterOf("tidemark_documents_watch_changes_total"); }

  // Repeats until the condition holds.
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

// The folder is new too, because no document was stored before.
TEST_F(DocumentsWatchTest, AFileThatIsCopiedInIsFound) {
  EXPECT_EQ(Get("/CHG-1").status, 404);
  WriteFile("archive/CHG-1.json", Change("CHG-1"));
  EXPECT_TRUE(Soon([&] { return IsFound("CHG-1", "submitted"); }));
  // The watch may report a file in a new folder twice. While the second report is handled, the
  // document is read from the object.
  http::Response got;
  EXPECT_TRUE(Soon([&] {
    got = Get("/CHG-1");
    return got.body.find(R"("source":"cache")") != std::string::npos;
  }));
  EXPECT_THAT(got.body, HasSubstr("CHG-1"));
  // The ETag is only the hash, because the file has no record.
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

// Review: D13
// Neither is opened and closed as a writer does it: truncate changes a file by its path, and makes
// one that is too large without writing it.
TEST_F(DocumentsWatchTest, AFileThatIsTruncatedIsNotServedAnyMore) {
  for (const char* id : {"CHG-1", "CHG-2"}) {
    ASSERT_EQ(door_.Call(Method::kPut, fmt::format("/api/v1/documents/{}", id), Change(id)).status,
              200);
  }
  std::filesystem::resize_file(In("archive/CHG-1.json"), 10);
  std::filesystem::resize_file(In("archive/CHG-2.json"), (16 << 20) + 1);
  EXPECT_TRUE(Soon([&] { return Query("submitted").find("CHG-") == std::string::npos; }));
  const http::Response large = Get("/CHG-2");
  EXPECT_EQ(large.status, 404);
  EXPECT_THAT(large.body, HasSubstr("it has 16777217 bytes, and a document has at most 16777216"));
  EXPECT_EQ(Get("/CHG-1").status, 404);
}

// Working copies and triggers have the same ids, but they are not documents.
TEST_F(DocumentsWatchTest, OtherPrefixesChangeNothing) {
  WriteFile("archive/CHG-1.json", Change("CHG-1"));
  ASSERT_TRUE(Soon([&] { return IsFound("CHG-1", "submitted"); }));
  WriteFile("drafts/CHG-1.json", Change("CHG-1", "draft"));
  WriteFile("customers/hts/CHG-1.json", Change("CHG-1", "draft"));
  std::filesystem::remove(In("customers/hts/CHG-1.json"));
  WriteFile("archive/CHG-2.json", Change("CHG-2"));
  ASSERT_TRUE(Soon([&] { return IsFound("CHG-2", "submitted"); }));
  EXPECT_TRUE(IsFound("CHG-1", "submitted"));
  EXPECT_FALSE(IsFound("CHG-1", "draft"));
  // CHG-1 once or twice, because a file in a new folder may be reported twice, and CHG-2 once. The
  // other prefixes would add three.
  EXPECT_LE(Changes(), 3);
}

// The kernel does not report the files of a folder that is moved away. So all rows are compared
// with the objects.
TEST_F(DocumentsWatchTest, DocumentsInAFolderThatWasMovedAwayAreNotServed) {
  WriteFile("archive/CHG-1.json", Change("CHG-1"));
  ASSERT_TRUE(Soon([&] { return IsFound("CHG-1", "submitted"); }));
  std::filesystem::rename(In("archive"), In("before"));
  WriteFile("archive/CHG-2.json", Change("CHG-2"));
  EXPECT_TRUE(Soon([&] { return !IsFound("CHG-1", "submitted"); }));
  EXPECT_TRUE(Soon([&] { return IsFound("CHG-2", "submitted"); }));
  EXPECT_GE(door_.CounterOf("tidemark_documents_watch_overflows_total"), 1);
}

// A file that is not a document must not delay others.
TEST_F(DocumentsWatchTest, AFileThatIsNotADocumentIsLoggedAndIgnored) {
  WriteFile("archive/CHG-1.json", "{");
  WriteFile("archive/notes.txt", "not a document");
  WriteFile("archive/CHG-2.json", Change("CHG-2"));
  EXPECT_TRUE(Soon([&] { return IsFound("CHG-2", "submitted"); }));
  // The first report of CHG-1 may find the file before its first byte was written. The second
  // report comes when the file is closed, and may be handled after CHG-2.
  const std::string dropped = "an event was dropped key=archive/CHG-1.json";
  EXPECT_TRUE(Soon([&] { return door_.log().find(dropped) != std::string::npos; }));
  EXPECT_EQ(door_.CounterOf("tidemark_documents_watch_failures_total"), 0);
}

// A watcher that returns the given news and then no more: time passes instead. `before`, if set, is
// called before that, and by then the comparison of the start has ended.
class ScriptedWatcher final : public objects::Watcher {
 public:
  ScriptedWatcher(ManualClock* clock, Result<objects::News> first, std::function<void()> before)
      : clock_(*clock), first_(std::move(first)), before_(std::move(before)) {}

  Result<objects::News> Wait(std::chrono::milliseconds patience) override {
    if (before_) {
      if (patience < std::chrono::minutes(1)) return objects::News{};
      std::exchange(before_, {})();
    }
    if (first_) {
      // After an error Wait is not called again.
      if (!first_->has_value()) idle_.count_down();
      return *std::exchange(first_, std::nullopt);
    }
    clock_.Advance(patience);
    // A caller that waits for a minute has nothing else to do.
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
  std::function<void()> before_;
  std::atomic<bool> is_stopped_ = false;
  std::latch idle_{1};
  std::latch stopped_{1};
};

class ScriptedWatchTest : public ::testing::Test {
 protected:
  void Start(Result<objects::News> first, std::function<void()> before = {}) {
    documents_ = documents::Documents::Open({}, &tables_, &objects_, runtime_).value();
    watcher_.emplace(&clock_, std::move(first), std::move(before));
    watch_.emplace("ccoe-change-metadata",
                   api::DocumentsWatchParts{
                       .documents = documents_.get(), .watcher = &*watcher_, .runtime = runtime_});
    watch_->Run();
  }
  void Upload(const std::string& id) {
    const std::string json = fmt::format(
        R"({{"object_type":"change","changeId":"{}","changeTitle":"A change","createdAt":{}}})", id,
        clock_.NowSeconds());
    ASSERT_TRUE(objects_.Put({.key = "archive/" + id + ".json", .bytes = json}));
  }
  bool IsCached(const std::string& id) {
    const auto reply = ReadNow(*documents_, documents_->NewContext(), id);
    return reply && *reply && (*reply)->source == documents::ReadSource::kCache;
  }

  ManualClock clock_;
  SeededRandom random_{1};
  SystemSleeper sleeper_;
  TempFolder folder_;
  std::unique_ptr<embedded::EmbeddedTables> stored_ =
      embedded::EmbeddedTables::Open({.folder = folder_.path() + "/data", .background = false})
          .value();
  FaultyTables tables_{stored_.get()};
  MemoryObjects objects_;
  Metrics metrics_;
  LogCapture log_;
  Logger logger_{{}, clock_, &log_};
  const Runtime runtime_{.clock = clock_,
                         .random = random_,
                         .sleeper = sleeper_,
                         .logger = logger_,
                         .metrics = metrics_};
  std::unique_ptr<documents::Documents> documents_;
  std::optional<ScriptedWatcher> watcher_;
  std::optional<api::DocumentsWatch> watch_;
};

// A change that the table could not store is not lost, and is retried with a pause.
TEST_F(ScriptedWatchTest, AFileThatArrivedDuringAnOutageOfTheTableIsFoundLater) {
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

// When changes were missed, all documents are compared, also those that were not named.
TEST_F(ScriptedWatchTest, AFullComparisonFindsMissedChanges) {
  Start(objects::News{.keys = {"archive/CHG-1.json"}, .all = true}, [&] {
    Upload("CHG-1");
    Upload("CHG-2");
  });
  watcher_->WaitUntilIdle();
  EXPECT_TRUE(IsCached("CHG-1"));
  EXPECT_TRUE(IsCached("CHG-2"));
  EXPECT_THAT(metrics_.Expose(), HasSubstr("tidemark_documents_watch_overflows_total 1\n"));
}

TEST_F(ScriptedWatchTest, AFolderThatIsNotWatchedIsLogged) {
  Start(objects::News{.problems = {"the folder is one too many"}});
  watcher_->WaitUntilIdle();
  EXPECT_THAT(log_.text(), HasSubstr("the folder is one too many"));
  EXPECT_THAT(metrics_.Expose(), HasSubstr("tidemark_documents_watch_failures_total 1\n"));
}

// An exception in this thread must not end the process, and loses no change.
// Review: F14
TEST_F(ScriptedWatchTest, GoesOnAfterAnException) {
  Start(objects::News{}, [&] {
    Upload("CHG-1");
    throw std::runtime_error("no memory for it");
  });
  watcher_->WaitUntilIdle();
  EXPECT_TRUE(IsCached("CHG-1"));
  EXPECT_THAT(log_.text(), HasSubstr("no memory for it"));
}

TEST_F(ScriptedWatchTest, AFailedWatcherIsLogged) {
  Start(Error{ErrorCode::kUnavailable, "the kernel is tired"});
  watcher_->WaitUntilIdle();
  watch_->Stop();
  EXPECT_THAT(log_.text(), AllOf(HasSubstr("not noticed any more"), HasSubstr("kernel is tired")));
}

}  // namespace
}  // namespace tidemark::testing
