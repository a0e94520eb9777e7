#include "servers/demo/workspace.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "slack/ids.h"

namespace tidemark::demo {
namespace {

std::vector<std::string> IdsOf(const Workspace& workspace) {
  std::vector<std::string> ids = {workspace.team.id, workspace.app_id};
  for (const User& user : workspace.users) ids.push_back(user.id);
  for (const Channel& channel : workspace.channels) ids.push_back(channel.id);
  for (const File& file : workspace.files) ids.push_back(file.id);
  return ids;
}

// A run that failed can be repeated from its seed alone.
TEST(WorkspaceTest, IsTheSameForTheSameSeed) {
  EXPECT_EQ(IdsOf(MakeWorkspace({.seed = 7})), IdsOf(MakeWorkspace({.seed = 7})));
  EXPECT_NE(IdsOf(MakeWorkspace({.seed = 7})), IdsOf(MakeWorkspace({.seed = 8})));
}

TEST(WorkspaceTest, HasIdsThatSlackCouldHaveGiven) {
  const Workspace workspace = MakeWorkspace({.seed = 7});
  EXPECT_TRUE(slack::TeamId::Parse(workspace.team.id));
  for (const User& user : workspace.users) EXPECT_TRUE(slack::UserId::Parse(user.id)) << user.id;
  for (const Channel& channel : workspace.channels) {
    EXPECT_TRUE(slack::ChannelId::Parse(channel.id)) << channel.id;
  }
  const std::vector<std::string> ids = IdsOf(workspace);
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), ids.size());
}

// The workspace has every kind of user and channel that existence checks must distinguish.
TEST(WorkspaceTest, HasPeopleAndChannelsOfEveryKind) {
  Workspace workspace = MakeWorkspace({.seed = 7});
  EXPECT_GT(std::ranges::count(workspace.users, true, &User::deactivated), 0);
  EXPECT_EQ(std::ranges::count(workspace.channels, true, &Channel::archived), 6);
  for (const ChannelKind kind : {ChannelKind::kPublic, ChannelKind::kPrivate, ChannelKind::kDirect,
                                 ChannelKind::kGroupDirect}) {
    EXPECT_GT(std::ranges::count(workspace.channels, kind, &Channel::kind), 0) << ToString(kind);
  }
  ASSERT_NE(FindUser(workspace, workspace.bot_user), nullptr);
  EXPECT_FALSE(FindUser(workspace, workspace.bot_user)->bot_id.empty());
  EXPECT_NE(FindUser(workspace, kSlackbot), nullptr);
}

TEST(WorkspaceTest, GivesNoTwoPeopleAndNoTwoChannelsOneName) {
  const Workspace workspace = MakeWorkspace({.seed = 7, .users = 600});
  std::set<std::string> people;
  for (const User& user : workspace.users) EXPECT_TRUE(people.insert(user.name).second);
  std::set<std::string> channels;
  for (const Channel& channel : workspace.channels) {
    if (channel.kind == ChannelKind::kDirect) continue;
    EXPECT_TRUE(channels.insert(channel.name).second) << channel.name;
  }
}

TEST(WorkspaceTest, AppliesChangesToKnownAndNewEntities) {
  Workspace workspace = MakeWorkspace({.seed = 7});
  Channel renamed = workspace.channels[0];
  renamed.name = "other";
  const std::string gone = workspace.channels[1].id;
  Apply({.channels = {renamed, {.id = "C0NEW", .name = "new"}}, .removed_channels = {gone}},
        &workspace);
  EXPECT_EQ(FindChannel(workspace, renamed.id)->name, "other");
  EXPECT_NE(FindChannel(workspace, "C0NEW"), nullptr);
  EXPECT_EQ(FindChannel(workspace, gone), nullptr);
}

TEST(WorkspaceTest, GivesFilesTheBytesThatTheyClaim) {
  const Workspace workspace = MakeWorkspace({.seed = 7});
  for (const File& file : workspace.files) {
    const std::string content = ContentOf(file);
    EXPECT_EQ(content.size(), file.size_bytes);
    if (file.filetype == "pdf") {
      EXPECT_TRUE(content.starts_with("%PDF-"));
    }
  }
}

}  // namespace
}  // namespace tidemark::demo
