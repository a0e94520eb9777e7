// The state that the event generator uses: people, channels, recent messages and the current time.
// It chooses people, channels and messages, and does not know how events look.
//
// All choices depend only on the seed. Only one thread may use it at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
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

  // Advances the time, and returns it as a ts that is never used again.
  std::string Tick();
  // The same a moment later, often within the same second.
  std::string TickSoon();
  EpochSeconds now() const { return now_us_ / 1'000'000; }
  Random& random() { return random_; }
  bool Chance(uint64_t one_in) { return random_.Below(one_in) == 0; }

  // A conversation in which somebody can write. The first ones are chosen far more often than the
  // last ones. A reference to a channel is valid until the channel is removed.
  Channel& PickChannel();
  Channel& PickPublicChannel();
  // One of the quieter half that is public or private; null if there is none.
  Channel* PickQuietChannel(std::function<bool(const Channel&)> suits);
  // Somebody who is not deactivated and may write there.
  const User& PickAuthor(const Channel& channel);
  User& PickActivePerson();
  // An active person who was not picked lately and has no direct conversation. Otherwise that
  // conversation would lose its author.
  User& PickSomebodyToLeave();
  // Null if there is none.
  User* PickDeactivatedPerson();

  Channel& AddChannel(Channel channel);
  void Archive(Channel* channel);
  // Makes an archived channel active again; null if there is none.
  Channel* Unarchive();
  // Removes an archived channel and returns it; nullopt if there is none.
  std::optional<Channel> RemoveArchived();
  // Also changes the remembered messages.
  void ChangeId(Channel* channel, const std::string& id);

  // A reference to a message is valid until the next Remember or Forget.
  Message& Remember(Message message);
  // One of the last thousand messages for which the function returns true. New ones are more
  // likely. Null if there is none.
  Message* PickMessage(const std::function<bool(const Message&)>& suits);
  Message* FindMessage(std::string_view channel, std::string_view ts);
  void Forget(const Message& message);

  // The channel must have a remembered message.
  const Channel& ChannelOf(const Message& message);

  uint64_t deactivated_percent() const;
  size_t active_channels() const { return active_.size(); }
  size_t archived_channels() const { return archived_.size(); }

 private:
  void Rank();
  bool HasAuthor(const Channel& channel) const;
  User& DrawActivePerson();
  bool WasPickedLately(const User& user) const;

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
  // The number of the last pick of each person.
  std::map<std::string, uint64_t> picked_;
  uint64_t picks_ = 0;
};

}  // namespace tidemark::demo
