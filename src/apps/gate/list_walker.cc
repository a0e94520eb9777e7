#include "apps/gate/list_walker.h"

#include <algorithm>
#include <utility>

#include "base/deadline.h"

namespace tidemark::gate {

using slack::CallError;
using slack::CallFailure;
using slack::ConversationType;
using std::chrono::nanoseconds;

namespace {

// Longer than the call itself may take.
constexpr std::chrono::seconds kPageDeadline(9);

nanoseconds WaitAfter(uint32_t failures) {
  std::chrono::seconds wait = kListFailureWait;
  for (uint32_t i = 1; i < failures && wait < kLongestListWait; ++i) wait *= 2;
  return std::min(wait, kLongestListWait);
}

// Whether a smaller page may succeed where this one failed.
bool IsAboutSize(const CallError& error) {
  return error.failure == CallFailure::kTimeout || error.error == slack::kTooLarge;
}

}  // namespace

std::string_view ListWalker::ToString(ListKind kind) {
  switch (kind) {
    case ListKind::kPublicChannels:
      return "public channels";
    case ListKind::kPrivateChannels:
      return "private channels";
    case ListKind::kPeople:
      break;
  }
  return "people";
}

ListWalker::ListWalker(ListWalkerParts parts, const Runtime& runtime)
    : parts_(std::move(parts)), clock_(runtime.clock), logger_(runtime.logger) {}

void ListWalker::Step(nanoseconds patience) {
  if (stopping_) return;
  // What came since the last step, so that its next page is asked for now.
  arrivals_.Handle(nanoseconds(0));
  std::optional<slack::TeamId> without_room;
  for (slack::TeamId& team : TeamsInTurn()) {
    if (stopping_) return;
    if (!StepTeam(team) && !without_room) without_room = std::move(team);
  }
  next_team_ = std::move(without_room);
  arrivals_.Handle(patience);
}

std::vector<slack::TeamId> ListWalker::TeamsInTurn() const {
  std::vector<slack::TeamId> teams = parts_.roster->Teams();
  if (!next_team_) return teams;
  const auto next = std::ranges::find(teams, *next_team_);
  std::rotate(teams.begin(), next, teams.end());
  return teams;
}

bool ListWalker::StepTeam(const slack::TeamId& team) {
  const auto credential = parts_.tokens->Find(team);
  if (!credential) return true;
  TeamWalks& walks = teams_[team];
  const bool is_wanted = parts_.roster->TakeWanted(team);
  // What was listed with another token is not used any more.
  if (walks.credential != credential->generation) walks = {.credential = credential->generation};
  if (is_wanted) walks.wanted = clock_.Monotonic();
  for (const ListKind kind : kLists) {
    Walk& walk = walks.lists[kind];
    if (!IsDue(walks, walk)) continue;
    if (arrivals_.expected() >= kMaxListCalls) return false;
    AskForPage(team, *credential, kind, &walk);
  }
  return true;
}

bool ListWalker::IsDue(const TeamWalks& team, const Walk& walk) const {
  const nanoseconds now = clock_.Monotonic();
  if (walk.is_asked || now < walk.next_try) return false;
  if (walk.is_under_way || !walk.has_begun) return true;
  return team.wanted > walk.began && now >= walk.began + kListPeriod;
}

void ListWalker::AskForPage(const slack::TeamId& team, const Credential& credential, ListKind kind,
                            Walk* walk) {
  walk->is_asked = true;
  if (!walk->is_under_way) {
    walk->is_under_way = walk->has_begun = true;
    walk->began = clock_.Monotonic();
    walk->cursor.clear();
  }
  const slack::ListRequest request{
      .team = team.text(), .cursor = walk->cursor, .limit = walk->limit};
  // Taken before the call: Slack's answer is true at this time or later.
  const PageOrigin origin{
      .team = team, .credential = credential.generation, .asked_at = clock_.NowSeconds()};
  const Deadline deadline = Deadline::After(clock_, kPageDeadline);
  if (kind == ListKind::kPeople) {
    return Expect(origin, kind, parts_.lists->ListUsers(credential.token, request, deadline));
  }
  const auto type =
      kind == ListKind::kPublicChannels ? ConversationType::kPublic : ConversationType::kPrivate;
  Expect(origin, kind, parts_.lists->ListConversations(credential.token, type, request, deadline));
}

template <typename T>
void ListWalker::Expect(const PageOrigin& origin, ListKind kind,
                        slack::LaterCall<slack::ListPage<T>> answer) {
  using Answer = slack::CallResult<slack::ListPage<T>>;
  arrivals_.Expect<Answer>(std::move(answer), [this, origin, kind](const Result<Answer>& page) {
    Walk* const walk = FindWalk(origin, kind);
    if (walk == nullptr) return;
    walk->is_asked = false;
    Take<T>(origin, kind, page ? *page : CallError{CallFailure::kOther, page.error().message},
            walk);
  });
}

ListWalker::Walk* ListWalker::FindWalk(const PageOrigin& origin, ListKind kind) {
  const auto team = teams_.find(origin.team);
  if (team == teams_.end() || team->second.credential != origin.credential) return nullptr;
  return &team->second.lists[kind];
}

template <typename T>
void ListWalker::Take(const PageOrigin& origin, ListKind kind,
                      const slack::CallResult<slack::ListPage<T>>& answer, Walk* walk) {
  if (const auto* error = std::get_if<CallError>(&answer)) return Fail(origin, kind, *error, walk);
  const auto& page = std::get<slack::ListPage<T>>(answer);
  // The same page would come again, without an end.
  if (!page.next_cursor.empty() && page.next_cursor == walk->cursor) {
    return Fail(origin, kind, {CallFailure::kOther, "the cursor of the page before"}, walk);
  }
  End(parts_.roster->Add(origin, page.entries));
  Tell(origin, page.entries);
  Advance(page.next_cursor, walk);
}

void ListWalker::Tell(const PageOrigin& origin, const std::vector<slack::Person>& people) const {
  if (parts_.on_people) parts_.on_people(origin, people);
}

void ListWalker::Tell(const PageOrigin& origin,
                      const std::vector<slack::Conversation>& conversations) const {
  if (parts_.on_conversations) parts_.on_conversations(origin, conversations);
}

void ListWalker::End(const std::vector<slack::Lookup>& ended) {
  for (const slack::Lookup& one : ended) {
    const Status invalidated = parts_.existence->Invalidate(one.kind, one.id);
    if (invalidated) continue;
    // It stays trusted for the rest of its 300 s.
    logger_.Log(LogLevel::kWarning, "existence cache save failed",
                {{"id", one.id}, {"error", invalidated.error().message}});
  }
}

// Only a page without a cursor is the last one; an empty page is not. After the last one, larger
// pages are tried again: what made a page too slow may have passed.
void ListWalker::Advance(const std::string& next_cursor, Walk* walk) const {
  walk->failures = 0;
  walk->cursor = next_cursor;
  walk->is_under_way = !next_cursor.empty();
  if (!walk->is_under_way) walk->limit = std::min(walk->limit * 2, slack::kLargestListPage);
}

void ListWalker::Fail(const PageOrigin& origin, ListKind kind, const CallError& error, Walk* walk) {
  if (error.failure == CallFailure::kRateLimited) {
    walk->next_try = clock_.Monotonic() + kListBudgetWait;
    return;
  }
  const bool is_denied = error.failure == CallFailure::kDenied;
  ++walk->failures;
  walk->cursor.clear();
  if (IsAboutSize(error)) walk->limit = std::max(walk->limit / 2, kSmallestListPage);
  walk->next_try =
      clock_.Monotonic() + (is_denied ? nanoseconds(kLongestListWait) : WaitAfter(walk->failures));
  logger_.Log(LogLevel::kWarning,
              is_denied
                  ? "Slack refuses a list; ids are looked up one by one until the app has the "
                    "scopes that `tidemark doctor` names"
                  : "a list of Slack could not be read; it is read again from its beginning",
              {{"team", origin.team.text()}, {"list", ToString(kind)}, {"error", error.error}});
}

}  // namespace tidemark::gate
