#include "servers/demo/events.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/hashing.h"
#include "base/json.h"
#include "slack/event.h"

namespace tidemark::demo {
namespace {

constexpr uint64_t kSeed = 7;
constexpr size_t kManyEvents = 20'000;

EventGenerator MakeGenerator(uint64_t seed) {
  return EventGenerator({.seed = seed}, MakeWorkspace({.seed = seed}));
}

std::string HashOfFirst(size_t count, EventGenerator generator) {
  std::string bodies;
  for (size_t i = 0; i < count; ++i) bodies += generator.Next().body + "\n";
  return ToHex(Sha256(bodies));
}

struct Made : GeneratedEvent {
  slack::EventCallback callback;
};

Made Parse(GeneratedEvent event) {
  Result<slack::Envelope> envelope = slack::ParseEnvelope(event.body);
  EXPECT_TRUE(envelope) << event.body;
  return {std::move(event), std::get<slack::EventCallback>(std::move(*envelope))};
}

// Twenty thousand events, made once for all the tests that only look at them.
const std::vector<Made>& ManyEvents() {
  static const std::vector<Made> events = [] {
    EventGenerator generator = MakeGenerator(kSeed);
    std::vector<Made> made;
    for (size_t i = 0; i < kManyEvents; ++i) made.push_back(Parse(generator.Next()));
    return made;
  }();
  return events;
}

bool IsMessage(const Made& event) { return event.callback.event.type == "message"; }

std::map<std::string, size_t> CountByName() {
  std::map<std::string, size_t> counts;
  for (const Made& event : ManyEvents()) ++counts[event.name];
  return counts;
}

// With its seed a failed run can be repeated exactly.
TEST(EventsTest, AreTheSameBytesForTheSameSeed) {
  EXPECT_EQ(HashOfFirst(1000, MakeGenerator(7)), HashOfFirst(1000, MakeGenerator(7)));
  EXPECT_NE(HashOfFirst(1000, MakeGenerator(7)), HashOfFirst(1000, MakeGenerator(8)));
}

TEST(EventsTest, AreUnderstoodByTheParserOfEvents) {
  const Workspace workspace = MakeWorkspace({.seed = kSeed});
  for (const Made& event : ManyEvents()) {
    const slack::EventCallback& callback = event.callback;
    EXPECT_EQ(callback.team_id, workspace.team.id);
    EXPECT_EQ(callback.api_app_id, workspace.app_id);
    EXPECT_EQ(callback.event_id, event.event_id);
    EXPECT_GE(callback.event_time, 1'700'000'000);
    EXPECT_FALSE(callback.event.type.empty());
    if (!event.name.ends_with("_deleted") || event.name == "message_deleted") {
      EXPECT_FALSE(callback.event.event_ts.empty());
    }
  }
}

TEST(EventsTest, HaveIdsOfTheirOwnInEveryRun) {
  std::set<std::string> ids;
  for (const Made& event : ManyEvents()) ids.insert(event.event_id);
  EXPECT_EQ(ids.size(), kManyEvents);
  EventGenerator later({.seed = kSeed, .start = 1'700'000'001}, MakeWorkspace({.seed = kSeed}));
  EXPECT_FALSE(ids.contains(later.Next().event_id));
}

// The ts identifies a message only within its channel.
TEST(EventsTest, NameAMessageByItsTimeWithinItsChannel) {
  std::set<std::pair<std::string, std::string>> names;
  std::set<std::string> times;
  size_t shared = 0;
  EpochSeconds last = 0;
  for (const Made& event : ManyEvents()) {
    const slack::EventCallback& callback = event.callback;
    EXPECT_GE(callback.event_time, last);
    last = callback.event_time;
    if (callback.event.type != "message" || callback.event.hidden) continue;
    EXPECT_TRUE(names.emplace(callback.event.channel, callback.event.ts).second) << event.body;
    if (!times.insert(callback.event.ts).second) ++shared;
    // "1700000000.000001": ten digits, a point, six digits.
    EXPECT_EQ(callback.event.ts.size(), 17u);
    EXPECT_EQ(callback.event.ts[10], '.');
    EXPECT_LE(std::stoll(callback.event.ts), callback.event_time);
  }
  EXPECT_GT(shared, 0u);
}

// The shares measured on a busy workspace; a share may differ by four standard deviations.
TEST(EventsTest, ComeInTheMixOfABusyWorkspace) {
  const std::map<std::string, size_t> counts = CountByName();
  const auto messages = static_cast<double>(std::ranges::count_if(ManyEvents(), IsMessage));
  const std::map<std::string, double> expected = {
      {"message", 0.696},         {"message_changed", 0.108}, {"channel_join", 0.101},
      {"message_replied", 0.058}, {"channel_leave", 0.010},   {"bot_message", 0.010},
      {"message_deleted", 0.009}, {"file_share", 0.005}};
  for (const auto& [name, share] : expected) {
    const double tolerance = 4 * std::sqrt(share * (1 - share) / messages);
    EXPECT_NEAR(static_cast<double>(counts.at(name)) / messages, share, tolerance) << name;
  }
  const double reactions = static_cast<double>(counts.at("reaction_added"));
  EXPECT_GT(reactions / static_cast<double>(counts.at("message")), 0.3);
  EXPECT_LT(reactions / static_cast<double>(counts.at("message")), 0.5);
}

// Other archives have had bugs with each of these kinds, so a long run must contain all of them.
TEST(EventsTest, MeetEveryKind) {
  const std::map<std::string, size_t> counts = CountByName();
  for (const char* name : {"me_message",
                           "thread_broadcast",
                           "file_shared",
                           "channel_created",
                           "channel_rename",
                           "channel_name",
                           "channel_archive",
                           "channel_deleted",
                           "channel_topic",
                           "channel_purpose",
                           "reaction_removed",
                           "pin_added",
                           "pin_removed",
                           "channel_unarchive",
                           "channel_convert_to_public",
                           "user_change",
                           "emoji_changed",
                           "channel_id_changed",
                           "channel_convert_to_private",
                           "member_joined_channel",
                           "member_left_channel"}) {
    EXPECT_GT(counts.count(name), 0u) << name;
    if (counts.contains(name)) {
      EXPECT_LT(counts.at(name), kManyEvents / 10) << name;
    }
  }
}

// The first channel has 15 % of the messages and the first three have 32 %.
TEST(EventsTest, AreSpreadUnevenlyOverTheChannels) {
  std::map<std::string, size_t> by_channel;
  double messages = 0;
  for (const Made& event : ManyEvents()) {
    if (event.name != "message") continue;
    ++by_channel[event.callback.event.channel];
    ++messages;
  }
  std::vector<size_t> counts;
  for (const auto& [channel, count] : by_channel) counts.push_back(count);
  std::ranges::sort(counts, std::greater());
  EXPECT_NEAR(static_cast<double>(counts[0]) / messages, 0.15, 0.02);
  EXPECT_NEAR(static_cast<double>(counts[0] + counts[1] + counts[2]) / messages, 0.32, 0.03);
  EXPECT_GT(counts.size(), 120u);
}

// Bodies must be as large as Slack's, so that a receiver is really tested.
TEST(EventsTest, AreAsLargeAsThoseOfSlack) {
  std::vector<size_t> sizes;
  size_t largest = 0;
  for (const Made& event : ManyEvents()) {
    if (event.name == "message") sizes.push_back(event.body.size());
    largest = std::max(largest, event.body.size());
  }
  std::ranges::sort(sizes);
  EXPECT_GT(sizes[sizes.size() / 2], 900u);
  EXPECT_LT(sizes[sizes.size() / 2], 1500u);
  EXPECT_GT(sizes[sizes.size() * 99 / 100], 2200u);
  EXPECT_GT(largest, 8'000u);
  EXPECT_LT(largest, 200'000u);
}

struct Changed {
  bool has_edited = false;
  bool same_text = false;
  std::string subtype;
  std::string user;
};

Changed ParseChanged(const GeneratedEvent& event) {
  const JsonDocument document = JsonDocument::Parse(event.body).value();
  const Json inner = *document.root().Find("event");
  const Json message = *inner.Find("message");
  const Json previous = *inner.Find("previous_message");
  EXPECT_EQ(message.Find("ts")->AsString(), previous.Find("ts")->AsString());
  EXPECT_NE(message.Find("ts")->AsString(), inner.Find("ts")->AsString());
  const auto subtype = message.Find("subtype");
  const auto user = message.Find("user");
  return {.has_edited = message.Find("edited").has_value(),
          .same_text = message.Find("text")->AsString() == previous.Find("text")->AsString(),
          .subtype = std::string(subtype ? *subtype->AsString() : ""),
          .user = std::string(user ? *user->AsString() : "")};
}

// Not every change is an edit: link previews and bots change messages without an `edited` field.
TEST(EventsTest, ChangeMessagesInAllTheWaysThatSlackDoes) {
  size_t edits = 0;
  size_t previews = 0;
  size_t stones = 0;
  size_t without_user = 0;
  for (const Made& event : ManyEvents()) {
    if (event.name != "message_changed") continue;
    const Changed changed = ParseChanged(event);
    if (changed.subtype == "tombstone") {
      ++stones;
      EXPECT_EQ(changed.user, kSlackbot);
    } else if (changed.user.empty()) {
      ++without_user;
    } else if (changed.same_text && !changed.has_edited) {
      ++previews;
    } else if (!changed.same_text) {
      ++edits;
      EXPECT_TRUE(changed.has_edited) << event.body;
    }
  }
  EXPECT_GT(edits, 400u);
  EXPECT_GT(previews, 400u);
  EXPECT_GT(stones, 5u);
  EXPECT_GT(without_user, 50u);
}

// A deletion contains the whole message, which is the last chance to archive it. A tombstone is
// removed with its last reply.
TEST(EventsTest, DeleteMessagesWithTheirContentAndTombstonesAfterTheirReplies) {
  size_t stones = 0;
  for (const Made& event : ManyEvents()) {
    if (event.name != "message_deleted") continue;
    const JsonDocument document = JsonDocument::Parse(event.body).value();
    const Json inner = *document.root().Find("event");
    const Json previous = *inner.Find("previous_message");
    EXPECT_EQ(previous.Find("ts")->AsString(), inner.Find("deleted_ts")->AsString());
    EXPECT_TRUE(previous.Find("text"));
    const auto subtype = previous.Find("subtype");
    if (subtype && subtype->AsString() == "tombstone") {
      ++stones;
      EXPECT_EQ(previous.Find("reply_count")->AsInt(), 0);
    }
  }
  EXPECT_GT(stones, 0u);
}

// The simulated Web API knows every user, channel and file that an event names.
TEST(EventsTest, NameOnlyUsersChannelsAndFilesThatExist) {
  Workspace workspace = MakeWorkspace({.seed = kSeed});
  for (const Made& event : ManyEvents()) {
    Apply(event.changes, &workspace);
    const slack::Event& inner = event.callback.event;
    if (!inner.user.empty()) {
      EXPECT_NE(FindUser(workspace, inner.user), nullptr) << event.body;
    }
    const bool is_gone = event.name == "channel_deleted" || event.name == "group_deleted" ||
                         event.name == "channel_id_changed";
    if (inner.channel.empty() || is_gone) continue;
    EXPECT_NE(FindChannel(workspace, inner.channel), nullptr) << event.body;
    for (const slack::File& file : inner.files) EXPECT_NE(FindFile(workspace, file.id), nullptr);
  }
}

// Only active users write, and only in channels that are not archived. The gate would refuse other
// messages.
TEST(EventsTest, ComeFromActivePeopleInOpenChannels) {
  Workspace workspace = MakeWorkspace({.seed = kSeed});
  for (const Made& event : ManyEvents()) {
    Apply(event.changes, &workspace);
    if (event.name != "message" && event.name != "reaction_added") continue;
    const slack::Event& inner = event.callback.event;
    EXPECT_FALSE(FindUser(workspace, inner.user)->deactivated) << event.body;
    EXPECT_FALSE(FindChannel(workspace, inner.channel)->archived) << event.body;
  }
}

// The generator never ends, so nothing may run out or grow without limit.
TEST(EventsTest, ContinueWhileTheWorkspaceKeepsItsSize) {
  EventGenerator generator = MakeGenerator(kSeed);
  Workspace workspace = MakeWorkspace({.seed = kSeed});
  for (size_t i = 0; i < 20'000; ++i) {
    Changes changes = generator.Next().changes;
    changes.files.clear();
    Apply(changes, &workspace);
  }
  EXPECT_GT(workspace.channels.size(), 120u);
  EXPECT_LT(workspace.channels.size(), 185u);
  EXPECT_LT(std::ranges::count(workspace.users, true, &User::deactivated), 40);
}

TEST(EventsTest, PointFilesToWhereTheyAreServed) {
  EventGenerator generator({.seed = kSeed, .files_url = "http://127.0.0.1:9/files"},
                           MakeWorkspace({.seed = kSeed}));
  size_t seen = 0;
  for (size_t i = 0; i < 2000; ++i) {
    const GeneratedEvent event = generator.Next();
    if (event.body.find("\"mode\":\"hosted\"") == std::string::npos) continue;
    ++seen;
    EXPECT_NE(event.body.find("\"url_private\":\"http://127.0.0.1:9/files/F0"), std::string::npos);
  }
  EXPECT_GT(seen, 0u);
}

}  // namespace
}  // namespace tidemark::demo
