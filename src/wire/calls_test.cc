#include "wire/calls.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/forwarding_tables.h"
#include "tests/support/manual_time.h"

namespace tidemark::wire {
namespace {

// Tables whose requests wait until the test answers them. Every other call is a mistake.
class HeldTables final : public testing::ForwardingTables {
 public:
  HeldTables() : ForwardingTables(this) {}

  using Tables::Submit;
  Later<tables::WriteReply> Submit(WriteRequest /*request*/,
                                   std::optional<Deadline> deadline) override {
    has_deadline = deadline.has_value();
    return Hold<tables::WriteReply>();
  }
  Later<tables::BatchWriteReply> Submit(tables::BatchWriteRequest /*request*/,
                                        std::optional<Deadline> deadline) override {
    has_deadline = deadline.has_value();
    return Hold<tables::BatchWriteReply>();
  }
  Later<tables::TransactWriteReply> Submit(tables::TransactWriteRequest /*request*/,
                                           std::optional<Deadline> deadline) override {
    has_deadline = deadline.has_value();
    return Hold<tables::TransactWriteReply>();
  }

  Later<tables::Page> Submit(tables::ScanRequest /*request*/,
                             std::optional<Deadline> deadline) override {
    has_deadline = deadline.has_value();
    return Hold<tables::Page>();
  }
  Later<tables::BatchGetReply> Submit(tables::BatchGetRequest /*request*/,
                                      std::optional<Deadline> deadline) override {
    has_deadline = deadline.has_value();
    return Hold<tables::BatchGetReply>();
  }
  Later<tables::TransactGetReply> Submit(tables::TransactGetRequest /*request*/,
                                         std::optional<Deadline> deadline) override {
    has_deadline = deadline.has_value();
    return Hold<tables::TransactGetReply>();
  }
  Later<tables::RecordsReply> Submit(tables::RecordsRequest /*request*/,
                                     std::optional<Deadline> deadline) override {
    has_deadline = deadline.has_value();
    return Hold<tables::RecordsReply>();
  }

  // The form that blocks.
  Result<tables::BatchGetReply> BatchGet(const tables::BatchGetRequest& /*request*/) override {
    return Error{ErrorCode::kInternal, "the thread would be held"};
  }

  std::function<void()> answer;  // Answers the request that waits.
  bool has_deadline = false;     // Whether it has one.

 private:
  template <typename Reply>
  Later<Reply> Hold() {
    auto [promise, later] = MakeLater<Reply>();
    auto held = std::make_shared<Promise<Reply>>(std::move(promise));
    answer = [held] { held->Fulfil(Reply{}); };
    return std::move(later);
  }
};

// The thread that makes a request is free while the disk works. The tables decide how many large
// reads are made at once, and so how much memory they take: the threads of a server are many.
TEST(CallsTest, RequestsAboutItemsHoldNoThread) {
  const std::string key = R"("TableName":"t","Key":{"id":{"S":"a"}})";
  const std::string item = R"("TableName":"t","Item":{"id":{"S":"a"}})";
  for (const auto& [name, text] : std::initializer_list<std::pair<const char*, std::string>>{
           {"PutItem", "{" + item + "}"},
           {"UpdateItem", "{" + key + "}"},
           {"DeleteItem", "{" + key + "}"},
           {"BatchWriteItem",
            R"({"RequestItems":{"t":[{"DeleteRequest":{"Key":{"id":{"S":"a"}}}}]}})"},
           {"TransactWriteItems", R"({"TransactItems":[{"Put":{)" + item + "}}]}"},
           {"Scan", R"({"TableName":"t"})"},
           {"GetItem", "{" + key + R"(,"ReturnConsumedCapacity":"TOTAL"})"},
           {"BatchGetItem", R"({"RequestItems":{"t":{"Keys":[{"id":{"S":"a"}}]}}})"},
           {"TransactGetItems", R"({"TransactItems":[{"Get":{)" + key + "}}]}"},
           {"GetRecords", R"({"ShardIterator":"i"})"}}) {
    SCOPED_TRACE(name);
    HeldTables tables;
    const auto document = JsonDocument::Parse(text);
    EXPECT_FALSE(FindCall(name)->blocks);
    const Call call = FindCall(name)->decode(document->root(), Layer::kOlder).value();
    std::optional<int> status;
    const ManualClock clock;
    call.make(tables, Deadline::After(clock, std::chrono::seconds(1)))
        .Then([&](Result<Message> reply) { status = reply->status; });
    ASSERT_TRUE(tables.answer != nullptr);
    EXPECT_TRUE(tables.has_deadline);
    EXPECT_EQ(status, std::nullopt);
    tables.answer();
    EXPECT_EQ(status, 200);
  }
}

// A key that only reads may not store a token. SDKs send one with every transaction, also of reads,
// where it is not kept.
TEST(CallsTest, ATransactionOfChecksStoresItsToken) {
  const auto stores_token = [](const char* statement) {
    const auto body = JsonDocument::Parse(fmt::format(
        R"({{"ClientRequestToken":"t","TransactStatements":[{{"Statement":"{}"}}]}})", statement));
    return FindCall("ExecuteTransaction")->decode(body->root(), Layer::kOlder)->stores_token;
  };
  EXPECT_TRUE(stores_token("EXISTS(SELECT * FROM things WHERE id = 'a')"));
  EXPECT_FALSE(stores_token("SELECT * FROM things WHERE id = 'a'"));
}

}  // namespace
}  // namespace tidemark::wire
