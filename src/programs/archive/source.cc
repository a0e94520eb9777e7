#include "programs/archive/source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "http/url.h"
#include "programs/archive/folder.h"
#include "servers/api/archive/routes.h"
#include "slack/ids.h"

namespace tidemark::programs {

namespace {

constexpr size_t kMaxNamedChannels = 10;

}  // namespace

Result<std::unique_ptr<ApiSource>> OpenArchiveSource(const ArchiveSourceOptions& options, Use use) {
  if (options.server) return OpenServerSource(options);
  auto opened = ArchiveFolder::Open(options.folder, use);
  if (!opened) return WithServerHint(std::move(opened).error());
  const std::shared_ptr<ArchiveFolder> folder = *std::move(opened);
  const api::ArchiveRoutesParts parts{.reader = &folder->reader(),
                                      .index = &folder->index(),
                                      .ledger = &folder->ledger(),
                                      .state = &folder->state(),
                                      .objects = TRY(folder->OpenFiles()),
                                      .tables = &folder->tables(),
                                      .table = folder->options().archive.table,
                                      .clock = &folder->clock()};
  return MakeRouterSource(
      folder, [&](http::Router* router) { api::AddArchiveRoutes(router, parts, nullptr); });
}

Result<std::string> TeamPath(ApiSource& source, const ArchiveSourceOptions& options) {
  std::vector<std::string> teams;
  const JsonDocument answer = TRY(source.Need("/api/v1/teams"));
  if (const auto list = answer.root().Find("teams")) {
    for (const Json one : list->Elements()) teams.emplace_back(one.AsString().value_or(""));
  }
  if (teams.empty()) {
    return Error{ErrorCode::kNotFound,
                 "the archive is empty: connect the server to Slack, or import an export with "
                 "'tidemark archive import'"};
  }
  const std::string known = fmt::format("{}", fmt::join(teams, ", "));
  if (!options.team && teams.size() > 1) {
    return Invalid(fmt::format("the archive has several teams: choose one with --team: {}", known));
  }
  const std::string team =
      options.team ? TRY(slack::TeamId::Parse(*options.team)).text() : teams.front();
  if (std::ranges::find(teams, team) == teams.end()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("the archive has nothing of team {}: choose one of {}", team, known)};
  }
  return "/api/v1/teams/" + team;
}

namespace {

// The ids of the channels of this name, by the index.
Result<std::vector<std::string>> FindByName(ApiSource& source, const std::string& team_path,
                                            const std::string& name) {
  std::vector<std::string> ids;
  std::string cursor;
  do {
    const JsonDocument page = TRY(
        source.Need(fmt::format("{}/channel-index?limit=1000{}", team_path,
                                cursor.empty() ? "" : "&cursor=" + http::PercentEncode(cursor))));
    if (const auto channels = page.root().Find("channels")) {
      for (const auto& [id, value] : channels->Members()) {
        if (value.AsString() == name) ids.emplace_back(id);
      }
    }
    const auto next = page.root().Find("cursor");
    cursor = next ? next->AsString().value_or("") : "";
  } while (!cursor.empty());
  return ids;
}

// Without the ids that a channel had before: they have its name too. The messages of all its ids
// are found under each of them.
Result<std::vector<std::string>> CurrentIds(ApiSource& source, const std::string& team_path,
                                            const std::vector<std::string>& ids) {
  std::vector<std::string> current;
  for (const std::string& id : ids) {
    const JsonDocument channel = TRY(source.Need(fmt::format("{}/channels/{}", team_path, id)));
    const auto next = channel.root().Find("next_channel_id");
    const bool is_former =
        next && std::ranges::find(ids, next->AsString().value_or("")) != ids.end();
    if (!is_former) current.push_back(id);
  }
  return current.empty() ? ids : current;
}

// An id may be mistyped as easily as a name. Without this check a command would print nothing, as
// if the channel had no messages.
Result<std::string> PathOfId(ApiSource& source, const std::string& team_path,
                             const std::string& id) {
  std::string path = fmt::format("{}/channels/{}", team_path, id);
  if (TRY(source.Get(path))) return path;
  return Error{ErrorCode::kNotFound,
               fmt::format("the archive has nothing about channel {}: 'tidemark archive channels' "
                           "lists the channels it has",
                           id)};
}

}  // namespace

Result<std::string> ChannelPath(ApiSource& source, const ArchiveSourceOptions& options,
                                const std::string& channel) {
  const std::string team_path = TRY(TeamPath(source, options));
  if (slack::ChannelId::Parse(channel)) return PathOfId(source, team_path, channel);
  const std::string name = channel.starts_with('#') ? channel.substr(1) : channel;
  std::vector<std::string> ids = TRY(FindByName(source, team_path, name));
  if (ids.empty()) {
    return Error{
        ErrorCode::kNotFound,
        fmt::format("no channel is called '{}': 'tidemark archive channels' lists them", name)};
  }
  if (ids.size() > 1) ids = TRY(CurrentIds(source, team_path, ids));
  if (ids.size() > 1) {
    const size_t count = ids.size();
    ids.resize(std::min(count, kMaxNamedChannels));
    return Invalid(fmt::format("{} channels are called '{}': give the id of one: {}", count, name,
                               fmt::join(ids, ", ")));
  }
  return fmt::format("{}/channels/{}", team_path, ids.front());
}

}  // namespace tidemark::programs
