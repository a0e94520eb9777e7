// Transactions: all or nothing, with the reasons, and once for each token.
#include "tests/contract/contract.h"

namespace tidemark::contract {
namespace {

using tables::CancellationCode;
using tables::ConditionCheck;
using tables::DeleteRequest;
using tables::OnConditionFailure;
using tables::PutRequest;
using tables::TransactAction;
using tables::TransactOutcome;
using tables::TransactWriteReply;
using tables::UpdateRequest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TransactContract : public Contract {
 protected:
  TransactContract() {
    Create(Users());
    Create(Events());
  }
  static UpdateRequest Increment(const std::string& id) {
    return {
        .table = "users", .key = User(id), .update = "ADD n :one", .values = {{":one", Num(1)}}};
  }
  static std::vector<CancellationCode> Codes(const TransactWriteReply& reply) {
    std::vector<CancellationCode> codes;
    for (const auto& reason : reply.reasons) codes.push_back(reason.code);
    return codes;
  }
  TransactWriteReply Write(std::vector<TransactAction> actions,
                           std::optional<std::string> token = std::nullopt) {
    return Must(tables().TransactWrite({.actions = std::move(actions), .token = std::move(token)}));
  }
};
INSTANTIATE_TEST_SUITE_P(Every, TransactContract, ::testing::ValuesIn(Implementations()), NameOf);

TEST_P(TransactContract, AppliesEveryKindOfAction) {
  Put("users", {{"id", "there"}, {"n", Num(1)}});
  Put("users", User("old"));
  const TransactWriteReply reply = Write(
      {ConditionCheck{.table = "users",
                      .key = User("there"),
                      .condition = "n = :one",
                      .values = {{":one", Num(1)}}},
       PutRequest{.table = "events", .item = Event("r", 1)}, Increment("count"),
       DeleteRequest{.table = "users", .key = User("old"), .condition = "attribute_exists(id)"}});
  EXPECT_EQ(reply.outcome, TransactOutcome::kApplied);
  EXPECT_FALSE(reply.replayed);
  EXPECT_EQ(Get("events", Event("r", 1)), Event("r", 1));
  EXPECT_EQ(Get("users", User("count")), (Item{{"id", "count"}, {"n", Num(1)}}));
  EXPECT_EQ(Get("users", User("old")), std::nullopt);
  EXPECT_EQ(Get("users", User("there")), (Item{{"id", "there"}, {"n", Num(1)}}));
}

TEST_P(TransactContract, CancelsAsAWholeWithReasonsInOrder) {
  Put("users", {{"id", "a"}, {"n", Num(1)}});
  const tables::Values two{{":two", Num(2)}};
  const TransactWriteReply reply = Write({PutRequest{.table = "users", .item = User("fresh")},
                                          ConditionCheck{.table = "users",
                                                         .key = User("a"),
                                                         .condition = "n = :two",
                                                         .values = two,
                                                         .on_failure = OnConditionFailure::kAllOld},
                                          Increment("b"),
                                          PutRequest{.table = "users",
                                                     .item = User("c"),
                                                     .condition = "attribute_exists(id)",
                                                     .on_failure = OnConditionFailure::kAllOld}});
  EXPECT_EQ(reply.outcome, TransactOutcome::kCancelled);
  ASSERT_EQ(reply.reasons.size(), 4U);
  EXPECT_THAT(Codes(reply),
              ElementsAre(CancellationCode::kNone, CancellationCode::kConditionalCheckFailed,
                          CancellationCode::kNone, CancellationCode::kConditionalCheckFailed));
  EXPECT_THAT(reply.reasons[0].message, IsEmpty());
  EXPECT_EQ(reply.reasons[1].message, "The conditional request failed");
  EXPECT_EQ(reply.reasons[1].item, (Item{{"id", "a"}, {"n", Num(1)}}));
  EXPECT_EQ(reply.reasons[3].item, std::nullopt);
  EXPECT_EQ(ScanAll({.table = "users"}).size(), 1U);
}

TEST_P(TransactContract, EveryKindOfActionCanCancel) {
  Put("users", User("a"));
  const std::string condition = "attribute_exists(nothing)";
  const std::vector<TransactAction> failing{
      ConditionCheck{.table = "users", .key = User("a"), .condition = condition},
      PutRequest{.table = "users", .item = {{"id", "a"}, {"n", Num(1)}}, .condition = condition},
      UpdateRequest{.table = "users",
                    .key = User("a"),
                    .update = "SET n = :n",
                    .condition = condition,
                    .values = {{":n", Num(1)}}},
      DeleteRequest{.table = "users", .key = User("a"), .condition = condition}};
  for (const TransactAction& action : failing) {
    const TransactWriteReply reply =
        Write({PutRequest{.table = "users", .item = User("b")}, action});
    EXPECT_EQ(reply.outcome, TransactOutcome::kCancelled);
    ASSERT_EQ(reply.reasons.size(), 2U);
    EXPECT_THAT(Codes(reply),
                ElementsAre(CancellationCode::kNone, CancellationCode::kConditionalCheckFailed));
    EXPECT_EQ(reply.reasons[1].item, std::nullopt);
  }
  EXPECT_THAT(ScanAll({.table = "users"}), ElementsAre(User("a")));
}

// A mistake that depends on the stored item cancels the transaction. A mistake in the request
// itself is an error.
TEST_P(TransactContract, AnUpdateThatCannotBeAppliedCancels) {
  const TransactWriteReply reply = Write(
      {PutRequest{.table = "users", .item = User("b")}, UpdateRequest{.table = "users",
                                                                      .key = User("a"),
                                                                      .update = "SET n = n + :n",
                                                                      .values = {{":n", Num(1)}}}});
  EXPECT_EQ(reply.outcome, TransactOutcome::kCancelled);
  EXPECT_THAT(Codes(reply),
              ElementsAre(CancellationCode::kNone, CancellationCode::kValidationError));
  EXPECT_THAT(reply.reasons[1].message, HasSubstr("does not exist in the item"));
  EXPECT_THAT(ScanAll({.table = "users"}), IsEmpty());
}

TEST_P(TransactContract, AKeyThatDoesNotMatchCancels) {
  const TransactWriteReply reply =
      Write({PutRequest{.table = "users", .item = User("b")},
             DeleteRequest{.table = "users", .key = {{"id", Num(1)}}}});
  EXPECT_EQ(reply.outcome, TransactOutcome::kCancelled);
  EXPECT_THAT(Codes(reply),
              ElementsAre(CancellationCode::kNone, CancellationCode::kValidationError));
  EXPECT_THAT(reply.reasons[1].message,
              HasSubstr("The provided key element does not match the schema"));
  EXPECT_THAT(ScanAll({.table = "users"}), IsEmpty());
}

TEST_P(TransactContract, RefusesOneItemTwice) {
  const std::string text = "Transaction request cannot include multiple operations on one item";
  const ConditionCheck check{
      .table = "users", .key = User("a"), .condition = "attribute_not_exists(id)"};
  EXPECT_THAT(tables().TransactWrite(
                  {.actions = {PutRequest{.table = "users", .item = User("a")}, Increment("a")}}),
              Fails(ErrorCode::kInvalid, text));
  EXPECT_THAT(
      tables().TransactWrite(
          {.actions = {check, PutRequest{.table = "users", .item = {{"id", "a"}, {"n", Num(1)}}}}}),
      Fails(ErrorCode::kInvalid, text));
  EXPECT_THAT(tables().TransactGet({.gets = {{.table = "users", .key = User("a")},
                                             {.table = "users", .key = User("a")}}}),
              Fails(ErrorCode::kInvalid, text));
  EXPECT_THAT(ScanAll({.table = "users"}), IsEmpty());
}

TEST_P(TransactContract, RefusesWrongRequests) {
  const PutRequest first{.table = "users", .item = User("first")};
  EXPECT_THAT(tables().TransactWrite({}), FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(
      tables().TransactWrite({.actions = {first, PutRequest{.table = "gone", .item = User("a")}}}),
      Fails(ErrorCode::kNotFound, "Requested resource not found"));
  EXPECT_THAT(
      tables().TransactWrite(
          {.actions = {first, PutRequest{.table = "gone", .item = User("a"), .condition = "x ="}}}),
      FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().TransactWrite(
                  {.actions = {first, PutRequest{.table = "users",
                                                 .item = {{"id", "a"}, {"data", Text(409'600)}}}}}),
              Fails(ErrorCode::kInvalid, "Item size has exceeded the maximum allowed size"));
  EXPECT_THAT(tables().TransactWrite({.actions = {first}, .token = ""}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().TransactWrite({.actions = {first}, .token = std::string(37, 't')}),
              FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(ScanAll({.table = "users"}), IsEmpty());
}

TEST_P(TransactContract, TakesUpToAHundredActions) {
  tables::TransactWriteRequest write;
  tables::TransactGetRequest read;
  for (int i = 0; i < 100; ++i) {
    write.actions.push_back(Increment(std::to_string(i)));
    read.gets.push_back({.table = "users", .key = User(std::to_string(i))});
  }
  EXPECT_EQ(Must(tables().TransactWrite(write)).outcome, TransactOutcome::kApplied);
  EXPECT_EQ(Must(tables().TransactGet(read)).items.size(), 100U);
  EXPECT_EQ(ScanAll({.table = "users"}).size(), 100U);
  write.actions.push_back(Increment("100"));
  read.gets.push_back({.table = "users", .key = User("100")});
  const std::string text = "Member must have length less than or equal to 100";
  EXPECT_THAT(tables().TransactWrite(write), Fails(ErrorCode::kInvalid, text));
  EXPECT_THAT(tables().TransactGet(read), Fails(ErrorCode::kInvalid, text));
  EXPECT_EQ(ScanAll({.table = "users"}).size(), 100U);
}

TEST_P(TransactContract, TakesUpToFourMegabytes) {
  std::vector<TransactAction> actions;
  for (int i = 0; i < 10; ++i)
    actions.push_back(
        PutRequest{.table = "users", .item = {{"id", std::to_string(i)}, {"data", Text(409'000)}}});
  EXPECT_EQ(Write(actions).outcome, TransactOutcome::kApplied);
  actions.push_back(
      PutRequest{.table = "users", .item = {{"id", "more"}, {"data", Text(409'000)}}});
  EXPECT_THAT(tables().TransactWrite({.actions = actions}), FailsWith(ErrorCode::kInvalid));
  EXPECT_EQ(ScanAll({.table = "users"}).size(), 10U);
}

// ---- Tokens ----

TEST_P(TransactContract, ATokenIsAppliedOnce) {
  EXPECT_FALSE(Write({Increment("a")}, "token").replayed);
  clock().Advance(std::chrono::minutes(9));
  const TransactWriteReply again = Write({Increment("a")}, "token");
  EXPECT_EQ(again.outcome, TransactOutcome::kApplied);
  EXPECT_EQ(again.replayed, TellsReplays());
  EXPECT_EQ(Get("users", User("a")), (Item{{"id", "a"}, {"n", Num(1)}}));
  // A request with another token, or without one, is a new request.
  EXPECT_FALSE(Write({Increment("a")}, "other").replayed);
  EXPECT_FALSE(Write({Increment("a")}).replayed);
  EXPECT_EQ(Get("users", User("a")), (Item{{"id", "a"}, {"n", Num(3)}}));
}

TEST_P(TransactContract, ATokenIsForgottenAfterTenMinutes) {
  Write({Increment("a")}, "token");
  clock().Advance(std::chrono::seconds(601));
  EXPECT_FALSE(Write({Increment("a")}, "token").replayed);
  EXPECT_EQ(Get("users", User("a")), (Item{{"id", "a"}, {"n", Num(2)}}));
  // After the token has expired its use is a new request too, before and after housekeeping.
  clock().Advance(std::chrono::seconds(601));
  Maintain();
  EXPECT_FALSE(Write({Increment("a")}, "token").replayed);
}

TEST_P(TransactContract, HousekeepingKeepsLiveTokens) {
  Write({Increment("a")}, "token");
  clock().Advance(std::chrono::minutes(9));
  Maintain();
  EXPECT_EQ(Write({Increment("a")}, "token").replayed, TellsReplays());
}

TEST_P(TransactContract, ATokenBelongsToItsActions) {
  Write({Increment("a")}, "token");
  const TransactWriteReply other = Write({Increment("b")}, "token");
  EXPECT_EQ(other.outcome, TransactOutcome::kTokenMismatch);
  UpdateRequest by_two = Increment("a");
  by_two.values[":one"] = Num(2);
  EXPECT_EQ(Write({by_two}, "token").outcome, TransactOutcome::kTokenMismatch);
  EXPECT_EQ(Write({Increment("a"), Increment("c")}, "token").outcome,
            TransactOutcome::kTokenMismatch);
  EXPECT_THAT(ScanAll({.table = "users"}), ElementsAre(Item{{"id", "a"}, {"n", Num(1)}}));
}

// A cancelled transaction has not been applied: the same request may succeed later.
TEST_P(TransactContract, ACancelledTokenMayBeUsedAgain) {
  const PutRequest put{
      .table = "users", .item = {{"id", "a"}, {"n", Num(2)}}, .condition = "attribute_exists(id)"};
  EXPECT_EQ(Write({put}, "token").outcome, TransactOutcome::kCancelled);
  Put("users", User("a"));
  const TransactWriteReply later = Write({put}, "token");
  EXPECT_EQ(later.outcome, TransactOutcome::kApplied);
  EXPECT_FALSE(later.replayed);
  EXPECT_EQ(Get("users", User("a")), put.item);
}

// A replay is recognised although its condition would no longer hold.
TEST_P(TransactContract, AReplayIsNotEvaluatedAgain) {
  const PutRequest put{
      .table = "users", .item = User("a"), .condition = "attribute_not_exists(id)"};
  EXPECT_FALSE(Write({put}, "token").replayed);
  const TransactWriteReply again = Write({put}, "token");
  EXPECT_EQ(again.outcome, TransactOutcome::kApplied);
  EXPECT_EQ(again.replayed, TellsReplays());
}

// ---- Reading ----

TEST_P(TransactContract, GetsManyAtOneMoment) {
  Put("users", {{"id", "a"}, {"n", Num(1)}, {"x", Num(2)}});
  Put("events", Event("r", 1));
  const tables::TransactGetReply reply = Must(
      tables().TransactGet({.gets = {{.table = "events", .key = Event("r", 1)},
                                     {.table = "users", .key = User("absent")},
                                     {.table = "users", .key = User("a"), .projection = "n"}}}));
  EXPECT_FALSE(reply.cancelled);
  EXPECT_THAT(reply.items, ElementsAre(Event("r", 1), std::nullopt, Item{{"n", Num(1)}}));
}

TEST_P(TransactContract, RefusesWrongReads) {
  EXPECT_THAT(tables().TransactGet({}), FailsWith(ErrorCode::kInvalid));
  EXPECT_THAT(tables().TransactGet({.gets = {{.table = "gone", .key = User("a")}}}),
              Fails(ErrorCode::kNotFound, "Requested resource not found"));
  EXPECT_THAT(
      tables().TransactGet({.gets = {{.table = "users", .key = User("a"), .projection = "a..b"}}}),
      FailsWith(ErrorCode::kInvalid));
  const tables::TransactGetReply reply =
      Must(tables().TransactGet({.gets = {{.table = "users", .key = User("a")},
                                          {.table = "users", .key = {{"id", Num(1)}}}}}));
  EXPECT_TRUE(reply.cancelled);
  ASSERT_EQ(reply.reasons.size(), 2U);
  EXPECT_EQ(reply.reasons[0].code, CancellationCode::kNone);
  EXPECT_EQ(reply.reasons[1].code, CancellationCode::kValidationError);
}

}  // namespace
}  // namespace tidemark::contract
