// What an event means to the gate: which ids must be verified before it is accepted, and which
// ids it ends. Pure functions of the event.
#pragma once

#include <variant>
#include <vector>

#include "apps/gate/existence.h"
#include "apps/gate/verdict.h"
#include "slack/directory.h"
#include "slack/event.h"

namespace tidemark::gate {

// The ids to verify, or the verdict when Slack need not be asked: an id is malformed, the team is
// missing, or the event revokes the token that would be used to ask. Ids that Slack would not find
// although the event is genuine are left out: a channel that the event says is gone, a user that it
// says is deactivated, and Slack's own users.
std::variant<Subject, Verdict> SubjectOf(const slack::EventCallback& callback);

// The teams, users and channels that the event ends: what was verified about them before the event
// must not be used any more. Malformed ids are left out: nothing was ever verified about them.
std::vector<slack::Lookup> EndedBy(const slack::EventCallback& callback);

}  // namespace tidemark::gate
