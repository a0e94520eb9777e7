#include "servers/demo/stage.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"

namespace tidemark::demo {
namespace {

constexpr size_t kRemembered = 1000;
constexpr size_t kDraws = 12;
// Somebody leaves only so many picks after their last one, if there is such a person: events are
// delivered out of order and again, and those of somebody who has left are refused.
constexpr uint64_t kPicksBeforeLeaving = 250;
constexpr size_t kDrawsForLeaving = 1'000;
// Events about the whole channel choose from the quieter half of the channels. With fewer channels
// than this they would change all of them.
constexpr size_t kFewestChannels = 4;
// As measured on a busy workspace: the first channel has 15 % of the messages, the first three
// have 32 %.
constexpr std::array<double, 3> kFirstShares = {0.15, 0.095, 0.075};
constexpr double kTailExponent = -0.9;

}  // namespace

Stage::Stage(const StageOptions& options, Workspace workspace)
    : random_(options.seed), gap_(options.gap), now_us_(options.start * 1'000'000) {
  for (User& user : workspace.users) {
    if (user.bot_id.empty() && user.id != kSlackbot) people_.push_back(std::move(user));
  }
  for (Channel& channel : workspace.channels) {
    auto& list = channel.archived ? archived_ : active_;
    list.push_back(std::make_unique<Channel>(std::move(channel)));
  }
  Rank();
}

void Stage::Rank() {
  double tail = 0;
  for (size_t i = kFirstShares.size(); i < active_.size(); ++i) {
    tail += std::pow(static_cast<double>(i + 1), kTailExponent);
  }
  const double of_tail = 1 - kFirstShares[0] - kFirstShares[1] - kFirstShares[2];
  double sum = 0;
  shares_.clear();
  for (size_t i = 0; i < active_.size(); ++i) {
    sum += i < kFirstShares.size()
               ? kFirstShares[i]
               : of_tail * std::pow(static_cast<double>(i + 1), kTailExponent) / tail;
    shares_.push_back(static_cast<uint64_t>(sum * 1e6));
  }
  CHECK(!shares_.empty());
}

std::string Stage::Tick() {
  now_us_ += 1 + static_cast<int64_t>(random_.Below(2 * static_cast<uint64_t>(gap_.count()) + 1));
  return fmt::format("{}.{:06}", now_us_ / 1'000'000, now_us_ % 1'000'000);
}

std::string Stage::TickSoon() {
  constexpr uint64_t kMoment = 300'000;
  now_us_ += 1 + static_cast<int64_t>(random_.Below(kMoment));
  return fmt::format("{}.{:06}", now_us_ / 1'000'000, now_us_ % 1'000'000);
}

bool Stage::HasAuthor(const Channel& channel) const {
  if (channel.members.empty()) return true;
  return std::ranges::any_of(people_, [&](const User& user) {
    return !user.deactivated && std::ranges::count(channel.members, user.id) > 0;
  });
}

Channel& Stage::PickChannel() {
  while (true) {
    const uint64_t draw = random_.Below(shares_.back());
    const auto rank = std::ranges::upper_bound(shares_, draw) - shares_.begin();
    Channel& channel = *active_[static_cast<size_t>(rank)];
    if (HasAuthor(channel)) return channel;
  }
}

Channel& Stage::PickPublicChannel() {
  while (true) {
    Channel& channel = PickChannel();
    if (channel.kind == ChannelKind::kPublic) return channel;
  }
}

Channel* Stage::PickQuietChannel(std::function<bool(const Channel&)> suits) {
  if (active_.size() < kFewestChannels) return nullptr;
  for (size_t i = 0; i < kDraws; ++i) {
    const size_t half = active_.size() / 2;
    Channel& channel = *active_[half + random_.Below(active_.size() - half)];
    const bool is_channel =
        channel.kind == ChannelKind::kPublic || channel.kind == ChannelKind::kPrivate;
    if (is_channel && suits(channel)) return &channel;
  }
  return nullptr;
}

const User& Stage::PickAuthor(const Channel& channel) {
  if (channel.members.empty()) return PickActivePerson();
  while (true) {
    const std::string& id = channel.members[random_.Below(channel.members.size())];
    const auto user = std::ranges::find(people_, id, &User::id);
    if (user != people_.end() && !user->deactivated) return *user;
  }
}

User& Stage::PickActivePerson() {
  User& user = DrawActivePerson();
  picked_[user.id] = ++picks_;
  return user;
}

bool Stage::WasPickedLately(const User& user) const {
  const auto picked = picked_.find(user.id);
  return picked != picked_.end() && picks_ - picked->second < kPicksBeforeLeaving;
}

User& Stage::DrawActivePerson() {
  while (true) {
    // The smaller of two draws: some people talk more than others.
    const uint64_t draw = std::min(random_.Below(people_.size()), random_.Below(people_.size()));
    if (!people_[draw].deactivated) return people_[draw];
  }
}

User& Stage::PickSomebodyToLeave() {
  for (size_t draws = 1;; ++draws) {
    User& user = DrawActivePerson();
    const bool is_needed = std::ranges::any_of(active_, [&](const auto& channel) {
      return std::ranges::count(channel->members, user.id) > 0;
    });
    const bool may_be_on_the_way = draws < kDrawsForLeaving && WasPickedLately(user);
    if (!is_needed && !may_be_on_the_way) return user;
  }
}

uint64_t Stage::deactivated_percent() const {
  const auto count = std::ranges::count(people_, true, &User::deactivated);
  return static_cast<uint64_t>(count) * 100 / people_.size();
}

User* Stage::PickDeactivatedPerson() {
  const auto user = std::ranges::find(people_, true, &User::deactivated);
  return user == people_.end() ? nullptr : &*user;
}

Channel& Stage::AddChannel(Channel channel) {
  active_.push_back(std::make_unique<Channel>(std::move(channel)));
  Rank();
  return *active_.back();
}

void Stage::Archive(Channel* channel) {
  const auto found =
      std::ranges::find(active_, channel, [](const auto& owned) { return owned.get(); });
  CHECK(found != active_.end());
  channel->archived = true;
  std::erase_if(recent_, [&](const Message& message) { return message.channel == channel->id; });
  archived_.push_back(std::move(*found));
  active_.erase(found);
  Rank();
}

Channel* Stage::Unarchive() {
  if (archived_.empty()) return nullptr;
  const auto found = archived_.begin() + static_cast<ptrdiff_t>(random_.Below(archived_.size()));
  (*found)->archived = false;
  active_.push_back(std::move(*found));
  archived_.erase(found);
  Rank();
  return active_.back().get();
}

std::optional<Channel> Stage::RemoveArchived() {
  if (archived_.empty()) return std::nullopt;
  const size_t index = random_.Below(archived_.size());
  std::optional<Channel> gone = *archived_[index];
  archived_.erase(archived_.begin() + static_cast<ptrdiff_t>(index));
  return gone;
}

void Stage::ChangeId(Channel* channel, const std::string& id) {
  for (Message& message : recent_) {
    if (message.channel == channel->id) message.channel = id;
  }
  channel->id = id;
}

Message& Stage::Remember(Message message) {
  recent_.push_back(std::move(message));
  if (recent_.size() > kRemembered) recent_.pop_front();
  return recent_.back();
}

Message* Stage::PickMessage(const std::function<bool(const Message&)>& suits) {
  if (recent_.empty()) return nullptr;
  for (size_t i = 0; i < kDraws; ++i) {
    const uint64_t age = std::min(random_.Below(recent_.size()), random_.Below(recent_.size()));
    Message& message = recent_[recent_.size() - 1 - age];
    if (suits(message)) return &message;
  }
  // A rare kind of message is hardly ever drawn. Then the newest one that suits is taken.
  const auto newest = std::find_if(recent_.rbegin(), recent_.rend(), suits);
  return newest == recent_.rend() ? nullptr : &*newest;
}

Message* Stage::FindMessage(std::string_view channel, std::string_view ts) {
  for (auto message = recent_.rbegin(); message != recent_.rend(); ++message) {
    if (message->ts == ts && message->channel == channel) return &*message;
  }
  return nullptr;
}

void Stage::Forget(const Message& message) {
  std::erase_if(recent_, [&](const Message& each) { return &each == &message; });
}

const Channel& Stage::ChannelOf(const Message& message) {
  const auto found = std::ranges::find_if(
      active_, [&](const auto& channel) { return channel->id == message.channel; });
  CHECK(found != active_.end());
  return **found;
}

}  // namespace tidemark::demo
