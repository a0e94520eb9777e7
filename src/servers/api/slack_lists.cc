#include "servers/api/slack_lists.h"

#include <utility>
#include <variant>

namespace tidemark::api {

namespace {

constexpr std::chrono::seconds kAuthDeadline(5);
constexpr std::chrono::seconds kWaitAfterFailure(30);

gate::ListWalkerParts WalkerPartsOf(const SlackListsParts& parts, std::optional<Names>* names) {
  gate::ListWalkerParts walker{.lists = parts.web_api,
                               .tokens = parts.tokens,
                               .roster = parts.roster,
                               .existence = parts.existence};
  if (!parts.names) return walker;
  walker.on_people = [names](const gate::PageOrigin& origin,
                             const std::vector<slack::Person>& page) {
    (*names)->Keep(origin, page);
  };
  walker.on_conversations = [names](const gate::PageOrigin& origin,
                                    const std::vector<slack::Conversation>& page) {
    (*names)->Keep(origin, page);
  };
  return walker;
}

}  // namespace

SlackLists::SlackLists(const SlackListsParts& parts, const Runtime& runtime)
    : parts_(parts),
      clock_(runtime.clock),
      logger_(runtime.logger),
      names_(parts.names ? std::optional<Names>(std::in_place, *parts.names, runtime)
                         : std::nullopt),
      walker_(WalkerPartsOf(parts, &names_), runtime) {}

void SlackLists::Step() {
  if (stopping_) return;
  FindTeams();
  walker_.Step();
  // Taken also without an archive, so that they do not pile up.
  const std::vector<gate::Found> found = parts_.roster->TakeFound();
  if (names_) names_->Keep(found);
}

void SlackLists::Stop() {
  stopping_ = true;
  walker_.Stop();
}

void SlackLists::FindTeams() {
  if (clock_.Monotonic() < next_try_) return;
  for (const gate::Credential& credential : parts_.tokens->All()) {
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

void SlackLists::Want(const slack::TeamId& team, const gate::Credential& credential) {
  const auto used = parts_.tokens->Find(team);
  if (used && used->generation == credential.generation) return parts_.roster->Want(team);
  logger_.Log(LogLevel::kError,
              "a bot token is of this team, but the settings have another token for the team, so "
              "its lists are not read with this one: correct slack.bot-tokens (TEAM=TOKEN), or "
              "slack.bot-token",
              {{"team", team.text()}});
}

}  // namespace tidemark::api
