// A workspace of any size behind the front door, with Slack's limits and a clock that the test
// moves.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/front_door/front_door.h"
#include "tests/support/manual_time.h"

namespace tidemark::testing {

class WorkspaceTest : public ::testing::Test {
 protected:
  void Open(const demo::WorkspaceOptions& size, const demo::ListPages& pages) {
    const demo::Workspace workspace = demo::MakeWorkspace(size);
    team_ = workspace.team.id;
    for (const demo::User& user : workspace.users) {
      if (!user.deactivated && user.bot_id.empty() && user.id != demo::kSlackbot) {
        people_.push_back(user);
      }
    }
    for (const demo::Channel& channel : workspace.channels) {
      if (!channel.archived && channel.kind == demo::ChannelKind::kPublic) {
        channels_.push_back(channel);
      }
    }
    door_.emplace(
        FrontDoor::WithArchive,
        FrontDoor::Surroundings{.workspace = workspace,
                                .slack = {.calls_a_minute = demo::SlackLimits(), .pages = pages},
                                .clock = &clock_,
                                .sleeper = &sleeper_});
  }

  // A second of the life of the service.
  void Pass() {
    clock_.Advance(std::chrono::seconds(1));
    ASSERT_TRUE(door_->service().WorkOnce());
  }
  // A message of the nth person in the nth channel.
  int Post(size_t n) {
    const std::string ts = fmt::format("{}.{:06}", clock_.NowSeconds(), n);
    const std::string body = fmt::format(
        R"({{"type":"event_callback","team_id":"{0}","api_app_id":"A1","event_id":"Ev{1}",)"
        R"("event_time":{2},"event":{{"type":"message","user":"{3}","channel":"{4}",)"
        R"("channel_type":"channel","ts":"{5}","event_ts":"{5}","text":"hello <@{6}>"}}}})",
        team_, n, clock_.NowSeconds(), Author(n).id, Place(n).id, ts, Author(n + 1).id);
    return door_->Send(body).status;
  }
  const demo::User& Author(size_t n) const { return people_[n * 37 % people_.size()]; }
  const demo::Channel& Place(size_t n) const { return channels_[n * 7 % channels_.size()]; }
  std::string Get(const std::string& path) {
    return door_->Call(http::Method::kGet, "/api/v1/teams/" + team_ + path).body;
  }

  ManualClock clock_;
  ManualSleeper sleeper_{&clock_};
  std::string team_;
  std::vector<demo::User> people_;
  std::vector<demo::Channel> channels_;
  std::optional<FrontDoor> door_;
};

}  // namespace tidemark::testing
