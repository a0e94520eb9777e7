#include "apps/dedup/work.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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
      fmt::format("a part of the key is missing in event {} of type {}: team \"{}\", channel "
                  "\"{}\", ts \"{}\"",
                  callback.event_id, event.type, callback.team_id, event.channel, event.ts));
}

Metadata MetadataOf(const slack::Event& event, const std::string& file_id) {
  return {{"file_id", file_id}, {"channel_id", event.channel}, {"user_id", event.user}};
}

// The first key is the one that the message and the file_shared event share. The rollout share
// looks at the first key only, so both go the same way.
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
    plan.warning = fmt::format("event {} shares files but has no file in it", callback.event_id);
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

// Only plain messages in the configured channels ask for work.
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

Result<std::string> EventKey(const EventParts& parts) {
  if (!parts.event_id.empty()) return std::string(parts.event_id);
  if (parts.file_id.empty() || parts.ts.empty()) {
    return Invalid(
        fmt::format("an event without an id needs a file id and a ts for its key, but "
                    "has file id \"{}\" and ts \"{}\"",
                    parts.file_id, parts.ts));
  }
  if (parts.team.empty()) return fmt::format("{}_{}", parts.file_id, parts.ts);
  return fmt::format("{}:{}_{}", parts.team, parts.file_id, parts.ts);
}

// The bot's own messages are ignored first: otherwise it would answer itself for ever.
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
  // BXXXXXXXXX and B000000000 come from sample settings.
  const bool filled = shaped && own_bot_id.find_first_not_of(own_bot_id[1], 1) != own_bot_id.npos;
  if (filled) return std::nullopt;
  return fmt::format(
      "the bot's own id is {}, so the bot does not ignore its own messages and may answer "
      "itself: set it to the bot_id that auth.test gives",
      own_bot_id.empty() ? "not set" : fmt::format("\"{}\", which is not an id", own_bot_id));
}

}  // namespace tidemark::dedup
