#include "servers/demo/methods.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/json.h"
#include "slack/ids.h"

namespace tidemark::demo {
namespace {

constexpr size_t kDefaultPage = 100;
constexpr size_t kLargestPage = 999;
// Begins the cursor of an empty page; the rest is the cursor of the page after it.
constexpr std::string_view kEmptyPage = "empty-";

struct Call {
  const Parameters& parameters;
  World& world;

  std::string_view Find(std::string_view name) const {
    const auto found = parameters.find(std::string(name));
    return found == parameters.end() ? std::string_view() : found->second;
  }
  bool IsSet(std::string_view name) const { return Find(name) == "true" || Find(name) == "1"; }
};

// A method is a row: its name, the parameters that it knows, and the function that answers. A
// parameter that is not in its row is a fault: it is nearly always a misspelt one.
struct MethodRow {
  std::string_view name;
  std::vector<std::string_view> required;
  std::vector<std::string_view> optional;
  MethodAnswer (*answer)(const Call&);
};

MethodAnswer Fail(std::string_view error) { return {.body = ErrorBody(error)}; }
MethodAnswer Fault(std::string_view error, std::string fault) {
  return {.body = ErrorBody(error), .fault = std::move(fault)};
}

// An answer with ok and what the function writes.
MethodAnswer Succeed(const std::function<void(JsonWriter*)>& write) {
  MethodAnswer answer;
  JsonWriter writer(&answer.body);
  writer.BeginObject();
  PutBool(&writer, "ok", true);
  write(&writer);
  writer.EndObject();
  return answer;
}

// With what is needed and what there is, as Slack tells it.
std::optional<MethodAnswer> RequireScope(const Call& call, std::string_view scope) {
  if (call.world.scopes.contains(scope)) return std::nullopt;
  MethodAnswer answer;
  JsonWriter writer(&answer.body);
  writer.BeginObject();
  PutBool(&writer, "ok", false);
  PutText(&writer, "error", "missing_scope");
  PutText(&writer, "needed", scope);
  PutText(&writer, "provided", fmt::format("{}", fmt::join(call.world.scopes, ",")));
  writer.EndObject();
  return answer;
}

std::string_view ScopeOf(ChannelKind kind) {
  switch (kind) {
    case ChannelKind::kPublic:
      return "channels:read";
    case ChannelKind::kPrivate:
      return "groups:read";
    case ChannelKind::kDirect:
      return "im:read";
    case ChannelKind::kGroupDirect:
      return "mpim:read";
  }
  return "channels:read";
}

MethodAnswer TestAuth(const Call& call) {
  const Workspace& workspace = call.world.workspace;
  const User& bot = *FindUser(call.world.workspace, workspace.bot_user);
  return Succeed([&](JsonWriter* writer) {
    PutText(writer, "url", fmt::format("https://{}.slack.com/", workspace.team.domain));
    PutText(writer, "team", workspace.team.name);
    PutText(writer, "user", bot.name);
    PutText(writer, "team_id", workspace.team.id);
    PutText(writer, "user_id", bot.id);
    PutText(writer, "bot_id", bot.bot_id);
    PutBool(writer, "is_enterprise_install", false);
  });
}

MethodAnswer GetTeam(const Call& call) {
  if (auto missing = RequireScope(call, "team:read")) return *missing;
  const Team& team = call.world.workspace.team;
  const std::string_view asked = call.Find("team");
  if (!asked.empty() && !slack::TeamId::Parse(asked)) {
    return Fault("team_not_found", fmt::format("\"{}\" cannot be a team's id", asked));
  }
  if (!asked.empty() && asked != team.id) return Fail("team_not_found");
  return Succeed([&](JsonWriter* writer) {
    writer->Key("team");
    writer->BeginObject();
    PutText(writer, "id", team.id);
    PutText(writer, "name", team.name);
    PutText(writer, "domain", team.domain);
    PutText(writer, "email_domain", "harbour.example");
    writer->EndObject();
  });
}

MethodAnswer GetUser(const Call& call) {
  if (auto missing = RequireScope(call, "users:read")) return *missing;
  const std::string_view id = call.Find("user");
  if (!slack::UserId::Parse(id)) {
    return Fault("user_not_found", fmt::format("\"{}\" cannot be a user's id", id));
  }
  const User* user = FindUser(call.world.workspace, id);
  if (user == nullptr) return Fail("user_not_found");
  return Succeed([&](JsonWriter* writer) {
    writer->Key("user");
    WriteUser(writer, *user, call.world.surroundings);
  });
}

// Which scope is needed depends on the kind of the channel, so the channel is found first.
MethodAnswer GetConversation(const Call& call) {
  const std::string_view id = call.Find("channel");
  if (!slack::ChannelId::Parse(id)) {
    return Fault("channel_not_found", fmt::format("\"{}\" cannot be a channel's id", id));
  }
  const Channel* channel = FindChannel(call.world.workspace, id);
  if (channel == nullptr) return Fail("channel_not_found");
  if (auto missing = RequireScope(call, ScopeOf(channel->kind))) return *missing;
  return Succeed([&](JsonWriter* writer) {
    writer->Key("channel");
    WriteChannel(writer, *channel, call.world.surroundings);
  });
}

MethodAnswer GetFile(const Call& call) {
  if (auto missing = RequireScope(call, "files:read")) return *missing;
  const std::string_view id = call.Find("file");
  if (!id.starts_with('F')) {
    return Fault("file_not_found", fmt::format("\"{}\" cannot be a file's id", id));
  }
  const File* file = FindFile(call.world.workspace, id);
  if (file == nullptr) return Fail("file_not_found");
  return Succeed([&](JsonWriter* writer) {
    writer->Key("file");
    WriteFile(writer, *file, call.world.surroundings);
  });
}

std::optional<size_t> ParseCount(std::string_view text) {
  size_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count;
}

// A page of a list: which entries, and the cursor of the next page.
struct PageCut {
  size_t first = 0;
  size_t end = 0;
  std::string next = {};
};

// A cursor is the place of the first entry of its page.
std::optional<PageCut> CutPage(std::string_view cursor, size_t limit, size_t count,
                               const ListPages& pages) {
  const bool is_empty = cursor.starts_with(kEmptyPage);
  if (is_empty) cursor.remove_prefix(kEmptyPage.size());
  const auto first = cursor.empty() ? 0 : ParseCount(cursor);
  if (!first || *first > count) return std::nullopt;
  if (is_empty) return PageCut{.next = std::string(cursor)};
  const size_t end = std::min(count, *first + std::min(limit, pages.largest));
  PageCut cut{.first = *first, .end = end};
  if (end < count) cut.next = fmt::format("{}{}", pages.with_empty ? kEmptyPage : "", end);
  return cut;
}

// One page of the list under `name`.
template <typename T>
MethodAnswer GetPage(const Call& call, std::string_view name, const std::vector<const T*>& all,
                     void (*write)(JsonWriter*, const T&, const Surroundings&)) {
  const std::string_view limit_text = call.Find("limit");
  const auto limit = limit_text.empty() ? kDefaultPage : ParseCount(limit_text);
  if (!limit || *limit < 1 || *limit > kLargestPage) {
    return Fault("invalid_limit",
                 fmt::format("limit \"{}\" is not 1 to {}", limit_text, kLargestPage));
  }
  const std::string_view cursor = call.Find("cursor");
  const auto cut = CutPage(cursor, *limit, all.size(), call.world.pages);
  if (!cut)
    return Fault("invalid_cursor", fmt::format("cursor \"{}\" was never given out", cursor));
  return Succeed([&](JsonWriter* writer) {
    writer->Key(name);
    writer->BeginArray();
    for (size_t i = cut->first; i < cut->end; ++i) write(writer, *all[i], call.world.surroundings);
    writer->EndArray();
    writer->Key("response_metadata");
    writer->BeginObject();
    PutText(writer, "next_cursor", cut->next);
    writer->EndObject();
  });
}

// Deactivated people are in the list too, with "deleted": true. A client must not take presence in
// the list for existence.
MethodAnswer ListUsers(const Call& call) {
  if (auto missing = RequireScope(call, "users:read")) return *missing;
  std::vector<const User*> all;
  for (const User& user : call.world.workspace.users) all.push_back(&user);
  return GetPage(call, "members", all, &WriteUser);
}

std::optional<ChannelKind> KindOf(std::string_view type) {
  if (type == "public_channel") return ChannelKind::kPublic;
  if (type == "private_channel") return ChannelKind::kPrivate;
  if (type == "im") return ChannelKind::kDirect;
  if (type == "mpim") return ChannelKind::kGroupDirect;
  return std::nullopt;
}

MethodAnswer ListConversations(const Call& call) {
  std::string_view types = call.Find("types");
  if (types.empty()) types = "public_channel";
  std::set<ChannelKind> kinds;
  while (!types.empty()) {
    const std::string_view type = types.substr(0, types.find(','));
    types.remove_prefix(std::min(types.size(), type.size() + 1));
    const std::optional<ChannelKind> kind = KindOf(type);
    if (!kind) return Fault("invalid_types", fmt::format("there is no type \"{}\"", type));
    if (auto missing = RequireScope(call, ScopeOf(*kind))) return *missing;
    kinds.insert(*kind);
  }
  std::vector<const Channel*> all;
  for (const Channel& channel : call.world.workspace.channels) {
    if (channel.archived && call.IsSet("exclude_archived")) continue;
    if (kinds.contains(channel.kind)) all.push_back(&channel);
  }
  return GetPage(call, "channels", all, &WriteChannel);
}

const std::vector<MethodRow>& Methods() {
  static const std::vector<MethodRow> methods = {
      {"auth.test", {}, {}, &TestAuth},
      {"team.info", {}, {"team"}, &GetTeam},
      {"users.info", {"user"}, {"include_locale"}, &GetUser},
      {"conversations.info",
       {"channel"},
       {"include_locale", "include_num_members"},
       &GetConversation},
      {"files.info", {"file"}, {"count", "cursor", "limit", "page"}, &GetFile},
      {"users.list", {}, {"cursor", "include_locale", "limit", "team_id"}, &ListUsers},
      {"conversations.list",
       {},
       {"cursor", "exclude_archived", "limit", "team_id", "types"},
       &ListConversations},
  };
  return methods;
}

const MethodRow* FindMethod(std::string_view name) {
  const auto found = std::ranges::find(Methods(), name, &MethodRow::name);
  return found == Methods().end() ? nullptr : &*found;
}

}  // namespace

std::string ErrorBody(std::string_view error) {
  return fmt::format(R"({{"ok":false,"error":"{}"}})", error);
}

bool HasMethod(std::string_view method) { return FindMethod(method) != nullptr; }

// All rows go through the same checks of their parameters, so that no method can forget them.
MethodAnswer CallMethod(std::string_view method, const Parameters& parameters, World& world) {
  const MethodRow* row = FindMethod(method);
  CHECK(row != nullptr);
  for (const std::string_view name : row->required) {
    if (!parameters.contains(std::string(name))) {
      return Fault("invalid_arguments", fmt::format("{} needs {}", method, name));
    }
  }
  for (const auto& [name, value] : parameters) {
    const std::string_view view = name;
    if (std::ranges::count(row->required, view) + std::ranges::count(row->optional, view) == 0) {
      return Fault("invalid_arg_name", fmt::format("{} takes no \"{}\"", method, name));
    }
  }
  return row->answer({.parameters = parameters, .world = world});
}

}  // namespace tidemark::demo
