// The scenes in which something is said, changed, deleted or reacted to.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "servers/demo/script.h"

namespace tidemark::demo {
namespace {

// Five hexadecimal groups, as the clients of Slack make them for what a person sends.
std::string MakeClientId(Random& random) {
  const std::string hex = random.Hex(16);
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4),
                     hex.substr(16, 4), hex.substr(20));
}

bool IsByPerson(const Message& message) {
  return !message.user.empty() && message.subtype != "tombstone";
}

bool IsPlainRoot(const Message& message) {
  return message.IsRoot() && message.subtype.empty() && IsByPerson(message);
}

std::vector<Span> Plain(std::string text) { return {{SpanKind::kText, std::move(text)}}; }

}  // namespace

// A ts is unique within its channel only, so now and then two channels share one.
std::string Script::PickTimeOf(const Channel& channel) {
  if (stage_.Chance(200) && !last_ts_.empty() && channel.id != last_channel_) {
    return std::exchange(last_ts_, "");
  }
  last_channel_ = channel.id;
  last_ts_ = stage_.Tick();
  return last_ts_;
}

Message Script::Draft(const Channel& channel) {
  const std::string mentioned = stage_.PickActivePerson().id;
  return {.channel = channel.id,
          .ts = PickTimeOf(channel),
          .user = stage_.PickAuthor(channel).id,
          .spans = ComposeMessage(mentioned, stage_.random()),
          .client_msg_id = MakeClientId(stage_.random())};
}

Message& Script::Say(const Channel& channel, Message message, Changes changes,
                     const Message* root) {
  const bool is_named = channel.kind != ChannelKind::kPublic || announced_.contains(channel.id);
  if (options_.names_channels && !is_named) EmitCreated(channel, stage_.Tick());
  Emit(
      message.subtype.empty() ? "message" : message.subtype,
      [&](JsonWriter* writer) {
        WriteMessageFields(writer, message, surroundings_);
        if (root != nullptr) {
          writer->Key("root");
          writer->BeginObject();
          WriteMessageFields(writer, *root, surroundings_);
          writer->EndObject();
        }
        PutText(writer, "channel", channel.id);
        PutText(writer, "event_ts", message.ts);
        PutText(writer, "channel_type", ToString(channel.kind));
      },
      std::move(changes));
  return stage_.Remember(std::move(message));
}

void Script::Post() {
  const Channel& channel = stage_.PickChannel();
  Message& message = Say(channel, Draft(channel));
  if (HasLink(message.spans)) Unfurl(&message);
}

void Script::PostMe() {
  const Channel& channel = stage_.PickChannel();
  Message message = Draft(channel);
  message.subtype = "me_message";
  message.client_msg_id.clear();
  message.spans = Plain("puts the kettle on");
  Say(channel, std::move(message));
}

void Script::PostAsBot() {
  const Channel& channel = stage_.PickPublicChannel();
  // One report in twenty is as long as Slack allows.
  const size_t blocks = stage_.Chance(20) ? 50 : stage_.Chance(3) ? 3 : 0;
  Say(channel, {.channel = channel.id,
                .ts = stage_.Tick(),
                .subtype = "bot_message",
                .bot_id = gauge_bot_,
                .spans = ComposeSentence(stage_.random()),
                .report_blocks = blocks});
}

void Script::ShareFile() {
  const Channel& channel = stage_.PickChannel();
  Message message = Draft(channel);
  message.subtype = "file_share";
  message.spans = ComposeSentence(stage_.random());
  message.file = MakeFile({.user = message.user, .created = stage_.now()}, stage_.random());
  message.file_is_stub = stage_.Chance(20);
  const File file = *message.file;
  Say(channel, std::move(message), {.files = {file}});
  const std::string ts = stage_.Tick();
  Emit("file_shared", [&](JsonWriter* writer) {
    PutText(writer, "type", "file_shared");
    PutText(writer, "file_id", file.id);
    PutText(writer, "user_id", file.user);
    writer->Key("file");
    writer->Raw(fmt::format(R"({{"id":"{}"}})", file.id));
    PutText(writer, "channel_id", channel.id);
    PutText(writer, "event_ts", ts);
  });
}

// A reply to a recent message, preferably to one that already has replies. Null when there is no
// message.
Message* Script::AnswerSomebody(std::string_view subtype) {
  Message* root = nullptr;
  if (!stage_.Chance(3)) {
    root =
        stage_.PickMessage([](const Message& m) { return IsPlainRoot(m) && !m.repliers.empty(); });
  }
  if (root == nullptr) root = stage_.PickMessage(IsPlainRoot);
  if (root == nullptr) return nullptr;
  const Channel& channel = stage_.ChannelOf(*root);
  if (root->thread_ts.empty()) root->thread_ts = root->ts;
  Message message = Draft(channel);
  message.subtype = subtype;
  message.thread_ts = root->ts;
  root->repliers.push_back(message.user);
  root->latest_reply = message.ts;
  // The root is copied: remembering the reply may push it out.
  const Message grown = *root;
  Message& said = Say(channel, std::move(message), {}, subtype.empty() ? nullptr : &grown);
  EmitReplied(grown);
  return &said;
}

void Script::Reply() {
  Message* message = AnswerSomebody("");
  if (message == nullptr) return Post();
  if (HasLink(message->spans)) Unfurl(message);
}

void Script::Broadcast() {
  if (AnswerSomebody("thread_broadcast") == nullptr) Post();
}

// The Events API omits the subtype message_replied (a known bug of Slack). The event is then a
// message inside a message.
void Script::EmitReplied(const Message& root) {
  const std::string ts = stage_.Tick();
  Emit("message_replied", [&](JsonWriter* writer) {
    PutText(writer, "type", "message");
    writer->Key("message");
    writer->BeginObject();
    WriteMessageFields(writer, root, surroundings_);
    writer->EndObject();
    PutText(writer, "channel", root.channel);
    PutBool(writer, "hidden", true);
    PutText(writer, "ts", ts);
    PutText(writer, "event_ts", ts);
    PutText(writer, "channel_type", ToString(stage_.ChannelOf(root).kind));
  });
}

void Script::EmitChange(const Message& previous, const Message& message) {
  const std::string ts = stage_.TickSoon();
  Emit("message_changed", [&](JsonWriter* writer) {
    PutText(writer, "type", "message");
    PutText(writer, "subtype", "message_changed");
    for (const auto& [name, each] :
         {std::pair("message", &message), std::pair("previous_message", &previous)}) {
      writer->Key(name);
      writer->BeginObject();
      WriteMessageFields(writer, *each, surroundings_);
      writer->EndObject();
    }
    PutText(writer, "channel", message.channel);
    PutBool(writer, "hidden", true);
    PutText(writer, "ts", ts);
    PutText(writer, "event_ts", ts);
    PutText(writer, "channel_type", ToString(stage_.ChannelOf(message).kind));
  });
}

void Script::Unfurl(Message* message) {
  const Message previous = *message;
  message->has_preview = true;
  EmitChange(previous, *message);
}

// Slack gives the time of an edit in whole seconds.
void Script::Revise(Message* message) {
  const Message previous = *message;
  message->spans = Correct(std::move(message->spans), stage_.random());
  message->edited = Edited{.user = message->user, .ts = fmt::format("{}.000000", stage_.now())};
  EmitChange(previous, *message);
}

void Script::Edit() {
  Message* message = stage_.PickMessage(
      [](const Message& m) { return IsByPerson(m) && m.subtype != "me_message"; });
  if (message == nullptr) return Post();
  stage_.Tick();
  Revise(message);
  // In tests it is often followed by another one, which two servers may get at the same time.
  if (options_.mix == Mix::kEventful && stage_.Chance(2)) Revise(message);
}

// Somebody posts, and corrects it several times within a second or two.
void Script::EditInHaste() {
  const Channel& channel = stage_.PickPublicChannel();
  Message& message = Say(channel, Draft(channel));
  for (int i = 0; i < 3; ++i) Revise(&message);
}

// Bots edit their messages without an "edited" field.
void Script::UpdateAsBot() {
  Message* message = stage_.PickMessage([](const Message& m) { return !m.bot_id.empty(); });
  if (message == nullptr) return Edit();
  const Message previous = *message;
  message->spans = ComposeSentence(stage_.random());
  EmitChange(previous, *message);
}

void Script::EmitDeletion(const Message& message) {
  const std::string ts = stage_.Tick();
  Emit("message_deleted", [&](JsonWriter* writer) {
    PutText(writer, "type", "message");
    PutText(writer, "subtype", "message_deleted");
    writer->Key("previous_message");
    writer->BeginObject();
    WriteMessageFields(writer, message, surroundings_);
    writer->EndObject();
    PutText(writer, "channel", message.channel);
    PutBool(writer, "hidden", true);
    PutText(writer, "deleted_ts", message.ts);
    PutText(writer, "ts", ts);
    PutText(writer, "event_ts", ts);
    PutText(writer, "channel_type", ToString(stage_.ChannelOf(message).kind));
  });
}

// A reply under a tombstone, if there is one. Otherwise tombstones would seldom lose their last
// reply.
Message* Script::PickBuriedReply() {
  const Message* stone =
      stage_.PickMessage([](const Message& m) { return m.subtype == "tombstone"; });
  if (stone == nullptr) return nullptr;
  return stage_.PickMessage([&](const Message& m) {
    return !m.IsRoot() && m.thread_ts == stone->ts && m.channel == stone->channel;
  });
}

void Script::Delete() {
  Message* message = stage_.Chance(2) ? PickBuriedReply() : nullptr;
  if (message == nullptr) {
    message =
        stage_.PickMessage([](const Message& m) { return IsByPerson(m) && m.repliers.empty(); });
  }
  if (message == nullptr) return Post();
  const Message gone = *message;
  EmitDeletion(gone);
  stage_.Forget(*message);
  if (gone.IsRoot()) return;
  Message* root = stage_.FindMessage(gone.channel, gone.thread_ts);
  if (root == nullptr) return;
  root->repliers.erase(std::ranges::find(root->repliers, gone.user));
  // When the last reply is deleted, Slack removes the tombstone too.
  if (root->subtype == "tombstone" && root->repliers.empty()) {
    EmitDeletion(*root);
    stage_.Forget(*root);
  }
}

// Deletes a root that has replies. Slack shows a tombstone in its place.
void Script::Bury() {
  Message* message =
      stage_.PickMessage([](const Message& m) { return IsPlainRoot(m) && !m.repliers.empty(); });
  if (message == nullptr) return Post();
  const Message previous = *message;
  message->subtype = "tombstone";
  message->user = kSlackbot;
  message->spans = Plain("This message was deleted.");
  message->edited.reset();
  message->has_preview = false;
  message->reactions.clear();
  EmitChange(previous, *message);
}

void Script::EmitReaction(std::string_view type, const Message& message, const Reaction& reaction) {
  const std::string ts = stage_.Tick();
  Emit(type, [&](JsonWriter* writer) {
    PutText(writer, "type", type);
    PutText(writer, "user", reaction.user);
    PutText(writer, "reaction", reaction.name);
    writer->Key("item");
    writer->BeginObject();
    PutText(writer, "type", "message");
    PutText(writer, "channel", message.channel);
    PutText(writer, "ts", message.ts);
    writer->EndObject();
    if (!message.user.empty()) PutText(writer, "item_user", message.user);
    PutText(writer, "event_ts", ts);
  });
}

void Script::React() {
  Message* message = stage_.PickMessage([](const Message& m) { return m.subtype != "tombstone"; });
  if (message == nullptr) return Post();
  message->reactions.push_back({.user = stage_.PickAuthor(stage_.ChannelOf(*message)).id,
                                .name = std::string(PickReaction(stage_.random()))});
  EmitReaction("reaction_added", *message, message->reactions.back());
}

void Script::Unreact() {
  Message* message = stage_.PickMessage([](const Message& m) { return !m.reactions.empty(); });
  if (message == nullptr) return React();
  const Reaction reaction = message->reactions.back();
  message->reactions.pop_back();
  EmitReaction("reaction_removed", *message, reaction);
}

void Script::Pin() {
  Message* message =
      stage_.PickMessage([](const Message& m) { return IsPlainRoot(m) && !m.pinned; });
  if (message == nullptr) return Post();
  message->pinned = true;
  EmitPin("pin_added", *message);
}

void Script::Unpin() {
  Message* message =
      stage_.PickMessage([](const Message& m) { return IsPlainRoot(m) && m.pinned; });
  if (message == nullptr) return Pin();
  message->pinned = false;
  EmitPin("pin_removed", *message);
}

void Script::EmitPin(std::string_view type, const Message& message) {
  const std::string& user = stage_.PickAuthor(stage_.ChannelOf(message)).id;
  const std::string ts = stage_.Tick();
  Emit(type, [&](JsonWriter* writer) {
    PutText(writer, "type", type);
    PutText(writer, "user", user);
    PutText(writer, "channel_id", message.channel);
    writer->Key("item");
    writer->BeginObject();
    PutText(writer, "type", "message");
    PutText(writer, "channel", message.channel);
    PutInt(writer, "created", stage_.now());
    PutText(writer, "created_by", user);
    writer->Key("message");
    writer->BeginObject();
    WriteMessageFields(writer, message, surroundings_);
    writer->EndObject();
    writer->EndObject();
    PutText(writer, "item_user", message.user);
    PutInt(writer, "pin_count", 1);
    writer->Key("pinned_info");
    writer->BeginObject();
    PutText(writer, "channel", message.channel);
    PutText(writer, "pinned_by", user);
    PutInt(writer, "pinned_ts", stage_.now());
    writer->EndObject();
    PutBool(writer, "has_pins", message.pinned);
    PutText(writer, "event_ts", ts);
  });
}

}  // namespace tidemark::demo
