#include "servers/demo/workspace.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "servers/demo/phrases.h"

namespace tidemark::demo {
namespace {

// From the busiest on, what a channel is: mostly public, some private, some direct with the bot.
constexpr std::string_view kKinds = "PPPPPGPPDPPGPPPPPMPG";

ChannelKind KindOf(size_t rank) {
  switch (kKinds[rank % kKinds.size()]) {
    case 'G':
      return ChannelKind::kPrivate;
    case 'D':
      return ChannelKind::kDirect;
    case 'M':
      return ChannelKind::kGroupDirect;
    default:
      return ChannelKind::kPublic;
  }
}

// Half of the private channels are old enough to have ids that begin with G.
char PrefixOf(ChannelKind kind, Random& random) {
  switch (kind) {
    case ChannelKind::kPublic:
      return 'C';
    case ChannelKind::kPrivate:
      return random.Below(2) == 0 ? 'G' : 'C';
    case ChannelKind::kDirect:
      return 'D';
    case ChannelKind::kGroupDirect:
      return 'G';
  }
  return 'C';
}

User MakePerson(size_t number, const WorkspaceOptions& options, Random& random) {
  const PersonName name = NameOfPerson(number);
  return {.id = MakeId('U', random),
          .name = name.handle,
          .real_name = name.real_name,
          .title = std::string(PickTitle(random)),
          .time_zone = std::string(PickTimeZone(random)),
          // One in fifteen has left the company.
          .deactivated = number % 15 == 14,
          .updated = options.founded};
}

// People first: their number is the range from which authors and members are drawn. The bot and
// Slackbot come after them, and are never drawn.
void AddUsers(const WorkspaceOptions& options, Random& random, Workspace* workspace) {
  for (size_t i = 0; i < options.users; ++i) {
    workspace->users.push_back(MakePerson(i, options, random));
  }
  workspace->bot_user = MakeId('U', random);
  workspace->users.push_back({.id = workspace->bot_user,
                              .name = "tidemark",
                              .real_name = "Tidemark",
                              .title = "Keeps what must last",
                              .time_zone = "Europe/Amsterdam",
                              .bot_id = MakeId('B', random),
                              .updated = options.founded});
  workspace->users.push_back({.id = std::string(kSlackbot),
                              .name = "slackbot",
                              .real_name = "Slackbot",
                              .title = "",
                              .time_zone = "America/Los_Angeles",
                              .updated = options.founded});
}

const User& PickPerson(const WorkspaceOptions& options, const Workspace& workspace,
                       Random& random) {
  return workspace.users[random.Below(options.users)];
}

Channel MakeChannel(size_t rank, const WorkspaceOptions& options, const Workspace& workspace,
                    Random& random) {
  const ChannelKind kind = KindOf(rank);
  Channel channel = {.id = MakeId(PrefixOf(kind, random), random),
                     .name = NameOfChannel(rank),
                     .kind = kind,
                     .creator = PickPerson(options, workspace, random).id,
                     .created = options.founded + static_cast<EpochSeconds>(rank) * 3600,
                     .topic = std::string(PickTopic(random))};
  if (kind == ChannelKind::kDirect) {
    channel.name.clear();
    channel.members = {channel.creator};
  }
  if (kind == ChannelKind::kGroupDirect) {
    for (size_t i = 0; i < 3; ++i) {
      channel.members.push_back(PickPerson(options, workspace, random).id);
    }
    channel.name = fmt::format("mpdm-{}", rank);
  }
  return channel;
}

void AddChannels(const WorkspaceOptions& options, Random& random, Workspace* workspace) {
  for (size_t rank = 0; rank < options.channels; ++rank) {
    workspace->channels.push_back(MakeChannel(rank, options, *workspace, random));
  }
  for (size_t i = 0; i < options.archived; ++i) {
    Channel channel = MakeChannel(0, options, *workspace, random);
    channel.name = fmt::format("old-{}", NameOfChannel(i + 10));
    channel.archived = true;
    workspace->channels.push_back(std::move(channel));
  }
}

// What a file of the type begins with, as the checks of a download expect.
std::string_view MagicOf(std::string_view filetype) {
  if (filetype == "pdf") return "%PDF-1.7\n";
  if (filetype == "png") return "\x89PNG\r\n\x1a\n";
  if (filetype == "jpg") return "\xff\xd8\xff\xe0";
  if (filetype == "mp3") return "ID3\x04";
  if (filetype == "json") return "{\"containers\":[";
  return "";
}

template <typename T>
T* Find(std::vector<T>& entities, std::string_view id) {
  const auto found = std::ranges::find(entities, id, &T::id);
  return found == entities.end() ? nullptr : &*found;
}

// A changed entity keeps its place, because lists are cut into pages by place: a page that was read
// before must not show the same entity again.
template <typename T>
void PutAll(const std::vector<T>& changed, std::vector<T>* entities) {
  for (const T& entity : changed) {
    if (T* known = Find(*entities, entity.id)) {
      *known = entity;
    } else {
      entities->push_back(entity);
    }
  }
}

}  // namespace

std::string_view ToString(ChannelKind kind) {
  switch (kind) {
    case ChannelKind::kPublic:
      return "channel";
    case ChannelKind::kPrivate:
      return "group";
    case ChannelKind::kDirect:
      return "im";
    case ChannelKind::kGroupDirect:
      return "mpim";
  }
  return "channel";
}

// As long as Slack's newer ids. The second character is 0, so that ids that a test writes by hand
// (C1X) cannot be the same.
std::string MakeId(char prefix, Random& random) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string id = {prefix, '0'};
  for (size_t i = 0; i < 9; ++i) id += kDigits[random.Below(kDigits.size())];
  return id;
}

// The order of the calls is part of the result: they draw from one generator. Another order would
// give other ids for the same seed, and recorded expectations of tests would fail.
Workspace MakeWorkspace(const WorkspaceOptions& options) {
  SeededRandom random(options.seed);
  Workspace workspace;
  workspace.team = {
      .id = MakeId('T', random), .name = "Cairn Harbour Services", .domain = "cairn-harbour"};
  workspace.app_id = MakeId('A', random);
  AddUsers(options, random, &workspace);
  AddChannels(options, random, &workspace);
  for (size_t i = 0; i < options.files; ++i) {
    workspace.files.push_back(MakeFile(
        {.user = PickPerson(options, workspace, random).id, .created = options.founded}, random));
  }
  return workspace;
}

File MakeFile(const FileOrigin& origin, Random& random) {
  const FileTemplate form = PickFile(random);
  File file = {.id = MakeId('F', random),
               .name = fmt::format("{}-{}.{}", form.stem, random.Below(1000), form.extension),
               .mimetype = std::string(form.mimetype),
               .filetype = std::string(form.extension),
               .user = origin.user,
               .created = origin.created,
               .size_bytes = 200 + random.Below(100'000)};
  if (random.Below(10) == 0) {
    file.external_url = fmt::format("https://drive.example/open/{}", file.id);
  }
  return file;
}

void Apply(const Changes& changes, Workspace* workspace) {
  PutAll(changes.users, &workspace->users);
  PutAll(changes.channels, &workspace->channels);
  PutAll(changes.files, &workspace->files);
  for (const std::string& id : changes.removed_channels) {
    std::erase_if(workspace->channels, [&](const Channel& channel) { return channel.id == id; });
  }
}

User* FindUser(Workspace& workspace, std::string_view id) { return Find(workspace.users, id); }
Channel* FindChannel(Workspace& workspace, std::string_view id) {
  return Find(workspace.channels, id);
}
File* FindFile(Workspace& workspace, std::string_view id) { return Find(workspace.files, id); }

// Made anew each time and always the same, so that a test can compare a stored file without keeping
// a copy.
std::string ContentOf(const File& file) {
  std::string content(MagicOf(file.filetype));
  content.reserve(file.size_bytes + file.id.size() + 1);
  while (content.size() < file.size_bytes) content += file.id + "\n";
  content.resize(file.size_bytes);
  return content;
}

}  // namespace tidemark::demo
