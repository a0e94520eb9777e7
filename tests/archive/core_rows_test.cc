// What is true for every row: no false, no row too large, raw events only when they are enabled.
#include <array>
#include <string>
#include <variant>

#include "base/random.h"
#include "item/limits.h"
#include "item/size.h"
#include "tests/archive/archive_world.h"
#include "tests/support/forwarding_tables.h"
#include "tests/support/process_runtime.h"

namespace tidemark::archive {
namespace {

constexpr const char* kRowsTs = "1620000000.000200";

bool HoldsFalse(const item::Value& value) {
  if (const auto* flag = value.As<bool>()) return !*flag;
  if (const auto* list = value.As<item::List>()) {
    return std::any_of(list->begin(), list->end(), HoldsFalse);
  }
  if (const auto* map = value.As<item::Map>()) {
    return std::any_of(map->begin(), map->end(), [](const item::Attribute& attribute) {
      return HoldsFalse(attribute.value);
    });
  }
  return false;
}

// Makes events of all kinds out of few ids and times, with fields that are there, missing, of
// another kind, true or false.
class EventMaker {
 public:
  explicit EventMaker(uint64_t seed) : random_(seed) {}

  std::string Event() {
    static constexpr std::array kTypes = {
        "message",           "message",          "message",         "message",
        "channel_created",   "channel_rename",   "channel_archive", "channel_unarchive",
        "channel_deleted",   "group_archive",    "channel_topic",   "channel_convert_to_private",
        "reaction_added",    "reaction_removed", "pin_added",       "pin_removed",
        "user_change",       "team_join",        "team_rename",     "emoji_changed",
        "channel_left",      "app_uninstalled",  "tokens_revoked",  "member_joined_channel",
        "channel_id_changed"};
    return Object(R"("type":")" + Pick(kTypes) + "\"", 0);
  }

 private:
  template <typename Choices>
  std::string Pick(const Choices& choices) {
    return std::string(choices[random_.Below(std::size(choices))]);
  }

  std::string Time() { return fmt::format(R"("162000000{}.000000")", random_.Below(9)); }
  std::string Flag() { return random_.Below(2) ? "true" : "false"; }
  std::string Channel() {
    return Pick(std::array<std::string, 3>{R"("C1X")", R"("C2X")",
                                           R"({"id":"C1X","name":"n","is_private":false})"});
  }
  std::string Text() {
    return Pick(std::array<std::string, 4>{R"("a")", R"("b")", R"("")", "null"});
  }
  std::string Subtype() {
    return Pick(std::array<std::string, 8>{R"("message_changed")", R"("message_deleted")",
                                           R"("tombstone")", R"("channel_topic")", R"("add")",
                                           R"("remove")", R"("new")", "false"});
  }

  std::string Value(std::string_view name, int depth) {
    if (random_.Below(20) == 0) return Flag();
    if (name.ends_with("ts")) return Time();
    if (name.starts_with("is_") || name == "deleted" || name == "hidden") return Flag();
    if (name == "channel" || name == "channel_id") return Channel();
    if (name == "old_channel_id") return R"("C1X")";
    if (name == "new_channel_id") return R"("C2X")";
    if (name == "subtype") return Subtype();
    if (name == "channel_type")
      return Pick(std::array<std::string, 2>{R"("channel")", R"("group")"});
    if (name == "user") return depth == 0 && random_.Below(2) ? User() : R"("UBOT")";
    if (name == "files") return R"([{"id":"F1","is_external":false,"size":0},{"id":"F2"}])";
    if (name == "names") return R"(["a","b"])";
    const bool nested = name == "message" || name == "previous_message" || name == "item" ||
                        name == "edited" || name == "profile";
    if (nested && depth < 3) return Object(R"("type":"message")", depth + 1);
    return Text();
  }
  std::string User() {
    return fmt::format(R"({{"id":"U1X","deleted":{},"is_bot":{},"name":"a"}})", Flag(), Flag());
  }

  std::string Object(std::string json, int depth) {
    static constexpr std::array kNames = {
        "ts",      "event_ts", "deleted_ts", "thread_ts", "channel",          "channel_id",
        "subtype", "user",     "text",       "message",   "previous_message", "edited",
        "item",    "files",    "topic",      "name",      "reaction",         "channel_type",
        "names",   "value",    "is_bot",     "deleted",   "old_channel_id",   "new_channel_id"};
    for (const char* name : kNames) {
      if (random_.Below(4) == 0) continue;
      json += fmt::format(R"(,"{}":{})", name, Value(name, depth));
    }
    return "{" + json + "}";
  }

  SeededRandom random_;
};

// Spec: 001-15
TEST(RowsTest, NoRowOfAnyEventHoldsFalse) {
  size_t stored = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    ArchiveWorld world;
    EventMaker maker(seed);
    for (int i = 0; i < 50; ++i) {
      const std::string event = maker.Event();
      SCOPED_TRACE(event);
      const ArchiveOutcome outcome = world.Post(event);
      if (outcome == ArchiveOutcome::kStored) ++stored;
      ASSERT_NE(world.Post(event), ArchiveOutcome::kStored);
    }
    for (const item::Item& row : world.Rows()) {
      ASSERT_FALSE(HoldsFalse(row)) << item::ToJson(row);
      for (const char* name : {"deleted", "archived"}) {
        ASSERT_TRUE(!row.Contains(name) || IsTrueIn(row, name));
      }
      const std::string id = TextIn(row, "itemId");
      ASSERT_TRUE(id.starts_with("message#T1X#") || id.starts_with("channel#T1X#") ||
                  id.starts_with("meta#T1X#"))
          << id;
    }
  }
  EXPECT_GT(stored, 100U);
}

std::string Large(size_t bytes) {
  return Posted(kRowsTs, "kept", R"(,"blocks":[")" + std::string(bytes, 'b') + R"("])");
}

// Spec: 001-17
TEST(RowsTest, ARawEventThatMakesTheRowTooLargeIsLeftOut) {
  ArchiveWorld world;
  EXPECT_EQ(world.Post(Large(item::kMaxItemBytes)), ArchiveOutcome::kStored);
  const item::Item row = world.MessageRow(kRowsTs);
  EXPECT_EQ(TextIn(row, "text"), "kept");
  EXPECT_FALSE(row.Contains("raw_event"));
  EXPECT_TRUE(IsTrueIn(row, "raw_event_dropped"));
  EXPECT_EQ(world.Post(Large(item::kMaxItemBytes)), ArchiveOutcome::kUnchanged);
  // The smaller raw event of the next edit is kept again.
  world.Post(Changed("1620000010.000300", Inner(kRowsTs, "two", Edited("1620000010.000000")),
                     Inner(kRowsTs, "kept")));
  EXPECT_TRUE(world.MessageRow(kRowsTs).Contains("raw_event"));
  EXPECT_FALSE(world.MessageRow(kRowsTs).Contains("raw_event_dropped"));
}

// No size around the limit makes the write fail.
TEST(RowsTest, AnEventOfAnySizeIsStored) {
  for (size_t bytes = item::kMaxItemBytes - 12'000; bytes < item::kMaxItemBytes + 2'000;
       bytes += 1'499) {
    ArchiveWorld world;
    EXPECT_EQ(world.Post(Large(bytes)), ArchiveOutcome::kStored);
    EXPECT_LE(item::SizeBytes(world.MessageRow(kRowsTs)), item::kMaxItemBytes);
  }
}

TEST(RowsTest, AMessageTooLargeForAnyRowIsLoggedAndLeftOut) {
  ArchiveWorld world;
  EXPECT_EQ(world.Post(Posted(kRowsTs, std::string(item::kMaxItemBytes, 't'))),
            ArchiveOutcome::kIncomplete);
  EXPECT_TRUE(world.Rows().empty());
  EXPECT_NE(world.Log().find("too large"), std::string::npos);
}

TEST(RowsTest, FortyKilobytesOfBlocksAreKeptAsTheyCame) {
  ArchiveWorld world;
  world.Post(Large(40'000));
  EXPECT_EQ(TextIn(world.MessageRow(kRowsTs), "raw_event"), Large(40'000));
}

std::vector<std::string> SomeEvents() {
  return {Posted(kRowsTs, "one"),
          Changed("1620000010.000300", Inner(kRowsTs, "two", Edited("1620000010.000000")),
                  Inner(kRowsTs, "one")),
          Deleted("1620000030.000300", "1620000000.000900", Inner("1620000000.000900", "gone")),
          R"({"type":"channel_created","event_ts":"1620000001.000000",)"
          R"("channel":{"id":"C1X","name":"general","is_private":false}})",
          R"({"type":"channel_rename","channel":{"id":"C1X","name":"new"},)"
          R"("event_ts":"1620000002.000000"})"};
}

// Spec: 001-74
TEST(RowsTest, WithoutRawEventsEverythingElseIsEqual) {
  ArchiveWorld with;
  ArchiveWorld without({.raw_events = false});
  for (const std::string& event : SomeEvents()) {
    with.Post(event);
    without.Post(event);
  }
  auto rows = with.Rows();
  size_t had = 0;
  for (item::Item& row : rows) had += row.Erase("raw_event") ? 1 : 0;
  EXPECT_EQ(had, 4U);
  EXPECT_EQ(without.Rows(), rows);
}

// Spec: 001-75
TEST(RowsTest, ALargeRowIsCountedAndNamedByItsKey) {
  ArchiveWorld world;
  world.Post(Large(100 << 10));
  EXPECT_EQ(world.Log(), "");
  world.Post(Changed(
      "1620000010.000300",
      Inner(kRowsTs, "two", R"(,"blocks":[")" + std::string(220 << 10, 'b') + R"("])"), ""));
  EXPECT_NE(world.Log().find("\"item_id\":\"message#T1X#C1X\""), std::string::npos) << world.Log();
  EXPECT_NE(world.Log().find(kRowsTs), std::string::npos) << world.Log();
  EXPECT_NE(world.metrics().Expose().find("tidemark_archive_large_rows_total 1"),
            std::string::npos);
}

// Counts calls, to check the cost of the most common event.
class CountingTables final : public testing::ForwardingTables {
 public:
  using ForwardingTables::ForwardingTables;
  int gets = 0;
  int others = 0;

 private:
  std::optional<testing::Fault> FaultIn(testing::Operation operation) override {
    ++(operation == testing::Operation::kGet ? gets : others);
    return std::nullopt;
  }
};

TEST(RowsTest, PlanningANewMessageReadsOneRow) {
  ArchiveWorld world;
  CountingTables counting(&world.tables());
  testing::ProcessRuntime process(world.clock(), &world.clock(), 1);
  Archive archive({}, &counting, process.runtime());
  const std::string body = EnvelopeOf(Posted(kRowsTs, "one"));
  const auto plan = archive.PlanEvent(ParseCallback(body));
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->actions.size(), 1U);
  EXPECT_EQ(counting.gets, 1);
  EXPECT_EQ(counting.others, 0);
}

}  // namespace
}  // namespace tidemark::archive
