// The stage on which the generator's events happen: who is there, what was said lately, and what
// time it is. It picks; it does not know what events look like.
//
// Everything follows from the seed. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "servers/demo/shapes.h"
#include "servers/demo/workspace.h"

namespace tidemark::demo {

struct StageOptions {
  uint64_t seed = 1;
  EpochSeconds start = 0;
  std::chrono::microseconds gap = std::chrono::milliseconds(100);
};

class Stage {
 public:
  Stage(const StageOptions& options, Workspace workspace);

  // Moves the time on, and returns it as a ts that no other moment has.
  std::string Tick();
  EpochSeconds now() const { return now_us_ / 1'000'000; }
  Random& random() { return random_; }
  bool Chance(uint64_t one_in) { return random_.Below(one_in) == 0; }

  // A conversation in which somebody can write; the first is picked far more often than the last.
  // References to channels hold until the channel is removed.
  Channel& PickChannel();
  Channel& PickPublicChannel();
  // One of the quieter half that is public or private; null when there is none.
  Channel* PickQuietChannel(std::function<bool(const Channel&)> suits);
  // Somebody who is not deactivated and may write there.
  const User& PickAuthor(const Channel& channel);
  User& PickActivePerson();
  // An active person with whom nobody has a direct conversation, which would be without author.
  User& PickSomebodyToLeave();
  // Null when there is none.
  User* PickDeactivatedPerson();

  Channel& AddChannel(Channel channel);
  void Archive(Channel* channel);
  // The archived channel that is gone with this; nullopt when there is none.
  std::optional<Channel> RemoveArchived();
  // Also in the messages remembered.
  void ChangeId(Channel* channel, const std::string& id);

  // References to messages hold until the next Remember or Forget.
  Message& Remember(Message message);
  // One of the last thousand messages that suits, rather a new one than an old one; null when
  // there is none.
  Message* PickMessage(const std::function<bool(const Message&)>& suits);
  Message* FindMessage(std::string_view channel, std::string_view ts);
  void Forget(const Message& message);

  // Of a channel of which a message is remembered.
  const Channel& ChannelOf(const Message& message);

  uint64_t deactivated_percent() const;
  size_t active_channels() const { return active_.size(); }
  size_t archived_channels() const { return archived_.size(); }

 private:
  void Rank();
  bool HasAuthor(const Channel& channel) const;

  SeededRandom random_;
  const std::chrono::microseconds gap_;
  int64_t now_us_;
  std::vector<User> people_;  // Neither the bot nor Slackbot.
  // The busiest first.
  std::vector<std::unique_ptr<Channel>> active_;
  std::vector<std::unique_ptr<Channel>> archived_;
  // Of the active ones: the share of the first, of the first two, and so on, in millionths.
  std::vector<uint64_t> shares_;
  std::deque<Message> recent_;
};

}  // namespace tidemark::demo
