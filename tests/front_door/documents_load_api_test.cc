// Many callers of documents over HTTP, and large documents: nobody waits for another without need,
// and the memory is bounded.
#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "servers/api/documents/json.h"
#include "tests/front_door/documents_api.h"
#include "tests/support/held_objects.h"
#include "tests/support/raw_connection.h"
#include "tests/support/threads.h"

namespace tidemark::testing {
namespace {

using http::Method;

// Holds the first write of the table from now on until it is released. The tables may still call
// `decide` after the test, so they share the state.
class HeldWrite {
 public:
  explicit HeldWrite(FaultyTables* tables) {
    tables->decide = [state = state_](Operation operation) -> std::optional<Fault> {
      if (Writes(operation) && state->is_first.exchange(false)) {
        state->held.count_down();
        state->released.wait();
      }
      return std::nullopt;
    };
  }
  void Await() { state_->held.wait(); }
  void Release() { state_->released.count_down(); }

 private:
  struct State {
    std::atomic<bool> is_first = true;
    std::latch held{1};
    std::latch released{1};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Review: D1
// Many requests that wait for one document hold no worker that others need. The first of them is
// held in the table until the test releases it. So no write of this document may be answered
// before.
TEST_F(DocumentsApiTest, WaitingWritesOfOneDocumentDelayNoOtherRequest) {
  ASSERT_EQ(Put("CHG-2", Change("CHG-2")).status, 200);
  HeldWrite held(&door_.faults());
  std::vector<std::thread> writers;
  std::atomic<int> written = 0;
  for (int i = 0; i < 80; ++i) {
    writers.emplace_back([&] { written += Put("CHG-1", Change("CHG-1")).status == 200 ? 1 : 0; });
  }
  held.Await();
  auto others = std::async(std::launch::async, [&] {
    EXPECT_EQ(Get("/CHG-2").status, 200);
    for (const std::string id : {"CHG-3", "CHG-4", "CHG-5"}) {
      EXPECT_EQ(Put(id, Change(id)).status, 200) << id;
    }
    EXPECT_EQ(door_.Call(Method::kGet, "/healthz").status, 200);
  });
  EXPECT_EQ(others.wait_for(FrontDoor::kLongEnough), std::future_status::ready)
      << "the waiting writes hold all workers";
  EXPECT_EQ(written, 0) << "a write did not wait for the write before it";
  held.Release();
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(written, 80);
}

// Review: D1
// The cache does not have CHG-1. The first reader fills its row, and is held in the table until the
// test releases it. All others wait for this fill, and hold no thread that readers of other
// documents need.
TEST_F(DocumentsApiTest, ReadersThatWaitForOneDocumentDelayNoOtherReader) {
  ASSERT_EQ(Put("CHG-2", Change("CHG-2")).status, 200);
  Upload("CHG-1", Change("CHG-1"));
  Upload("CHG-3", Change("CHG-3"));
  HeldWrite held(&door_.faults());
  constexpr int kReaders = 100;
  std::atomic<int> answered = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] { answered += Get("/CHG-1").status == 200 ? 1 : 0; });
    // The others come while the first one is held.
    if (i == 0) held.Await();
  }
  auto others = std::async(std::launch::async, [&] {
    EXPECT_EQ(TextIn(Get("/CHG-2"), "source"), "cache");
    EXPECT_EQ(TextIn(Get("/CHG-3"), "source"), "object");
    EXPECT_EQ(IdsIn(Get("?beyond=flag")), "CHG-2 CHG-3");
  });
  EXPECT_EQ(others.wait_for(FrontDoor::kLongEnough), std::future_status::ready)
      << "the waiting readers hold all threads";
  EXPECT_EQ(answered, 0);
  held.Release();
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(answered, kReaders);
}

// Review: D1
// Ranges that read the objects may take long. A reader of the cache does not wait for them.
TEST_F(DocumentsApiTest, RangesThatReadObjectsDelayNoReaderOfTheCache) {
  ASSERT_EQ(Put("CHG-1", Change("CHG-1")).status, 200);
  HeldObjects held(&door_.object_faults());
  std::vector<std::thread> callers;
  std::atomic<int> found = 0;
  for (int i = 0; i < 20; ++i) {
    callers.emplace_back([&] { found += IdsIn(Get("")) == "CHG-1" ? 1 : 0; });
  }
  held.Await(1);
  auto reader = std::async(std::launch::async, [&] { return TextIn(Get("/CHG-1"), "source"); });
  EXPECT_EQ(reader.wait_for(FrontDoor::kLongEnough), std::future_status::ready)
      << "the ranges hold the threads of readers";
  EXPECT_EQ(found, 0);
  held.Release();
  EXPECT_EQ(reader.get(), "cache");
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(found, 20);
}

// A hundred writers and a thousand reads at the same time, at default settings: no call fails, and
// no update is lost.
// Spec: 002-72
TEST_F(DocumentsApiTest, ManyCallersAtOnceGetNoErrorAndLoseNoUpdate) {
  constexpr int kWriters = 100;
  constexpr int kReadingThreads = 50;
  constexpr int kDocuments = 20;
  const auto id_of = [](int number) { return fmt::format("CHG-{}", number % kDocuments); };
  const auto numbered = [&](const std::string& id, int64_t version) {
    std::string json = Change(id);
    return json.insert(1, fmt::format(R"("version":{},)", version));
  };
  for (int i = 0; i < kDocuments; ++i) ASSERT_EQ(Put(id_of(i), numbered(id_of(i), 0)).status, 200);
  const auto version_in = [](const http::Response& got) {
    const auto reply = JsonDocument::Parse(got.body);
    return reply->root().Find("document")->Find("version")->AsInt().value_or(-1);
  };
  std::atomic<int> errors = 0;
  RunThreads(kWriters + kReadingThreads, [&](int thread) {
    const std::string id = id_of(thread);
    if (thread >= kWriters) {
      for (int i = 0; i < 20; ++i) errors += Get("/" + id).status == 200 ? 0 : 1;
      return;
    }
    for (int status = 412; status == 412;) {
      const http::Response got = Get("/" + id);
      if (got.status != 200) break;
      const http::Headers expected{{"If-Match", std::string(*got.headers.Find("ETag"))}};
      status = Put(id, numbered(id, version_in(got) + 1), expected).status;
      errors += status == 200 || status == 412 ? 0 : 1;
    }
  });
  EXPECT_EQ(errors, 0);
  for (int i = 0; i < kDocuments; ++i) {
    EXPECT_EQ(version_in(Get("/" + id_of(i))), kWriters / kDocuments) << id_of(i);
  }
}

class LargePagesTest : public DocumentsApiTest {
 protected:
  static constexpr size_t kDocumentBytes = 5 << 20;
  LargePagesTest()
      : DocumentsApiTest([](api::ServiceOptions* options) {
          FrontDoor::WithDocuments(options);
          options->server.limits.max_reply_bytes_per_address = 24 << 20;
        }) {
    for (const char* id : {"CHG-1", "CHG-2", "CHG-3", "CHG-4"}) {
      std::string json = Change(id);
      json.insert(1, fmt::format(R"("plan":"{}",)", std::string(kDocumentBytes, 'x')));
      Upload(id, json);
    }
  }
  // Asks for a page and leaves its connection open for the answer.
  void Ask(RawConnection* connection, const std::string& query) {
    connection->Send(fmt::format("GET {}{} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {}\r\n\r\n",
                                 kDocumentsPath, query, door_.token()));
  }
  http::Response Read(const std::string& query) {
    RawConnection connection(port_);
    Ask(&connection, query);
    RawReply reply = connection.ReadReply();
    return {.status = reply.status, .body = std::move(reply.body)};
  }

  const uint16_t port_ =
      static_cast<uint16_t>(std::stoi(door_.url().substr(door_.url().rfind(':') + 1)));
};

// Review: D5
// A page ends at a number of bytes, and a cursor leads to the rest.
TEST_F(LargePagesTest, APageOfLargeDocumentsEndsAtANumberOfBytes) {
  const http::Response first = Read("?limit=1000");
  EXPECT_LT(first.body.size(), 4 * kDocumentBytes);
  EXPECT_EQ(IdsIn(first), "CHG-1 CHG-2 CHG-3");
  const http::Response second = Read("?limit=1000&cursor=" + TextIn(first, "cursor"));
  EXPECT_EQ(IdsIn(second), "CHG-4");
  EXPECT_EQ(TextIn(second, "cursor"), "no member");
  EXPECT_EQ(Read("/CHG-1").body.size() / kDocumentBytes, 1U);
}

// Review: D5
// Clients that ask for large pages and do not read them cannot exhaust the memory.
TEST_F(LargePagesTest, PagesThatAreNotReadAreBounded) {
  RawConnection slow(port_);
  Ask(&slow, "?limit=1000");
  while (!slow.HasInput()) std::this_thread::yield();
  EXPECT_EQ(Read("?limit=1000").status, 503);
  EXPECT_EQ(Read("?limit=1").status, 200) << "a smaller page is not refused";
  EXPECT_GT(slow.ReadReply().body.size(), 3 * kDocumentBytes);
  EXPECT_EQ(Read("?limit=1000").status, 200);
}

// Review: D5
// All replies with one document share its text, so a thousand readers of 10 MB do not take 10 GB.
TEST(DocumentsJsonTest, RepliesShareTheTextOfADocument) {
  const auto document = documents::Document::Parse(
      R"({"object_type":"change","changeId":"CHG-1","changeTitle":"A","createdAt":1})");
  const documents::ReadReply read{.document = *document, .etag = "e"};
  documents::RangeReply range;
  range.documents.emplace_back(*document);
  for (const auto& parts : {api::ToJson(read), api::ToJson(range)}) {
    EXPECT_EQ(parts.at(1), document->shared_json());
    std::string whole;
    for (const SharedText& part : parts) whole += *part;
    EXPECT_TRUE(JsonDocument::Parse(whole).has_value()) << whole;
  }
}

}  // namespace
}  // namespace tidemark::testing
