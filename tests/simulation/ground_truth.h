// GroundTruth is what happened in the pretend workspace: events are applied in the order in which
// they happened, each once, by code that is as plain as possible and shares nothing with the
// archive. What the archive ends up with, whatever was done to the deliveries, is compared with it.
//
// What nobody can know is excused, by name: the message, reaction, pin or channel that an event is
// about which never reached a server that said so, or which reached one before it could be known
// that its channel is public. For that it is told of what becomes of each event. One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/json.h"
#include "servers/demo/events.h"

namespace tidemark::testing {

struct TrueMessage {
  std::map<std::string, std::string> versions;  // Time of the edit, or the ts → text.
  std::string deleted_at;                       // Empty: it is there.
  std::string user;
  std::string bot_id;
  std::string subtype;
  std::string thread_ts;
  std::set<std::string> files;  // Ids.
  bool operator==(const TrueMessage&) const = default;
};

struct TrueChannel {
  std::vector<std::string> names;  // The newest first, without repeats in a row.
  std::optional<std::string> topic;
  std::optional<std::string> purpose;
  std::optional<std::string> visibility;
  std::string prev_channel_id;
  bool archived = false;
  bool deleted = false;
  bool operator==(const TrueChannel&) const = default;
};

// Whether the event's channel may be kept.
enum class TrueScope {
  kNone,     // The event is not about a channel.
  kPublic,   // The event itself says so.
  kAsk,      // Only what was told before says so.
  kPrivate,  // Never.
};

// What an event is about.
struct Fact {
  std::string channel;
  TrueScope scope = TrueScope::kNone;
  bool is_evidence = false;       // It tells that the channel is or was public.
  bool is_about_channel = false;  // It changes what is known of the channel itself.
  std::string moved_from;
  std::string subject;  // What is excused should the event be lost: "message C1 123.000".
  std::string time;     // The event's.
};

class GroundTruth {
 public:
  using MessageKey = std::pair<std::string, std::string>;  // Channel, ts.
  using ReactionKey = std::tuple<std::string, std::string, std::string, std::string>;

  // The events are known by their number, from 0 on.
  const Fact& Apply(const demo::GeneratedEvent& event);
  const Fact& fact(size_t event) const { return told_[event].fact; }

  // A delivery of it comes to a server now, which may or may not handle it.
  void Reached(size_t event);
  void Acknowledged(size_t event);
  // It is in quarantine, from where it will be promoted.
  void Quarantined(size_t event) { told_[event].was_kept = true; }
  // No event comes any more. The number of those that were lost.
  size_t Settle();

  bool IsExcused(const std::string& subject) const { return excused_.contains(subject); }
  size_t excused() const { return excused_.size(); }

  static std::string OfMessage(const MessageKey& key) {
    return "message " + key.first + " " + key.second;
  }
  static std::string OfReaction(const ReactionKey& key);
  static std::string OfPin(const MessageKey& key) { return "pin " + key.first + " " + key.second; }
  static std::string OfChannel(const std::string& channel) { return "channel " + channel; }

  const std::map<MessageKey, TrueMessage>& messages() const { return messages_; }
  const std::map<std::string, TrueChannel>& channels() const { return channels_; }
  // Who has given which reaction now; the others were taken back.
  const std::map<ReactionKey, bool>& reactions() const { return reactions_; }
  const std::set<MessageKey>& pins() const { return pins_; }
  const std::map<std::string, demo::File>& files() const { return files_; }
  const std::map<std::string, std::string>& real_names() const { return real_names_; }

 private:
  Fact Read(const demo::GeneratedEvent& event);
  void ApplyMessage(const Json& event, Fact* fact);
  void ApplyChange(const Json& event, const Json& message, Fact* fact);
  void ApplyDeletion(const Json& event, Fact* fact);
  void ApplyNotice(const Json& event, std::string_view change, Fact* fact);
  void ApplyChannel(const Json& event, std::string_view type, Fact* fact);
  void ApplyMove(const Json& event, Fact* fact);
  void ApplyReaction(const Json& event, Fact* fact);
  void ApplyPin(const Json& event, Fact* fact);

  // Whether the event is kept; notes what it says of the channel.
  bool Admit(Fact* fact, bool is_evidence);
  // What is told of the channel was handled by now, all of it.
  bool IsUpToDate(const std::string& channel) const;
  TrueMessage& MessageOf(const std::string& ts, Fact* fact);
  TrueChannel& ChannelOf(Fact* fact);
  void Delete(TrueMessage* message, const Fact& fact) const;

  std::map<MessageKey, TrueMessage> messages_;
  std::map<std::string, TrueChannel> channels_;
  std::map<ReactionKey, bool> reactions_;
  std::set<MessageKey> pins_;
  std::map<std::string, demo::File> files_;
  std::map<std::string, std::string> real_names_;
  std::set<std::string> public_;  // Channels that are or were public.

  struct Told {
    Fact fact;
    bool was_reached = false;
    bool was_acknowledged = false;
    bool was_kept = false;
    bool old_id_was_known = false;  // Of an id change, when it first reached a server.
  };
  std::vector<Told> told_;
  std::set<std::string> known_public_;  // Likewise, by events that were acknowledged.
  std::set<std::string> excused_;
};

}  // namespace tidemark::testing
