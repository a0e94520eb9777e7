// The pieces of work that an event asks for, and the keys under which they are claimed.
//
//   a file_share message     one piece for each file
//   file_shared              the same piece as the file's message: they share a key
//   app_mention              one piece
//   a message in a channel of task_channels or inbox_channels: one piece for each list it is in
//
// Every key contains the team, and a prefix for the kind of work.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/dedup/claim.h"
#include "base/result.h"
#include "slack/event.h"

namespace tidemark::dedup {

struct EventParts {
  std::string_view event_id = {};  // From the envelope; Slack makes it unique.
  std::string_view team = {};
  std::string_view file_id = {};
  std::string_view ts = {};
};

// The key of a whole event, which all its deliveries share: its event id. Without one it is
// "FILE_TS", with "TEAM:" in front when the team is known. kInvalid when parts are missing: a key
// without them would be the same for unrelated events.
Result<std::string> EventKey(const EventParts& parts);

enum class WorkKind { kFile, kMention, kTaskIntake, kInbox };

// One piece of work.
struct Work {
  WorkKind kind = WorkKind::kFile;
  std::vector<std::string> keys;  // The main one and its aliases.
  std::string file_id = {};       // With kFile.
  Metadata metadata = {};         // For the claim: file_id, channel_id, user_id.
};

struct WorkOptions {
  std::string own_bot_id = {};  // Messages of this bot are ignored.
  std::vector<std::string> task_channels = {};
  std::vector<std::string> inbox_channels = {};
};

struct WorkPlan {
  std::vector<Work> pieces;
  std::string warning = {};  // What is wrong with the event; empty when nothing is.
};

// kInvalid when the event asks for work but a part of its key is missing.
Result<WorkPlan> PlanWork(const slack::EventCallback& callback, const WorkOptions& options);

// The warning to give at the start when the bot's own id is not set or is not an id: the bot may
// then answer its own messages. nullopt when the id looks right.
std::optional<std::string> OwnBotWarning(std::string_view own_bot_id);

}  // namespace tidemark::dedup
