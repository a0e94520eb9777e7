#include "apps/dedup/work.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/dedup/key.h"

namespace tidemark::dedup {

namespace {

constexpr size_t kShortestBotId = 9;

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

Status RequireParts(const slack::EventCallback& callback, bool needs_ts) {
  const slack::Event& event = callback.event;
  if (!callback.team_id.empty() && !event.channel.empty() && (!needs_ts || !event.ts.empty())) {
    return Done{};
  }
  return Invalid(
      fmt::format("event {} of type {} lacks a part of its key: team \"{}\", channel "
                  "\"{}\", ts \"{}\"",
                  callback.event_id, event.type, callback.team_id, event.channel, event.ts));
}

Metadata MetadataOf(const slack::Event& event, const std::string& file_id) {
  return {{"file_id", file_id}, {"channel_id", event.channel}, {"user_id", event.user}};
}

// The first key is the one that the message and the file_shared event have in common, so that a
// rollout share, which goes by the first, takes both the same way.
Result<Work> FileWork(const slack::EventCallback& callback, const slack::File& file) {
  const slack::Event& event = callback.event;
  if (file.id.empty()) {
    return Invalid(fmt::format("event {} has a file without an id", callback.event_id));
  }
  Work work{.kind = WorkKind::kFile,
            .keys = {fmt::format("{}:file:{}:{}", callback.team_id, event.channel, file.id)},
            .file_id = file.id,
            .metadata = MetadataOf(event, file.id)};
  if (event.ts.empty()) return work;
  const EventParts parts{.team = callback.team_id, .file_id = file.id, .ts = event.ts};
  work.keys.push_back(TRY(EventKey(parts)));
  return work;
}

Result<WorkPlan> PlanFiles(const slack::EventCallback& callback, bool needs_ts) {
  WorkPlan plan;
  if (callback.event.files.empty()) {
    plan.warning = fmt::format("event {} shares files but names none", callback.event_id);
    return plan;
  }
  TRY(RequireParts(callback, needs_ts));
  for (const slack::File& file : callback.event.files) {
    plan.pieces.push_back(TRY(FileWork(callback, file)));
  }
  return plan;
}

Work MessageWork(const slack::EventCallback& callback, WorkKind kind, std::string key) {
  return {.kind = kind, .keys = {std::move(key)}, .metadata = MetadataOf(callback.event, "")};
}

Result<WorkPlan> PlanMention(const slack::EventCallback& callback) {
  TRY(RequireParts(callback, true));
  const slack::Event& event = callback.event;
  WorkPlan plan;
  plan.pieces.push_back(
      MessageWork(callback, WorkKind::kMention,
                  fmt::format("app_mention:{}:{}:{}", callback.team_id, event.channel, event.ts)));
  return plan;
}

Result<WorkPlan> PlanMessage(const slack::EventCallback& callback, const WorkOptions& options) {
  const slack::Event& event = callback.event;
  WorkPlan plan;
  const bool task = Contains(options.task_channels, event.channel);
  const bool inbox = Contains(options.inbox_channels, event.channel);
  if (!task && !inbox) return plan;
  TRY(RequireParts(callback, true));
  const std::string name = fmt::format("{}_{}_{}", callback.team_id, event.channel, event.ts);
  if (task) {
    plan.pieces.push_back(MessageWork(callback, WorkKind::kTaskIntake, "task_intake_" + name));
  }
  if (inbox) plan.pieces.push_back(MessageWork(callback, WorkKind::kInbox, "inbox_" + name));
  return plan;
}

}  // namespace

Result<WorkPlan> PlanWork(const slack::EventCallback& callback, const WorkOptions& options) {
  const slack::Event& event = callback.event;
  if (!options.own_bot_id.empty() && event.bot_id == options.own_bot_id) return WorkPlan{};
  if (event.type == "file_shared") return PlanFiles(callback, false);
  if (event.type == "app_mention") return PlanMention(callback);
  if (event.type != "message") return WorkPlan{};
  if (event.subtype == "file_share") return PlanFiles(callback, true);
  return event.subtype.empty() ? PlanMessage(callback, options) : WorkPlan{};
}

std::optional<std::string> OwnBotWarning(std::string_view own_bot_id) {
  const bool shaped = own_bot_id.size() >= kShortestBotId && own_bot_id.front() == 'B' &&
                      std::all_of(own_bot_id.begin(), own_bot_id.end(), [](char byte) {
                        return (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
                      });
  // BXXXXXXXXX and B000000000 are what sample settings have.
  const bool filled = shaped && own_bot_id.find_first_not_of(own_bot_id[1], 1) != own_bot_id.npos;
  if (filled) return std::nullopt;
  return fmt::format(
      "the bot's own id is {}: its own messages are not ignored, and it may answer "
      "itself; set it to the bot_id that auth.test gives",
      own_bot_id.empty() ? "not set" : fmt::format("\"{}\", no id", own_bot_id));
}

}  // namespace tidemark::dedup
