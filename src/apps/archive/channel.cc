#include "apps/archive/channel.h"

#include <algorithm>
#include <utility>

#include "apps/archive/attributes.h"

namespace tidemark::archive {

namespace {

using slack::Timestamp;

// The newest event wins; what no event told of loses to any that did. Two values of one moment do
// not occur, but must end the same way in both orders.
template <typename T>
void JoinRegister(const Register<T>& told, Register<T>* known) {
  if (!told.value) return;
  if (!known->value || known->at < told.at ||
      (known->at == told.at && *known->value < *told.value)) {
    *known = told;
  }
}

template <typename T>
void JoinValue(const std::optional<T>& value, const Timestamp& at, Register<T>* known) {
  JoinRegister(Register<T>{.value = value, .at = at}, known);
}

bool IsNewer(const NameChange& left, const NameChange& right) {
  return left.at == right.at ? left.name > right.name : left.at > right.at;
}

void JoinName(const NameChange& told, std::vector<NameChange>* changes) {
  const auto same = std::find_if(changes->begin(), changes->end(),
                                 [&](const NameChange& change) { return change.at == told.at; });
  if (same != changes->end()) {
    same->name = std::max(same->name, told.name);
    return;
  }
  changes->insert(std::lower_bound(changes->begin(), changes->end(), told, IsNewer), told);
  if (changes->size() > kMaxNameChanges) changes->pop_back();
}

bool SaysPublic(const ChannelNews& news) {
  return news.was_public || news.implies_public || news.visibility == Visibility::kPublic;
}

void JoinVisibility(const ChannelNews& news, Channel* channel) {
  channel->was_public = channel->EverPublic() || SaysPublic(news);
  if (news.implies_public) JoinRegister({.value = Visibility::kPublic}, &channel->visibility);
  JoinValue(news.visibility, news.event_ts, &channel->visibility);
}

void JoinRawEvent(const ChannelNews& news, Channel* channel) {
  if (channel->last_event_ts && news.event_ts <= *channel->last_event_ts) return;
  channel->last_event_ts = news.event_ts;
  channel->raw_event = news.raw_event;
  channel->raw_event_dropped = false;
}

}  // namespace

std::optional<std::string> Channel::name() const {
  return name_changes.empty() ? std::nullopt : std::optional(name_changes.front().name);
}

std::vector<std::string> Channel::names_history() const {
  std::vector<std::string> names;
  for (const NameChange& change : name_changes) {
    if (names.size() == kMaxNames) break;
    if (names.empty() || names.back() != change.name) names.push_back(change.name);
  }
  return names;
}

bool Channel::EverPublic() const { return was_public || visibility.value == Visibility::kPublic; }

void Join(const ChannelNews& news, Channel* channel) {
  if (news.name) JoinName({.at = news.event_ts, .name = *news.name}, &channel->name_changes);
  JoinVisibility(news, channel);
  JoinValue(news.archived, news.event_ts, &channel->archived);
  channel->deleted = channel->deleted || news.deleted;
  JoinValue(news.topic, news.event_ts, &channel->topic);
  JoinValue(news.purpose, news.event_ts, &channel->purpose);
  if (news.moved_from) {
    channel->prev_channel_id = std::max(channel->prev_channel_id, news.moved_from->text());
  }
  JoinRawEvent(news, channel);
}

void JoinState(const Channel& told, Channel* channel) {
  for (const NameChange& change : told.name_changes) JoinName(change, &channel->name_changes);
  channel->was_public = channel->EverPublic() || told.EverPublic();
  JoinRegister(told.visibility, &channel->visibility);
  JoinRegister(told.archived, &channel->archived);
  JoinRegister(told.topic, &channel->topic);
  JoinRegister(told.purpose, &channel->purpose);
}

Result<Channel> JoinRows(std::span<const item::Item> rows) {
  CHECK(!rows.empty());
  Channel newest = TRY(DecodeChannel(rows.front()));
  for (const item::Item& row : rows.subspan(1)) {
    Channel other = TRY(DecodeChannel(row));
    if (other.row_timestamp > newest.row_timestamp) std::swap(newest, other);
    JoinState(other, &newest);
    newest.deleted = newest.deleted || other.deleted;
    newest.prev_channel_id = std::max(newest.prev_channel_id, other.prev_channel_id);
    if (other.last_event_ts > newest.last_event_ts) {
      newest.last_event_ts = other.last_event_ts;
      newest.raw_event = other.raw_event;
      newest.raw_event_dropped = other.raw_event_dropped;
    }
  }
  return newest;
}

}  // namespace tidemark::archive
