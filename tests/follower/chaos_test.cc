// Followers with all kinds of failures at once.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/follower/follower_stage.h"
#include "tests/support/long_run.h"

namespace tidemark::tables {
namespace {

// Several followers die, pause, lose replies and lose their lease while items are written. Every
// record must be delivered, and first deliveries must be in order. Only the owner of the row may
// begin a record, and the position never goes back.
class FollowerChaos : public FollowerStage {
 protected:
  struct Member {
    std::unique_ptr<testing::ProcessRuntime> process;
    std::unique_ptr<Follower> follower;
    std::string nonce;
  };

  void Run(uint64_t seed) {
    chance_ = std::make_unique<SeededRandom>(seed);
    tables_.on_put = [this](const PutRequest& request) { return PutWithLuck(request); };
    std::vector<Member> members(3);
    for (int turn = 0; turn < 300; ++turn) {
      if (Happens(3)) Put({fmt::format("{:06}", written_++)});
      clock_.Advance(std::chrono::seconds(chance_->Below(12)));
      size_t chosen = chance_->Below(members.size());
      if (!members[chosen].follower || Happens(20)) members[chosen] = OpenMember();
      Act(members, chosen, Happens(8) ? &members[(chosen + 1) % members.size()] : nullptr);
      CheckPosition();
    }
    tables_.on_put = nullptr;
    clock_.Advance(std::chrono::seconds(kLeaseSeconds));
    Follower last = Open();
    StepToEnd(last);
    ASSERT_TRUE(last.Stop());
    CheckDelivered();
  }

  bool Happens(uint64_t one_in) { return chance_->Below(one_in) == 0; }

  Member OpenMember() {
    // Uses the same seed twice, so that the test knows the nonce of the follower.
    uint64_t seed = chance_->Next();
    std::string nonce = SeededRandom(seed).Hex(16);
    auto process = std::make_unique<testing::ProcessRuntime>(clock_, &clock_, seed);
    auto opened = Follower::Open(
        tables_, process->runtime(),
        {.consumer = "reader", .table = kTable, .lease_seconds = kLeaseSeconds, .page = 3});
    CHECK(opened.has_value());
    return {std::move(process), std::make_unique<Follower>(*std::move(opened)), nonce};
  }

  Result<WriteReply> PutWithLuck(const PutRequest& request) {
    uint64_t luck = chance_->Below(10);
    if (luck == 0) return Unavailable();
    if (luck == 1) return Unknown();
    Result<WriteReply> reply = tables_.inner().Put(request);
    return luck == 2 ? Result<WriteReply>(Unknown()) : reply;
  }

  // Runs a step of one member. `rival`, if given, takes over in the middle of its first record.
  void Act(std::vector<Member>& members, size_t chosen, Member* rival) {
    Member& member = members[chosen];
    if (Happens(30)) {
      (void)member.follower->Stop();
      return;
    }
    // Steps may fail here; the error is ignored.
    (void)member.follower->Step([&, this](const StreamRecord& record) -> Status {
      EXPECT_EQ(*Row().Find("owner")->As<std::string>(), member.nonce);
      EXPECT_LT(clock_.NowSeconds(), RowInt("lease_end"));
      clock_.Advance(std::chrono::seconds(chance_->Below(20)));
      if (Member* taker = std::exchange(rival, nullptr); taker && taker->follower) {
        clock_.Advance(std::chrono::seconds(kLeaseSeconds));
        Act(members, static_cast<size_t>(taker - members.data()), nullptr);
      }
      if (Happens(10)) return Invalid("not now");
      handled_.push_back(IdOf(record));
      return Done{};
    });
  }

  void CheckPosition() {
    auto row = store_.tables->Get({.table = kStateTable, .key = {{"consumer", "reader"}}});
    ASSERT_TRUE(row);
    const item::Value* sequence = *row ? (*row)->Find("sequence") : nullptr;
    if (!sequence) return;
    EXPECT_GE(*sequence->As<std::string>(), position_);
    position_ = *sequence->As<std::string>();
  }

  void CheckDelivered() {
    Handled first;
    std::set<std::string> seen;
    for (const std::string& id : handled_) {
      if (seen.insert(id).second) first.push_back(id);
    }
    EXPECT_TRUE(std::is_sorted(first.begin(), first.end()));
    EXPECT_EQ(first.size(), static_cast<size_t>(written_));
    EXPECT_EQ(RowInt("gaps"), 0);
  }

  std::unique_ptr<SeededRandom> chance_;
  int written_ = 0;
  std::string position_;
};

INSTANTIATE_TEST_SUITE_P(Stores, FollowerChaos,
                         ::testing::Values(StoreKind::kModel, StoreKind::kEmbedded), NameOfKind);

TEST_P(FollowerChaos, LosesNothingAndKeepsTheOrder) {
  int runs = testing::AmountOf({.usual = 20, .release = 1'000});
  for (int seed = 0; seed < runs && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Run(static_cast<uint64_t>(seed));
  }
}

}  // namespace
}  // namespace tidemark::tables
