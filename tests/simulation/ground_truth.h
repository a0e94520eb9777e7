// GroundTruth is what happened in the pretend workspace. Events are applied in the order in which
// they happened, each once, by code that is as simple as possible and shares nothing with the
// archive. In the end the archive must be equal to it, even if deliveries were late, repeated or
// out of order.
//
// What the archive cannot know is excused: the message, reaction, pin or channel of an event that
// no server acknowledged, or that arrived before a server could know
// that its channel is public. For that it is told what happens to each event. Used by one thread.
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
  std::set<std::string> ids;                    // Of its channel, as its events named it.
  std::map<std::string, std::string> versions;  // Time of the edit, or the ts → text.
  std::string text;                             // Of the last one.
  std::string deleted_at;                       // Empty: not deleted.
  std::string user;
  std::string bot_id;
  std::string subtype;
  std::string thread_ts;
  std::set<std::string> files;  // Ids.
  bool operator==(const TrueMessage&) const = default;
};

struct TrueChannel {
  std::vector<std::string> names;  // Newest first, without consecutive repeats.
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
  kAsk,      // Only earlier events say so.
  kPrivate,  // Never.
};

// What an event is about.
struct Fact {
  std::string channel;
  TrueScope scope = TrueScope::kNone;
  bool is_evidence = false;       // It shows that the channel is or was public.
  bool is_about_channel = false;  // It changes the channel itself.
  std::string moved_from;
  std::string subject;  // What is excused when the event is lost: "message C1 123.000".
  std::string notice;   // The same, of the message that tells of a change of the channel.
  std::string time;     // The event's.
};

class GroundTruth {
 public:
  using MessageKey = std::pair<std::string, std::string>;  // The home of the channel, ts.
  using ReactionKey = std::tuple<std::string, std::string, std::string, std::string>;

  // Events are identified by their number, starting at 0.
  const Fact& Apply(const demo::GeneratedEvent& event);
  const Fact& fact(size_t event) const { return told_[event].fact; }

  // A delivery of it reaches a server now, which may or may not handle it.
  void Reached(size_t event);
  void Acknowledged(size_t event);
  // It is in quarantine and will be promoted later.
  void Quarantined(size_t event) { told_[event].was_kept = true; }
  // No further events. Returns the number of events that were lost.
  size_t Settle();

  bool IsExcused(const std::string& subject) const {
    return excused_.contains(subject) || doubtful_.contains(subject);
  }

  // The first id of the channel that now has this id.
  std::string HomeOf(const std::string& channel) const;
  // An event that changed the id of this channel was lost: its ids are not known to be one channel.
  bool IsTorn(const std::string& home) const { return torn_.contains(home); }
  size_t excused() const { return excused_.size(); }

  static std::string OfMessage(const MessageKey& key) {
    return "message " + key.first + " " + key.second;
  }
  static std::string OfReaction(const ReactionKey& key);
  static std::string OfPin(const MessageKey& key) { return "pin " + key.first + " " + key.second; }
  static std::string OfChannel(const std::string& channel) { return "channel " + channel; }
  static std::string OfAbsence(const std::string& channel, const std::string& from) {
    return "absence " + channel + " " + from;
  }

  const std::map<MessageKey, TrueMessage>& messages() const { return messages_; }
  const std::map<std::string, TrueChannel>& channels() const { return channels_; }
  // The reactions that exist now; the others were removed.
  const std::map<ReactionKey, bool>& reactions() const { return reactions_; }
  const std::set<MessageKey>& pins() const { return pins_; }
  // When the bot was taken out of a channel.
  const std::set<std::pair<std::string, std::string>>& absences() const { return absences_; }
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

  // Whether the event is kept. Also records what it says about the channel.
  bool Admit(Fact* fact, bool is_evidence);
  // All events about the channel were handled by now.
  bool IsUpToDate(const std::string& channel) const;
  TrueMessage& MessageOf(const std::string& ts, Fact* fact);
  TrueChannel& ChannelOf(Fact* fact);
  void Delete(TrueMessage* message, const Fact& fact) const;
  void Excuse(const Fact& fact);
  void TearApart(const std::string& home);

  std::map<MessageKey, TrueMessage> messages_;
  std::map<std::string, TrueChannel> channels_;
  std::map<ReactionKey, bool> reactions_;
  std::set<MessageKey> pins_;
  std::set<std::pair<std::string, std::string>> absences_;
  std::map<std::string, demo::File> files_;
  std::map<std::string, std::string> real_names_;
  std::set<std::string> public_;              // Channels that are or were public.
  std::map<std::string, std::string> homes_;  // Of ids that replaced another one.
  std::set<std::string> torn_;

  struct Told {
    Fact fact;
    bool was_reached = false;
    bool was_acknowledged = false;
    bool was_kept = false;
    bool old_id_was_known = false;  // For an id change, at the time it first reached a server.
  };
  std::vector<Told> told_;
  std::set<std::string> known_public_;  // The same, as far as acknowledged events say so.
  std::set<std::string> excused_;
  // What was said in a channel before it became public is kept when it arrives after that.
  std::set<std::string> doubtful_;
};

}  // namespace tidemark::testing
