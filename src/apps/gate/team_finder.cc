#include "apps/gate/team_finder.h"

#include <variant>

#include "base/deadline.h"

namespace tidemark::gate {

namespace {

constexpr std::chrono::seconds kAuthDeadline(5);
constexpr std::chrono::seconds kWaitAfterFailure(30);
// At the same time.
constexpr size_t kMaxAuthCalls = 30;

}  // namespace

void TeamFinder::Step(std::chrono::nanoseconds patience) {
  if (stopping_) return;
  for (const Credential& credential : parts_.tokens->All()) {
    if (arrivals_.expected() < kMaxAuthCalls) Ask(credential);
  }
  arrivals_.Handle(patience);
}

void TeamFinder::Ask(const Credential& credential) {
  if (known_credentials_.contains(credential.generation)) return;
  const auto next_try = next_tries_.find(credential.generation);
  if (next_try != next_tries_.end() && clock_.Monotonic() < next_try->second) return;
  if (!asked_credentials_.insert(credential.generation).second) return;
  using Answer = slack::CallResult<slack::AuthTest>;
  arrivals_.Expect<Answer>(
      parts_.web_api->TestAuthLater(credential.token, Deadline::After(clock_, kAuthDeadline)),
      [this, credential](const Result<Answer>& answer) { Take(credential, answer); });
}

void TeamFinder::Take(const Credential& credential,
                      const Result<slack::CallResult<slack::AuthTest>>& answer) {
  asked_credentials_.erase(credential.generation);
  const auto* const auth = answer ? std::get_if<slack::AuthTest>(&*answer) : nullptr;
  if (auth == nullptr) {
    next_tries_[credential.generation] = clock_.Monotonic() + kWaitAfterFailure;
    return;
  }
  known_credentials_.insert(credential.generation);
  if (const auto team = slack::TeamId::Parse(auth->team_id)) Want(*team, credential);
}

void TeamFinder::Want(const slack::TeamId& team, const Credential& credential) {
  const auto used = parts_.tokens->Find(team);
  if (used && used->generation == credential.generation) return parts_.roster->Want(team);
  logger_.Log(LogLevel::kError,
              "a bot token is of this team, but the settings have another token for the team, so "
              "its lists are not read with this one: correct slack.bot-tokens (TEAM=TOKEN), or "
              "slack.bot-token",
              {{"team", team.text()}});
}

}  // namespace tidemark::gate
