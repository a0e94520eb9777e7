// Existence from Slack's lists: what they answer, what they never answer, and how they are read.
#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/gate/list_walker.h"
#include "apps/gate/roster.h"
#include "tests/gate/stage.h"

namespace tidemark::gate {

using namespace testing;
using slack::CallError;
using slack::CallFailure;
using slack::Conversation;
using slack::Person;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Lists that the test writes. Each call takes the next answer; without one it is an empty list.
class ScriptedLists final : public slack::Lists {
 public:
  slack::LaterCall<slack::ListPage<Conversation>> ListConversations(
      const Secret&, slack::ConversationType type, const slack::ListRequest& request,
      const Deadline&) override {
    if (request.team.starts_with(hanging)) return Hang(request, &hung_channels);
    using Page = slack::ListPage<Conversation>;
    if (type == slack::ConversationType::kPrivate) return slack::CallResult<Page>(Page{});
    channel_requests.push_back(request);
    return Next(&channels);
  }
  slack::LaterCall<slack::ListPage<Person>> ListUsers(const Secret&,
                                                      const slack::ListRequest& request,
                                                      const Deadline&) override {
    if (request.team.starts_with(hanging)) return Hang(request, &hung_users);
    user_requests.push_back(request);
    return Next(&users);
  }

  std::deque<slack::CallResult<slack::ListPage<Conversation>>> channels;
  std::deque<slack::CallResult<slack::ListPage<Person>>> users;
  std::vector<slack::ListRequest> channel_requests;
  std::vector<slack::ListRequest> user_requests;
  // The teams whose ids begin so get no answer, until the test gives one.
  std::string hanging = "none";
  std::vector<Promise<slack::CallResult<slack::ListPage<Conversation>>>> hung_channels;
  std::vector<Promise<slack::CallResult<slack::ListPage<Person>>>> hung_users;
  std::vector<std::string> hung_cursors;
  size_t hung() const { return hung_channels.size() + hung_users.size(); }

 private:
  template <typename T>
  Later<T> Hang(const slack::ListRequest& request, std::vector<Promise<T>>* hung) {
    hung_cursors.push_back(request.cursor);
    auto [promise, later] = MakeLater<T>();
    hung->push_back(std::move(promise));
    return std::move(later);
  }
  template <typename T>
  T Next(std::deque<T>* answers) {
    if (answers->empty()) return T();
    T answer = std::move(answers->front());
    answers->pop_front();
    return answer;
  }
};

class ListsTest : public ::testing::Test {
 protected:
  using People = slack::ListPage<Person>;
  using Channels = slack::ListPage<Conversation>;

  // Both lists have the user and the channel of the stage.
  void ListBoth() {
    lists_.users = {People{.entries = {{.id = kUser}}}};
    lists_.channels = {
        Channels{.entries = {{.id = kChannel, .name = "general", .is_public = true}}}};
    Walk();
  }
  void Walk() {
    roster_.Want(Triple().team);
    walker_.Step(seconds(0));
  }
  Verdict Check(const gate::Subject& subject = Triple()) { return existence_->Check(subject); }
  std::vector<std::string> AskedIds() {
    std::vector<std::string> ids;
    for (const slack::Lookup& lookup : stage_.slack.asked()) ids.push_back(lookup.id);
    return ids;
  }

  Stage stage_;
  Roster roster_{&stage_.clock};
  Runtime runtime_ = stage_.AnotherRuntime();
  std::unique_ptr<Existence> existence_ = std::make_unique<Existence>(
      ExistenceOptions{}, &stage_.tables, &stage_.slack, &stage_.tokens, runtime_, &roster_);
  ScriptedLists lists_;
  ListWalker walker_{{.lists = &lists_,
                      .tokens = &stage_.tokens,
                      .roster = &roster_,
                      .existence = existence_.get()},
                     runtime_};
};

// Review: A16
TEST_F(ListsTest, WhatAListShowsNeedsNoLookUp) {
  ListBoth();
  EXPECT_EQ(Check().decision, Decision::kAllow);
  EXPECT_TRUE(Check().in_public_channel);
  EXPECT_THAT(AskedIds(), ElementsAre(kTeam)) << "no list names the team";
  EXPECT_TRUE(stage_.Row(kTripleKey)) << "stored like the answers to look-ups";
}

// A new user is in no list yet, and people of other workspaces never are.
TEST_F(ListsTest, AbsenceFromAListIsNoProof) {
  ListBoth();
  EXPECT_EQ(Check(Triple("U0NEW")).decision, Decision::kAllow);
  EXPECT_EQ(Check(Triple(kUser, "C0NEW")).decision, Decision::kAllow);
  stage_.slack.Set("U0FAKE", slack::LookupOutcome::kNotFound);
  EXPECT_EQ(Check(Triple("U0FAKE")), Refused(Reason::kUserNotFound));
  EXPECT_THAT(AskedIds(), ElementsAre(kTeam, "U0NEW", "C0NEW", "U0FAKE"));
}

// 300 s after the list was asked for, not after the check that used it.
TEST_F(ListsTest, AnEntryLivesAsLongAsALookUp) {
  ListBoth();
  stage_.clock.Advance(seconds(200));
  EXPECT_EQ(Check().decision, Decision::kAllow);
  stage_.clock.Advance(seconds(100));
  stage_.slack.Set(kUser, slack::LookupOutcome::kInactive);
  EXPECT_EQ(Check(), Refused(Reason::kUserInactive));
}

// Slack's list has deactivated people and archived channels too.
TEST_F(ListsTest, TheDeactivatedAndTheArchivedAreLookedUp) {
  lists_.users = {People{.entries = {{.id = kUser, .is_deactivated = true}}}};
  lists_.channels = {Channels{.entries = {{.id = kChannel, .is_archived = true}}}};
  Walk();
  stage_.slack.Set(kUser, slack::LookupOutcome::kInactive);
  EXPECT_EQ(Check(), Refused(Reason::kUserInactive));
}

TEST_F(ListsTest, SomebodyWhoLeftBetweenTwoListsIsRefusedAtOnce) {
  ListBoth();
  EXPECT_EQ(Check().decision, Decision::kAllow);
  stage_.clock.Advance(kListPeriod);
  lists_.users = {People{.entries = {{.id = kUser, .is_deactivated = true}}}};
  stage_.slack.Set(kUser, slack::LookupOutcome::kInactive);
  Walk();
  EXPECT_EQ(Check(), Refused(Reason::kUserInactive)) << "the row of the triple is void";
}

// The list was asked for before the user was deactivated, or nearly at the same time.
TEST_F(ListsTest, AListFromBeforeAnInvalidationIsNotUsed) {
  ListBoth();
  stage_.clock.Advance(seconds(20));
  ASSERT_TRUE(existence_->Invalidate(slack::EntityKind::kUser, kUser));
  stage_.slack.Set(kUser, slack::LookupOutcome::kInactive);
  EXPECT_EQ(Check(), Refused(Reason::kUserInactive));
}

// A page that was asked for a minute later than the invalidation shows what was true after it.
TEST_F(ListsTest, AListFromAfterAnInvalidationIsUsed) {
  ASSERT_TRUE(existence_->Invalidate(slack::EntityKind::kUser, kUser));
  stage_.clock.Advance(seconds(61));
  ListBoth();
  EXPECT_EQ(Check().decision, Decision::kAllow);
  EXPECT_THAT(AskedIds(), ElementsAre(kTeam));
}

TEST_F(ListsTest, AListOfAnotherTokenIsNotUsed) {
  ListBoth();
  stage_.tokens.Set("xoxb-another");
  EXPECT_EQ(Check().decision, Decision::kAllow);
  EXPECT_THAT(AskedIds(), ElementsAre(kTeam, kUser, kChannel));
}

// Our budget for single look-ups does not matter for what lists have.
// Review: A16
TEST_F(ListsTest, AListedPairPassesWithoutBudget) {
  ListBoth();
  EXPECT_EQ(Check(Triple("", "")).decision, Decision::kAllow);
  stage_.slack.SetAll(slack::LookupOutcome::kRateLimited);
  EXPECT_EQ(Check().decision, Decision::kAllow);
}

// ---- Walks ----

// Slack filters after it has cut the pages: an empty page with a cursor is not the end.
TEST_F(ListsTest, AWalkEndsWithThePageWithoutACursorOnly) {
  lists_.users = {People{.entries = {{.id = "U01"}}, .next_cursor = "a"},
                  People{.entries = {}, .next_cursor = "b"}, People{.entries = {{.id = kUser}}}};
  for (int i = 0; i < 5; ++i) Walk();
  ASSERT_EQ(lists_.user_requests.size(), 3u);
  EXPECT_EQ(lists_.user_requests[0].cursor, "");
  EXPECT_EQ(lists_.user_requests[1].cursor, "a");
  EXPECT_EQ(lists_.user_requests[2].cursor, "b");
  EXPECT_EQ(lists_.user_requests[2].limit, 999u);
  EXPECT_TRUE(roster_.Find(Triple().team, stage_.tokens.Find(Triple().team)->generation,
                           {slack::EntityKind::kUser, kUser}));
}

TEST_F(ListsTest, ARefusedPageIsAskedForLaterWithTheSameCursor) {
  lists_.users = {People{.entries = {}, .next_cursor = "a"},
                  CallError{CallFailure::kRateLimited, "ratelimited"},
                  People{.entries = {{.id = kUser}}}};
  Walk();
  Walk();
  Walk();
  EXPECT_EQ(lists_.user_requests.size(), 2u) << "it waits";
  stage_.clock.Advance(kListBudgetWait);
  Walk();
  ASSERT_EQ(lists_.user_requests.size(), 3u);
  EXPECT_EQ(lists_.user_requests[2].cursor, "a");
  EXPECT_EQ(lists_.user_requests[2].limit, 999u);
}

// Slack is slow with large pages of large workspaces; a cursor may not survive, either.
TEST_F(ListsTest, AFailedWalkBeginsAgainWithSmallerPagesWhenTheyWereTooLarge) {
  lists_.users = {People{.entries = {}, .next_cursor = "a"},
                  CallError{CallFailure::kOther, "invalid_cursor"},
                  CallError{CallFailure::kTimeout, "timeout"},
                  CallError{CallFailure::kOther, "too_large"}, People{}};
  for (int i = 0; i < 6; ++i) {
    Walk();
    stage_.clock.Advance(seconds(40));
  }
  ASSERT_EQ(lists_.user_requests.size(), 5u);
  EXPECT_EQ(lists_.user_requests[2].cursor, "");
  EXPECT_EQ(lists_.user_requests[2].limit, 999u) << "the cursor has nothing to do with the size";
  EXPECT_EQ(lists_.user_requests[3].limit, 499u);
  EXPECT_EQ(lists_.user_requests[4].limit, 249u);
  EXPECT_EQ(stage_.LogLines("a list of Slack could not be read"), 3u);
}

// A short outage does not cost a large workspace ten times the calls until the next start.
TEST_F(ListsTest, PagesAreLargeAgainAfterAnOutage) {
  for (const CallFailure failure : {CallFailure::kTimeout, CallFailure::kOther}) {
    for (int i = 0; i < 4; ++i) lists_.users.emplace_back(CallError{failure, "outage"});
  }
  for (int i = 0; i < 20; ++i) {
    Walk();
    stage_.clock.Advance(kLongestListWait);
  }
  EXPECT_EQ(lists_.user_requests[8].limit, kSmallestListPage);
  EXPECT_EQ(lists_.user_requests.back().limit, slack::kLargestListPage);
}

TEST_F(ListsTest, ARepeatedCursorIsAFailure) {
  lists_.users = {People{.entries = {}, .next_cursor = "a"},
                  People{.entries = {}, .next_cursor = "a"}};
  Walk();
  Walk();
  EXPECT_EQ(stage_.LogLines("a list of Slack could not be read"), 1u);
}

// Without the scope the gate works as before, and the log says what to do.
TEST_F(ListsTest, ADeniedListIsTriedAgainRarely) {
  lists_.channels = {CallError{CallFailure::kDenied, "missing_scope"}};
  for (int i = 0; i < 20; ++i) {
    Walk();
    stage_.clock.Advance(seconds(10));
  }
  EXPECT_EQ(lists_.channel_requests.size(), 1u);
  EXPECT_EQ(stage_.LogLines("tidemark doctor"), 1u);
  EXPECT_EQ(Check().decision, Decision::kAllow);
}

// Lists are read again before their entries end, while events arrive; without events never.
TEST_F(ListsTest, ListsAreReadAgainWhileTheTeamIsActive) {
  ListBoth();
  stage_.clock.Advance(kListPeriod);
  walker_.Step(seconds(0));
  EXPECT_EQ(lists_.user_requests.size(), 1u) << "no event since the walk began";
  stage_.clock.Advance(seconds(60));
  EXPECT_EQ(Check().decision, Decision::kAllow);
  walker_.Step(seconds(0));
  EXPECT_EQ(lists_.user_requests.size(), 2u);
  Walk();
  EXPECT_EQ(lists_.user_requests.size(), 2u) << "not before the period is over";
}

// A team that Slack does not confirm is not worth twenty calls.
TEST_F(ListsTest, ATeamThatDoesNotExistGetsNoWalk) {
  stage_.slack.Set(kTeam, slack::LookupOutcome::kNotFound);
  EXPECT_EQ(Check(), Refused(Reason::kTeamNotFound));
  EXPECT_THAT(roster_.Teams(), IsEmpty());
  stage_.clock.Advance(seconds(31));
  stage_.slack.SetAll(slack::LookupOutcome::kActive);
  EXPECT_EQ(Check().decision, Decision::kAllow);
  EXPECT_THAT(roster_.Teams(), ElementsAre(Triple().team)) << "its first event";
}

// All teams share the thread that reads lists. It does not wait for a team that gets no answer: no
// time passes until the other team's lists are there.
TEST_F(ListsTest, AHangingTeamDelaysNoOther) {
  lists_.hanging = "T0HANGS";
  roster_.Want(slack::TeamId::Parse("T0HANGS").value());
  ListBoth();
  EXPECT_EQ(lists_.hung(), 3u);
  EXPECT_EQ(lists_.user_requests.size(), 1u);
  EXPECT_EQ(Check().decision, Decision::kAllow);
  EXPECT_THAT(AskedIds(), ElementsAre(kTeam)) << "the lists of the other team were read";
  stage_.clock.Advance(kListPeriod);
  Walk();
  EXPECT_EQ(lists_.hung(), 3u) << "one call for each list at a time";
  EXPECT_EQ(lists_.user_requests.size(), 2u);
  // A timeout at last: the next try comes after a pause.
  for (auto& promise : lists_.hung_users) {
    promise.Fulfil(slack::CallResult<People>(CallError{CallFailure::kTimeout, "timeout"}));
  }
  Walk();
  EXPECT_EQ(lists_.hung_users.size(), 1u);
  stage_.clock.Advance(kListFailureWait);
  Walk();
  EXPECT_EQ(lists_.hung_users.size(), 2u);
}

// The calls under way are bounded. Those that had no room come first when there is some again, also
// when the other teams have more pages.
TEST_F(ListsTest, SlowTeamsTakeTurns) {
  lists_.hanging = "T";
  constexpr size_t kTeams = 20;
  for (size_t i = 0; i < kTeams; ++i) {
    roster_.Want(slack::TeamId::Parse("T0SLOW" + std::to_string(i)).value());
  }
  walker_.Step(seconds(0));
  EXPECT_EQ(lists_.hung(), kMaxListCalls);
  for (auto& promise : lists_.hung_channels) {
    promise.Fulfil(slack::CallResult<Channels>(Channels{.next_cursor = "more"}));
  }
  for (auto& promise : lists_.hung_users) {
    promise.Fulfil(slack::CallResult<People>(People{.next_cursor = "more"}));
  }
  walker_.Step(seconds(0));
  EXPECT_EQ(lists_.hung(), 2 * kMaxListCalls);
  EXPECT_EQ(std::ranges::count(lists_.hung_cursors, ""), 3 * kTeams) << "each team had its turn";
}

// A page that comes after the team got another token is not used.
TEST_F(ListsTest, ALatePageOfAnOldTokenIsNotUsed) {
  lists_.hanging = kTeam;
  Walk();
  ASSERT_EQ(lists_.hung_users.size(), 1u);
  stage_.tokens.Set("xoxb-new");
  Walk();
  EXPECT_EQ(lists_.hung_users.size(), 2u);
  lists_.hung_users[0].Fulfil(
      slack::CallResult<People>(People{.entries = {{.id = kUser}}, .next_cursor = "of the old"}));
  Walk();
  EXPECT_FALSE(roster_.Find(Triple().team, stage_.tokens.Find(Triple().team)->generation,
                            {slack::EntityKind::kUser, kUser}));
  EXPECT_EQ(lists_.hung_users.size(), 2u) << "the page of the new token is still awaited";
}

// The time of a list cannot be compared with that of an invalidation after it.
TEST_F(ListsTest, AListFromBeforeTheClockWasSetBackIsNotUsed) {
  ListBoth();
  stage_.clock.Advance(seconds(10));
  stage_.clock.SetNow(stage_.clock.NowSeconds() - 3600);
  stage_.slack.Set(kUser, slack::LookupOutcome::kInactive);
  EXPECT_EQ(Check(), Refused(Reason::kUserInactive));
  // Nor once the clock has caught up.
  stage_.clock.SetNow(stage_.clock.NowSeconds() + 3600 - 30);
  EXPECT_FALSE(roster_.Find(Triple().team, stage_.tokens.Find(Triple().team)->generation,
                            {slack::EntityKind::kUser, kUser}));
}

// Entries that have no room are left to look-ups. Entries that are too old are removed first.
TEST_F(ListsTest, TheMemoryOfListsIsBounded) {
  Roster roster(&stage_.clock, /*max_listed=*/3);
  const auto team = [](const char* id) { return slack::TeamId::Parse(id).value(); };
  const auto list = [&](const char* of, const std::vector<Person>& people) {
    roster.Add({.team = team(of), .credential = "c", .asked_at = stage_.clock.NowSeconds()},
               people);
  };
  const auto has = [&](const char* of, const char* user) {
    return roster.Find(team(of), "c", {slack::EntityKind::kUser, user}).has_value();
  };
  list("T0ONE", {{.id = "U1"}, {.id = "U2"}});
  list("T0TWO", {{.id = "U3"}, {.id = "U4"}});
  EXPECT_TRUE(has("T0TWO", "U3"));
  EXPECT_FALSE(has("T0TWO", "U4"));
  stage_.clock.Advance(seconds(300));
  list("T0TWO", {{.id = "U3"}, {.id = "U4"}});
  EXPECT_TRUE(has("T0TWO", "U4")) << "in the place of those of the first team";
}

// ---- Names ----

// Review: A8
TEST_F(ListsTest, TellsTheNamesOfWhatEventsName) {
  lists_.channels = {Channels{
      .entries = {{.id = kChannel, .name = "general"}, {.id = "C0QUIET", .name = "quiet"}}}};
  Walk();
  EXPECT_THAT(roster_.TakeFound(), IsEmpty()) << "nothing was named by an event";
  Check();
  Check(Triple("U0OTHER"));
  std::vector<Found> found = roster_.TakeFound();
  ASSERT_EQ(found.size(), 1u) << "once, however many events there are";
  EXPECT_EQ(std::get<Conversation>(found[0].entity).name, "general");
  stage_.clock.Advance(kListPeriod);
  lists_.channels = {Channels{.entries = {{.id = kChannel, .name = "renamed"}}}};
  Walk();
  found = roster_.TakeFound();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(std::get<Conversation>(found[0].entity).name, "renamed");
}

}  // namespace tidemark::gate
