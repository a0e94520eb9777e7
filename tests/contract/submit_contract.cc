// Operations for callers that do not block: they give the same answers.
#include <atomic>

#include "tests/contract/contract.h"

namespace tidemark::contract {
namespace {

class SubmitContract : public Contract {
 protected:
  SubmitContract() {
    Create(Events());
    for (int at = 1; at <= 3; ++at) Put("events", Event("r", at));
  }
};
INSTANTIATE_TEST_SUITE_P(Every, SubmitContract, ::testing::ValuesIn(Implementations()), NameOf);

TEST_P(SubmitContract, GetsAnItemOrItsAbsence) {
  const tables::GetRequest request{.table = "events", .key = Event("r", 2)};
  EXPECT_EQ(Must(tables().Submit(request, std::nullopt).Wait()), Event("r", 2));
  const tables::GetRequest absent{.table = "events", .key = Event("r", 9)};
  EXPECT_EQ(Must(tables().Submit(absent, std::nullopt).Wait()), std::nullopt);
  const tables::GetRequest missing{.table = "missing", .key = User("a")};
  EXPECT_THAT(tables().Submit(missing, std::nullopt).Wait(), FailsWith(ErrorCode::kNotFound));
}

TEST_P(SubmitContract, QueriesAPage) {
  tables::QueryRequest request{.table = "events", .partition = item::Attribute{"room", "r"}};
  request.limit = 2;
  const auto page = Must(tables().Submit(request, std::nullopt).Wait());
  EXPECT_THAT(Column(page.items, "at"), ::testing::ElementsAre(Num(1), Num(2)));
  EXPECT_EQ(page.last, Event("r", 2));
  request.table = "missing";
  EXPECT_THAT(tables().Submit(request, std::nullopt).Wait(), FailsWith(ErrorCode::kNotFound));
}

// A read that is submitted after a write was answered sees that write.
TEST_P(SubmitContract, ReadsWhatWasWrittenBefore) {
  auto read =
      tables()
          .Submit(tables::PutRequest{.table = "events", .item = Event("r", 4)}, std::nullopt)
          .Then([&](const Result<tables::WriteReply>&) {
            return tables().Submit(tables::GetRequest{.table = "events", .key = Event("r", 4)},
                                   std::nullopt);
          });
  EXPECT_EQ(Must(read.Wait()), Event("r", 4));
}

TEST_P(SubmitContract, AnswersManyReadsAtOnce) {
  std::vector<Later<std::optional<Item>>> reads;
  for (int i = 0; i < 200; ++i) {
    reads.push_back(tables().Submit(
        tables::GetRequest{.table = "events", .key = Event("r", 1 + i % 3)}, std::nullopt));
  }
  for (int i = 0; i < 200; ++i) EXPECT_EQ(Must(reads[i].Wait()), Event("r", 1 + i % 3));
}

}  // namespace
}  // namespace tidemark::contract
