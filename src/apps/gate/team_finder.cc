#include "apps/gate/team_finder.h"

#include <variant>

#include "base/deadline.h"

namespace tidemark::gate {

namespace {

constexpr std::chrono::seconds kAuthDeadline(5);
constexpr std::chrono::seconds kWaitAfterFailure(30);

}  // namespace

void TeamFinder::Step() {
  if (stopping_ || clock_.Monotonic() < next_try_) return;
  for (const Credential& credential : parts_.tokens->All()) {
    if (stopping_) return;
    if (known_credentials_.contains(credential.generation)) continue;
    const auto answer =
        parts_.web_api->TestAuth(credential.token, Deadline::After(clock_, kAuthDeadline));
    const auto* const auth = std::get_if<slack::AuthTest>(&answer);
    if (auth == nullptr) {
      // The other tokens do not wait for it.
      next_try_ = clock_.Monotonic() + kWaitAfterFailure;
      continue;
    }
    known_credentials_.insert(credential.generation);
    if (const auto team = slack::TeamId::Parse(auth->team_id)) Want(*team, credential);
  }
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
