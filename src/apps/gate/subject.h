// What an event means to the gate: whom to verify before it is let in, and what it ends.
// Pure functions of the event.
#pragma once

#include <variant>
#include <vector>

#include "apps/gate/existence.h"
#include "apps/gate/verdict.h"
#include "slack/directory.h"
#include "slack/event.h"

namespace tidemark::gate {

// What is to be verified, or the verdict when there is nothing to ask: an id that is none, no
// team, or the end of the very credential that would be asked with. Left out is what Slack would
// not find although the event is genuine: a channel that the event says is gone, a user that it
// says is deactivated, and Slack's own users.
std::variant<Subject, Verdict> SubjectOf(const slack::EventCallback& callback);

// Teams, users and channels of which nothing verified before the event counts any longer. What is
// no id is left out: nothing was ever verified under it.
std::vector<slack::Lookup> EndedBy(const slack::EventCallback& callback);

}  // namespace tidemark::gate
