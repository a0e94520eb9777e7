#include "servers/demo/script.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tidemark::demo {

const std::vector<Script::Scene>& Script::Scenes() {
  // Calibrated on a busy community: of its messages 69.6 % are plain (5.8 % of all in threads),
  // 10.8 % changes, 10.1 % joins, 5.8 % notes that a thread grew, 1 % leaves, 1 % of bots, 0.9 %
  // deletions, 0.5 % files. About half of the changes are previews, which follow from the links
  // posted. For each message there are 0.3 to 0.5 reactions.
  static const std::vector<Scene> scenes = {
      {6380, &Script::Post},
      {565, &Script::Reply},
      {15, &Script::Broadcast},
      {100, &Script::PostAsBot},
      {10, &Script::PostMe},
      {50, &Script::ShareFile},
      {420, &Script::Edit},
      {90, &Script::UpdateAsBot},
      {90, &Script::Delete},
      {15, &Script::Bury},
      {1010, &Script::Join},
      {100, &Script::Leave},
      {10, &Script::SetTopic},
      {8, &Script::SetPurpose},
      {6, &Script::Rename},
      {8, &Script::Create},
      {6, &Script::Archive},
      {6, &Script::Remove},
      {5, &Script::ChangeId},
      {5, &Script::ConvertToPrivate},
      {2600, &Script::React},
      {300, &Script::Unreact},
      {15, &Script::Pin},
      {120, &Script::ChangeStatus},
      {8, &Script::Deactivate},
      {8, &Script::ChangeEmoji},
      {5, &Script::EditInHaste},
      {3, &Script::Unarchive},
      {3, &Script::ConvertToPublic},
      {8, &Script::Unpin},
      // What a demo must not do to itself: only for tests.
      {0, &Script::RemoveBot},
      {0, &Script::Uninstall},
  };
  return scenes;
}

Script::Script(EventOptions options, Workspace workspace)
    : options_(std::move(options)),
      team_(workspace.team),
      app_id_(workspace.app_id),
      bot_user_(workspace.bot_user),
      // Another seed than the workspace's. With the same seed, ids of the workspace would be
      // generated again.
      stage_({.seed = ~options_.seed, .start = options_.start, .gap = options_.gap},
             std::move(workspace)),
      target_channels_(stage_.active_channels()),
      surroundings_{.team_id = team_.id, .files_url = options_.files_url},
      gauge_bot_(MakeId('B', stage_.random())),
      run_([&] {
        SeededRandom random(options_.seed ^ (static_cast<uint64_t>(options_.start) << 20));
        return MakeId('0', random).substr(2, 6);
      }()) {
  for (const Scene& scene : Scenes()) total_weight_ += WeightOf(scene);
}

uint64_t Script::WeightOf(const Scene& scene) const {
  constexpr uint64_t kSeldom = 40;
  constexpr uint64_t kOften = 400;
  return options_.mix == Mix::kBusy ? scene.weight : std::clamp(scene.weight, kSeldom, kOften);
}

GeneratedEvent Script::Next() {
  while (ready_.empty()) {
    uint64_t draw = stage_.random().Below(total_weight_);
    for (const Scene& scene : Scenes()) {
      if (draw < WeightOf(scene)) {
        (this->*scene.play)();
        break;
      }
      draw -= WeightOf(scene);
    }
  }
  GeneratedEvent event = std::move(ready_.front());
  ready_.pop_front();
  return event;
}

std::string Script::MakeEventId() { return fmt::format("Ev{}{:08X}", run_, events_++); }

void Script::WriteAuthorization(JsonWriter* writer) const {
  writer->Key("authorizations");
  writer->BeginArray();
  writer->BeginObject();
  writer->Key("enterprise_id");
  writer->Null();
  PutText(writer, "team_id", team_.id);
  PutText(writer, "user_id", bot_user_);
  PutBool(writer, "is_bot", true);
  PutBool(writer, "is_enterprise_install", false);
  writer->EndObject();
  writer->EndArray();
}

void Script::Emit(std::string_view name, const WriteFields& write_fields, Changes changes) {
  GeneratedEvent event = {.event_id = MakeEventId(),
                          .name = std::string(name),
                          .body = {},
                          .changes = std::move(changes)};
  JsonWriter writer(&event.body);
  writer.BeginObject();
  PutText(&writer, "token", "deprecated-and-not-a-secret");
  PutText(&writer, "team_id", team_.id);
  PutText(&writer, "context_team_id", team_.id);
  writer.Key("context_enterprise_id");
  writer.Null();
  PutText(&writer, "api_app_id", app_id_);
  writer.Key("event");
  writer.BeginObject();
  write_fields(&writer);
  writer.EndObject();
  PutText(&writer, "type", "event_callback");
  PutText(&writer, "event_id", event.event_id);
  PutInt(&writer, "event_time", stage_.now());
  WriteAuthorization(&writer);
  PutBool(&writer, "is_ext_shared_channel", false);
  PutText(&writer, "event_context", fmt::format("4-{}-{}", app_id_, event.event_id));
  writer.EndObject();
  ready_.push_back(std::move(event));
}

}  // namespace tidemark::demo
