#include "servers/api/slack_lists.h"

#include <utility>
#include <vector>

namespace tidemark::api {

namespace {

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
    : roster_(*parts.roster),
      names_(parts.names ? std::optional<Names>(std::in_place, *parts.names, runtime)
                         : std::nullopt),
      teams_({.web_api = parts.web_api, .tokens = parts.tokens, .roster = parts.roster}, runtime),
      walker_(WalkerPartsOf(parts, &names_), runtime) {}

void SlackLists::Step(std::chrono::nanoseconds patience) {
  teams_.Step(patience);
  walker_.Step(patience);
  // Taken also without an archive, so that they do not pile up.
  const std::vector<gate::Found> found = roster_.TakeFound();
  if (names_) names_->Keep(found);
}

void SlackLists::Stop() {
  teams_.Stop();
  walker_.Stop();
}

}  // namespace tidemark::api
