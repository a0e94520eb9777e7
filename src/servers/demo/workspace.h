// A simulated Slack workspace as plain values: a small harbour company with people, conversations
// and files. The same seed makes the same workspace.
//
//   Workspace workspace = MakeWorkspace({.seed = 7});
//
// Changes describe what happens in it later. The event generator returns them, and the simulated
// Web API applies them to its own copy. Only one thread may use a workspace at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"

namespace tidemark::demo {

// The account that speaks for Slack itself; every workspace has it.
inline constexpr std::string_view kSlackbot = "USLACKBOT";

struct Team {
  std::string id;
  std::string name;
  std::string domain;
};

struct User {
  std::string id;
  std::string name;  // The handle: "amira.haddad".
  std::string real_name;
  std::string title;
  std::string time_zone;
  std::string status_text = {};
  std::string status_emoji = {};  // ":palm_tree:", or empty.
  std::string bot_id = {};        // Only of the bot's user.
  bool deactivated = false;
  EpochSeconds updated = 0;
};

enum class ChannelKind { kPublic, kPrivate, kDirect, kGroupDirect };

// As in an event's channel_type: "channel", "group", "im", "mpim".
std::string_view ToString(ChannelKind kind);

struct Channel {
  std::string id;  // The prefix does not tell the kind, except for D.
  std::string name;
  ChannelKind kind = ChannelKind::kPublic;
  std::string creator;
  EpochSeconds created = 0;
  std::string topic = {};
  std::string purpose = {};
  // Of direct conversations, the people other than the bot; elsewhere everybody may write.
  std::vector<std::string> members = {};
  bool archived = false;
};

struct File {
  std::string id;
  std::string name;
  std::string mimetype;
  std::string filetype;
  std::string user;
  EpochSeconds created = 0;
  size_t size_bytes = 0;
  // Stored on another host. The bot token must never be sent there.
  std::string external_url = {};
};

struct Workspace {
  Team team;
  std::string app_id;
  std::string bot_user;  // The id of one of the users.
  std::vector<User> users;
  std::vector<Channel> channels;  // The busiest first.
  std::vector<File> files;
};

struct WorkspaceOptions {
  uint64_t seed = 1;
  size_t users = 120;     // People, without the bot and Slackbot.
  size_t channels = 148;  // Of all kinds, without the archived ones.
  size_t archived = 6;    // In addition to these.
  size_t files = 12;      // Files that exist from the start.
  EpochSeconds founded = 1'600'000'000;
};

Workspace MakeWorkspace(const WorkspaceOptions& options);

struct FileOrigin {
  std::string user;
  EpochSeconds created = 0;
};
// A new file of this user. One in ten is stored on another host.
File MakeFile(const FileOrigin& origin, Random& random);

// The changes by an event: entities as they are now, and channels that were removed.
struct Changes {
  std::vector<User> users = {};
  std::vector<Channel> channels = {};
  std::vector<File> files = {};
  std::vector<std::string> removed_channels = {};
};

void Apply(const Changes& changes, Workspace* workspace);

// Null if there is none with this id.
User* FindUser(Workspace& workspace, std::string_view id);
Channel* FindChannel(Workspace& workspace, std::string_view id);
File* FindFile(Workspace& workspace, std::string_view id);

// The bytes of a file. They have the right length, and begin as a file of this type begins.
std::string ContentOf(const File& file);

// "C0…": a new id with this prefix.
std::string MakeId(char prefix, Random& random);

}  // namespace tidemark::demo
