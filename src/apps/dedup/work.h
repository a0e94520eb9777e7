// Which pieces of work an event asks for, and the keys under which each is claimed.
//
//   a file_share message     one piece a file
//   file_shared              the same piece as the file's message: they share a key
//   app_mention              one
//   a message in a channel of task_channels or inbox_channels: one for each list it is in
//
// Every key carries the team, and its prefix keeps one kind of work apart from another.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/dedup/claim.h"
#include "base/result.h"
#include "slack/event.h"

namespace tidemark::dedup {

enum class WorkKind { kFile, kMention, kTaskIntake, kInbox };

struct Work {
  WorkKind kind = WorkKind::kFile;
  std::vector<std::string> keys;  // The main one and its aliases.
  std::string file_id = {};       // Of kFile.
  Metadata metadata = {};         // For the claim: file_id, channel_id, user_id.
};

struct WorkOptions {
  std::string own_bot_id = {};  // Messages of this bot are ignored.
  std::vector<std::string> task_channels = {};
  std::vector<std::string> inbox_channels = {};
};

struct WorkPlan {
  std::vector<Work> pieces;
  std::string warning = {};  // What was odd about the event, if anything.
};

// kInvalid when the event asks for work but lacks a part of its key.
Result<WorkPlan> PlanWork(const slack::EventCallback& callback, const WorkOptions& options);

// What to warn of at the start: without its own bot's id a bot answers itself. nullopt when the
// id looks like one.
std::optional<std::string> OwnBotWarning(std::string_view own_bot_id);

}  // namespace tidemark::dedup
