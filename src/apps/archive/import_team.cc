#include "apps/archive/import_team.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace tidemark::archive {

namespace {

constexpr size_t kMaxDaysLookedAt = 20;

class Votes {
 public:
  void Add(const Json& row, std::string_view field) {
    const auto value = row.Find(field);
    const auto team = slack::TeamId::Parse(value ? value->AsString().value_or("") : "");
    if (team) ++counts_[*team];
  }
  std::optional<slack::TeamId> Winner() const {
    const auto most = std::max_element(
        counts_.begin(), counts_.end(),
        [](const auto& left, const auto& right) { return left.second < right.second; });
    return most == counts_.end() ? std::nullopt : std::optional(most->first);
  }

 private:
  std::map<slack::TeamId, uint64_t> counts_;
};

std::string_view LastPart(std::string_view folder) {
  const size_t slash = folder.rfind('/');
  return slash == std::string_view::npos ? folder : folder.substr(slash + 1);
}

Result<std::optional<slack::TeamId>> GivenTeam(const std::vector<std::string>& given,
                                               std::string_view folder) {
  std::optional<slack::TeamId> for_all;
  for (const std::string& text : given) {
    const size_t sign = text.find('=');
    if (sign == std::string::npos) {
      for_all = TRY(slack::TeamId::Parse(text));
    } else if (text.substr(0, sign) == LastPart(folder)) {
      return std::optional(TRY(slack::TeamId::Parse(text.substr(sign + 1))));
    }
  }
  return for_all;
}

std::optional<slack::TeamId> TeamOfUsers(const ExportWorkspace& workspace, ExportReader* reader) {
  Votes votes;
  if (workspace.users) {
    reader->ReadObjects(*workspace.users, [&](const Json& user) { votes.Add(user, "team_id"); });
  }
  return votes.Winner();
}

std::optional<slack::TeamId> TeamOfMessages(const ExportWorkspace& workspace,
                                            ExportReader* reader) {
  Votes votes;
  size_t looked_at = 0;
  for (const ExportConversation& conversation : workspace.conversations) {
    for (const ExportFile& day : conversation.days) {
      if (++looked_at > kMaxDaysLookedAt) return votes.Winner();
      reader->ReadObjects(day, [&](const Json& message) { votes.Add(message, "team"); });
    }
  }
  return votes.Winner();
}

}  // namespace

// On Grid the users of all workspaces stand in one list, which says nothing of any of them.
Result<slack::TeamId> FindTeam(const ExportWorkspace& workspace,
                               const std::vector<std::string>& given, ExportReader* reader) {
  if (const auto team = TRY(GivenTeam(given, workspace.folder))) return *team;
  const bool has_own_users =
      workspace.users && workspace.users->name.find("org_users") == std::string::npos;
  if (has_own_users) {
    if (const auto team = TeamOfUsers(workspace, reader)) return *team;
  }
  if (const auto team = TeamOfMessages(workspace, reader)) return *team;
  const std::string flag = workspace.folder.empty()
                               ? "--team T01234567"
                               : fmt::format("--team {}=T01234567", LastPart(workspace.folder));
  return Invalid(
      fmt::format("the export does not say which team it is of: give its id with {}", flag));
}

}  // namespace tidemark::archive
