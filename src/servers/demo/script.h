// The scenes of the event generator. A scene is chosen by weight. It makes one thing happen in the
// workspace, and emits the events that Slack sends about it. events.h is the public interface.
//
// Only one thread may use it at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "servers/demo/events.h"
#include "servers/demo/shapes.h"
#include "servers/demo/stage.h"

namespace tidemark::demo {

// Each method makes one thing happen, which is one event or several. If there is nothing that it
// can happen to, it becomes a plain message.
class Script {
 public:
  Script(EventOptions options, Workspace workspace);

  GeneratedEvent Next();

 private:
  struct Scene {
    // How many of ten thousand messages this scene makes. For events that are not messages, the
    // weight is relative to messages.
    uint64_t weight;
    void (Script::*play)();
  };
  static const std::vector<Scene>& Scenes();
  uint64_t WeightOf(const Scene& scene) const;

  using WriteFields = std::function<void(JsonWriter*)>;

  void Post();
  void Reply();
  void Broadcast();
  void PostAsBot();
  void PostMe();
  void ShareFile();
  void Edit();
  void EditInHaste();
  void Revise(Message* message);
  void UpdateAsBot();
  void Delete();
  void Bury();
  void Join();
  void Leave();
  void SetTopic();
  void SetPurpose();
  void Rename();
  void Create();
  void Archive();
  void Unarchive();
  void Remove();
  void ChangeId();
  void ConvertToPrivate();
  void ConvertToPublic();
  void RemoveBot();
  void Uninstall();
  void React();
  void Unreact();
  void Pin();
  void Unpin();
  void ChangeStatus();
  void Deactivate();
  void ChangeEmoji();

  Message Draft(const Channel& channel);
  std::string PickTimeOf(const Channel& channel);
  // `root` is the root of the thread, for a reply that is also sent to the channel; otherwise null.
  Message& Say(const Channel& channel, Message message, Changes changes = {},
               const Message* root = nullptr);
  Message* AnswerSomebody(std::string_view subtype);
  Message* PickBuriedReply();
  void Unfurl(Message* message);
  void EmitChange(const Message& previous, const Message& message);
  void EmitDeletion(const Message& message);
  void EmitReplied(const Message& root);
  // A change of the channel itself, as an event: channel_archive, channel_unarchive.
  void EmitOfChannel(std::string_view type, const Channel& channel, const User& user);
  void EmitNotice(const Channel& channel, std::string_view subtype, const User& user,
                  const std::string& text, const WriteFields& more, Changes changes = {});
  void EmitMembership(std::string_view type, const Channel& channel, std::string_view user);
  void EmitCreated(const Channel& channel, const std::string& ts);
  void EmitPin(std::string_view type, const Message& message);
  void EmitReaction(std::string_view type, const Message& message, const Reaction& reaction);
  void EmitUser(const User& user);
  void Emit(std::string_view name, const WriteFields& write_fields, Changes changes = {});
  std::string MakeEventId();
  void WriteAuthorization(JsonWriter* writer) const;

  const EventOptions options_;
  const Team team_;
  const std::string app_id_;
  const std::string bot_user_;
  Stage stage_;
  const size_t target_channels_;
  const Surroundings surroundings_;
  const std::string gauge_bot_;
  const std::string run_;  // Part of the event ids, so that two runs have different ids.
  uint64_t total_weight_ = 0;
  uint64_t events_ = 0;
  uint64_t created_ = 0;
  std::string last_channel_;
  std::string last_ts_;
  std::vector<std::string> emoji_;
  std::set<std::string> announced_;  // Channels whose channel_created was emitted.
  std::deque<GeneratedEvent> ready_;
};

}  // namespace tidemark::demo
