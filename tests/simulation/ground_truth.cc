#include "tests/simulation/ground_truth.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace tidemark::testing {

namespace {

std::string At(const std::optional<Json>& json, std::string_view name) {
  const auto value = json ? json->Find(name) : std::nullopt;
  return std::string(value ? value->AsString().value_or("") : "");
}

std::string At(const std::optional<Json>& json, std::string_view outer, std::string_view name) {
  return At(json ? json->Find(outer) : std::nullopt, name);
}

bool IsTombstone(const std::optional<Json>& message) {
  return At(message, "subtype") == "tombstone";
}

std::string VersionOf(const Json& message) {
  const std::string edited = At(message, "edited", "ts");
  return edited.empty() ? At(message, "ts") : edited;
}

// What an edit changes: text, blocks, and attachments that are no previews of links.
std::string ContentOf(const std::optional<Json>& message) {
  std::string content = At(message, "text");
  if (const auto blocks = message ? message->Find("blocks") : std::nullopt)
    content += ToText(*blocks);
  const auto attachments = message ? message->Find("attachments") : std::nullopt;
  if (!attachments) return content;
  for (const Json attachment : attachments->Elements()) {
    if (At(attachment, "from_url").empty()) content += ToText(attachment);
  }
  return content;
}

void Set(const std::string& told, std::string* known) {
  if (!told.empty()) *known = told;
}

// What all versions share.
void SeeTraits(const Json& message, TrueMessage* known) {
  Set(At(message, "user"), &known->user);
  Set(At(message, "bot_id"), &known->bot_id);
  Set(At(message, "subtype"), &known->subtype);
  Set(At(message, "thread_ts"), &known->thread_ts);
  if (const auto files = message.Find("files")) {
    for (const Json file : files->Elements()) known->files.insert(At(file, "id"));
  }
}

// A message inside another event: nothing new, unless its own event had another channel id.
void See(const std::optional<Json>& message, TrueMessage* known) {
  if (!message || IsTombstone(message)) return;
  known->versions.try_emplace(VersionOf(*message), At(message, "text"));
  if (known->versions.size() == 1) known->text = At(message, "text");
  SeeTraits(*message, known);
}

void SetVersion(const std::string& version, const std::string& text, TrueMessage* known) {
  known->versions[version] = text;
  known->text = text;
}

// "topic" for channel_topic and group_topic, and so on; empty when it is not such a notice.
std::string_view ChangeIn(std::string_view name) {
  for (std::string_view prefix : {"channel_", "group_"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view change = name.substr(prefix.size());
    for (std::string_view known : {"topic", "purpose", "name", "archive", "unarchive",
                                   "convert_to_private", "convert_to_public"}) {
      if (change == known) return known;
    }
  }
  return "";
}

bool IsJoinOrLeave(std::string_view subtype) {
  return subtype == "channel_join" || subtype == "channel_leave";
}

// The bot that the events are sent for.
bool IsAboutTheBot(const Json& root, const Json& event) {
  const auto authorizations = root.Find("authorizations");
  if (!authorizations) return false;
  for (const Json authorization : authorizations->Elements()) {
    return At(authorization, "user_id") == At(event, "user");
  }
  return false;
}

void Rename(const std::string& name, TrueChannel* channel) {
  constexpr size_t kNames = 20;
  std::vector<std::string>& names = channel->names;
  if (!names.empty() && names.front() == name) return;
  names.insert(names.begin(), name);
  if (names.size() > kNames) names.pop_back();
}

TrueScope ScopeOfMessage(const std::string& channel, const std::string& type) {
  if (channel.starts_with("D") || type == "im" || type == "mpim") return TrueScope::kPrivate;
  return type == "channel" ? TrueScope::kPublic : TrueScope::kAsk;
}

}  // namespace

std::string GroundTruth::OfReaction(const ReactionKey& key) {
  return fmt::format("reaction {} {} {} {}", std::get<0>(key), std::get<1>(key), std::get<2>(key),
                     std::get<3>(key));
}

const Fact& GroundTruth::Apply(const demo::GeneratedEvent& event) {
  told_.push_back({.fact = Read(event)});
  return told_.back().fact;
}

// A server does not keep an event that arrives before it can know that the channel is public, and
// an id change copies what is known about the old id at that time. Both are correct.
void GroundTruth::Reached(size_t event) {
  Told& told = told_[event];
  const Fact& fact = told.fact;
  const bool is_known = known_public_.contains(fact.channel);
  if (fact.scope == TrueScope::kAsk && !is_known) Excuse(fact);
  if (std::exchange(told.was_reached, true) || fact.moved_from.empty()) return;
  told.old_id_was_known = known_public_.contains(fact.moved_from);
  if (!IsUpToDate(fact.moved_from)) excused_.insert(fact.subject);
}

std::string GroundTruth::HomeOf(const std::string& channel) const {
  const auto home = homes_.find(channel);
  return home == homes_.end() ? channel : home->second;
}

void GroundTruth::Excuse(const Fact& fact) {
  if (!fact.subject.empty()) excused_.insert(fact.subject);
  if (!fact.notice.empty()) excused_.insert(fact.notice);
}

// Nothing joins the ids of the channel, so each has a part of its messages.
void GroundTruth::TearApart(const std::string& home) {
  torn_.insert(home);
  for (const auto& [key, message] : messages_) {
    if (key.first == home) excused_.insert(OfMessage(key));
  }
  for (const auto& [key, is_given] : reactions_) {
    if (std::get<0>(key) == home) excused_.insert(OfReaction(key));
  }
  for (const MessageKey& key : pins_) {
    if (key.first == home) excused_.insert(OfPin(key));
  }
}

bool GroundTruth::IsUpToDate(const std::string& channel) const {
  return std::ranges::all_of(told_, [&](const Told& told) {
    return !told.fact.is_about_channel || told.fact.channel != channel || told.was_acknowledged;
  });
}

void GroundTruth::Acknowledged(size_t event) {
  Told& told = told_[event];
  told.was_acknowledged = told.was_kept = true;
  if (told.fact.is_evidence || told.old_id_was_known) known_public_.insert(told.fact.channel);
}

size_t GroundTruth::Settle() {
  size_t lost = 0;
  for (const Told& told : told_) {
    if (told.was_kept) continue;
    ++lost;
    Excuse(told.fact);
    if (!told.fact.moved_from.empty()) TearApart(HomeOf(told.fact.channel));
  }
  for (const Told& told : told_) {
    const bool is_copy = !told.fact.moved_from.empty();
    if (is_copy && IsExcused(OfChannel(told.fact.moved_from))) excused_.insert(told.fact.subject);
  }
  return lost;
}

Fact GroundTruth::Read(const demo::GeneratedEvent& generated) {
  for (const demo::File& file : generated.changes.files) files_.emplace(file.id, file);
  const JsonDocument document = JsonDocument::Parse(generated.body).value();
  const Json event = document.root().Find("event").value();
  const std::string type = At(event, "type");
  Fact fact;
  fact.time = At(event, "event_ts");
  if (fact.time.empty()) {
    fact.time = fmt::format("{}.000000", *document.root().Find("event_time")->AsInt());
  }
  if (type == "message") ApplyMessage(event, &fact);
  if (type == "reaction_added" || type == "reaction_removed") ApplyReaction(event, &fact);
  if (type == "pin_added" || type == "pin_removed") ApplyPin(event, &fact);
  if (type == "channel_id_changed") ApplyMove(event, &fact);
  if (type == "member_left_channel" && IsAboutTheBot(document.root(), event)) {
    fact.subject = OfAbsence(At(event, "channel"), fact.time);
    fact.channel = At(event, "channel");
    fact.scope = TrueScope::kAsk;
    absences_.emplace(At(event, "channel"), fact.time);
  }
  if (type == "user_change") {
    real_names_[At(event, "user", "id")] = At(event, "user", "real_name");
    fact.subject = "user " + At(event, "user", "id");
  }
  const bool is_of_channel = type == "channel_created" || type == "channel_rename" ||
                             type.ends_with("_deleted") || !ChangeIn(type).empty();
  if (is_of_channel) ApplyChannel(event, type, &fact);
  return fact;
}

bool GroundTruth::Admit(Fact* fact, bool is_evidence) {
  if (fact->scope == TrueScope::kPrivate) return false;
  if (fact->scope == TrueScope::kAsk && !public_.contains(fact->channel)) return false;
  fact->is_evidence = is_evidence && fact->scope == TrueScope::kPublic;
  if (is_evidence) public_.insert(fact->channel);
  return true;
}

TrueMessage& GroundTruth::MessageOf(const std::string& ts, Fact* fact) {
  const MessageKey key{HomeOf(fact->channel), ts};
  fact->subject = OfMessage(key);
  messages_[key].ids.insert(fact->channel);
  return messages_[key];
}

TrueChannel& GroundTruth::ChannelOf(Fact* fact) {
  fact->subject = OfChannel(fact->channel);
  fact->is_about_channel = true;
  TrueChannel& channel = channels_[fact->channel];
  if (fact->scope == TrueScope::kPublic && !channel.visibility) channel.visibility = "public";
  return channel;
}

void GroundTruth::ApplyMessage(const Json& event, Fact* fact) {
  const std::string subtype = At(event, "subtype");
  fact->channel = At(event, "channel");
  fact->scope = ScopeOfMessage(fact->channel, At(event, "channel_type"));
  if (IsJoinOrLeave(subtype)) return;
  if (const auto change = ChangeIn(subtype); !change.empty()) {
    return ApplyNotice(event, change, fact);
  }
  if (!Admit(fact, true)) {
    const std::string inner = At(event, "message", "ts");
    const std::string deleted = At(event, "deleted_ts");
    const std::string ts = !inner.empty() ? inner : !deleted.empty() ? deleted : At(event, "ts");
    doubtful_.insert(OfMessage({HomeOf(fact->channel), ts}));
    return;
  }
  if (subtype == "message_deleted") return ApplyDeletion(event, fact);
  if (const auto message = event.Find("message")) return ApplyChange(event, *message, fact);
  TrueMessage& message = MessageOf(At(event, "ts"), fact);
  SetVersion(VersionOf(event), At(event, "text"), &message);
  SeeTraits(event, &message);
}

void GroundTruth::Delete(TrueMessage* message, const Fact& fact) const {
  if (message->deleted_at.empty()) message->deleted_at = fact.time;
}

void GroundTruth::ApplyDeletion(const Json& event, Fact* fact) {
  TrueMessage& message = MessageOf(At(event, "deleted_ts"), fact);
  See(event.Find("previous_message"), &message);
  Delete(&message, *fact);
}

void GroundTruth::ApplyChange(const Json& event, const Json& message, Fact* fact) {
  TrueMessage& known = MessageOf(At(message, "ts"), fact);
  const auto previous = event.Find("previous_message");
  if (IsTombstone(message)) {
    See(previous, &known);
    Set(At(message, "thread_ts"), &known.thread_ts);
    return Delete(&known, *fact);
  }
  const bool is_change = At(event, "subtype") == "message_changed";
  const std::string edited = At(message, "edited", "ts");
  const bool by_person = !edited.empty() && edited != At(previous, "edited", "ts");
  const bool by_machine = !by_person && ContentOf(message) != ContentOf(previous);
  if (!is_change || (!by_person && !by_machine)) return See(message, &known);
  See(previous, &known);
  SetVersion(by_person ? edited : fact->time, At(message, "text"), &known);
  SeeTraits(message, &known);
}

void GroundTruth::ApplyNotice(const Json& event, std::string_view change, Fact* fact) {
  if (change.starts_with("convert_to_")) fact->scope = TrueScope::kPublic;
  if (!Admit(fact, true)) {
    doubtful_.insert(OfMessage({HomeOf(fact->channel), At(event, "ts")}));
    doubtful_.insert(OfChannel(fact->channel));
    return;
  }
  TrueMessage& message = MessageOf(At(event, "ts"), fact);
  SetVersion(VersionOf(event), At(event, "text"), &message);
  SeeTraits(event, &message);
  fact->notice = fact->subject;
  TrueChannel& channel = ChannelOf(fact);
  if (change == "topic") channel.topic = At(event, "topic");
  if (change == "purpose") channel.purpose = At(event, "purpose");
  if (change == "name") Rename(At(event, "name"), &channel);
  if (change == "archive") channel.archived = true;
  if (change == "unarchive") channel.archived = false;
  if (change == "convert_to_private") channel.visibility = "private";
  if (change == "convert_to_public") channel.visibility = "public";
}

void GroundTruth::ApplyChannel(const Json& event, std::string_view type, Fact* fact) {
  const auto channel = event.Find("channel");
  fact->channel = channel && channel->IsObject() ? At(channel, "id") : At(event, "channel");
  const auto is_private =
      channel && channel->IsObject() ? channel->Find("is_private") : std::nullopt;
  const bool is_public = is_private && is_private->AsBool() == false;
  fact->scope = is_public ? TrueScope::kPublic : TrueScope::kAsk;
  if (!Admit(fact, true)) {
    doubtful_.insert(OfChannel(fact->channel));
    return;
  }
  TrueChannel& known = ChannelOf(fact);
  if (channel && channel->IsObject()) Rename(At(channel, "name"), &known);
  if (type.ends_with("_archive")) known.archived = true;
  if (type.ends_with("_unarchive")) known.archived = false;
  if (type.ends_with("_deleted")) known.deleted = true;
}

// Always applied: what was known about the old id is known about the new one.
void GroundTruth::ApplyMove(const Json& event, Fact* fact) {
  fact->channel = At(event, "new_channel_id");
  fact->moved_from = At(event, "old_channel_id");
  homes_[fact->channel] = HomeOf(fact->moved_from);
  const auto old = channels_.find(fact->moved_from);
  TrueChannel known = old == channels_.end() ? TrueChannel() : old->second;
  known.deleted = false;
  known.prev_channel_id = fact->moved_from;
  ChannelOf(fact) = known;
  if (public_.contains(fact->moved_from)) public_.insert(fact->channel);
}

void GroundTruth::ApplyReaction(const Json& event, Fact* fact) {
  const auto item = event.Find("item");
  fact->channel = At(item, "channel");
  fact->scope = TrueScope::kAsk;
  const ReactionKey key{HomeOf(fact->channel), At(item, "ts"), At(event, "reaction"),
                        At(event, "user")};
  const bool is_kept = Admit(fact, false);
  reactions_[key] = At(event, "type") == "reaction_added";
  if (is_kept) {
    fact->subject = OfReaction(key);
  } else {
    doubtful_.insert(OfReaction(key));
  }
}

void GroundTruth::ApplyPin(const Json& event, Fact* fact) {
  fact->channel = At(event, "channel_id");
  fact->scope = TrueScope::kAsk;
  const MessageKey key{HomeOf(fact->channel), At(event.Find("item"), "message", "ts")};
  if (!Admit(fact, false)) {
    doubtful_.insert(OfPin(key));
    return;
  }
  if (At(event, "type") == "pin_added") {
    pins_.insert(key);
  } else {
    pins_.erase(key);
  }
  fact->subject = OfPin(key);
}

}  // namespace tidemark::testing
