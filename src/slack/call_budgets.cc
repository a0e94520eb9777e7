#include "slack/call_budgets.h"

#include <algorithm>

#include "base/hashing.h"

namespace tidemark::slack {

namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kMinute = std::chrono::seconds(60);

void DropOld(std::vector<nanoseconds>* calls, nanoseconds now) {
  const auto recent = std::find_if(calls->begin(), calls->end(),
                                   [&](nanoseconds call) { return now - call < kMinute; });
  calls->erase(calls->begin(), recent);
}

}  // namespace

std::string_view ToString(ApiMethod method) {
  switch (method) {
    case ApiMethod::kTeamInfo:
      return "team.info";
    case ApiMethod::kUsersInfo:
      return "users.info";
    case ApiMethod::kConversationsInfo:
      return "conversations.info";
    case ApiMethod::kFilesInfo:
      return "files.info";
    case ApiMethod::kAuthTest:
      return "auth.test";
    case ApiMethod::kRefresh:
      return "oauth.v2.access";
    case ApiMethod::kConversationsList:
      return "conversations.list";
    case ApiMethod::kUsersList:
      return "users.list";
  }
  return "";
}

bool CallBudgets::IsIdle(const Uses& uses, nanoseconds now) {
  return std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
    const bool called = !use.calls.empty() && now - use.calls.back() < kMinute;
    return !called && use.rests_until <= now;
  });
}

CallBudgets::Uses* CallBudgets::Find(const Secret& token, nanoseconds now) {
  std::string key = Sha256(token.Reveal());
  const auto found = tokens_.find(key);
  if (found != tokens_.end()) return &found->second;
  if (tokens_.size() >= max_tokens_) {
    std::erase_if(tokens_, [&](const auto& entry) { return IsIdle(entry.second, now); });
  }
  if (tokens_.size() >= max_tokens_) return nullptr;
  return &tokens_[std::move(key)];
}

bool CallBudgets::Take(const Secret& token, ApiMethod method) {
  std::lock_guard lock(mutex_);
  const nanoseconds now = clock_.Monotonic();
  Uses* const uses = Find(token, now);
  if (uses == nullptr) return false;
  const auto index = static_cast<size_t>(method);
  Use& use = (*uses)[index];
  DropOld(&use.calls, now);
  if (use.rests_until > now || use.calls.size() >= budgets_[index]) return false;
  use.calls.push_back(now);
  return true;
}

void CallBudgets::Rest(const Secret& token, ApiMethod method, nanoseconds length) {
  std::lock_guard lock(mutex_);
  const nanoseconds now = clock_.Monotonic();
  Uses* const uses = Find(token, now);
  if (uses == nullptr) return;
  nanoseconds& until = (*uses)[static_cast<size_t>(method)].rests_until;
  until = std::max(until, now + length);
}

}  // namespace tidemark::slack
