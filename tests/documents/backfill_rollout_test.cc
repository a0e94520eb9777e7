// The rollout of the cache: first the table and the event handler, then a backfill, then writes
// through the cache, and back. At every step readers see everything that the object store holds.
#include <set>
#include <string>

#include <fmt/format.h>

#include "apps/documents/backfill.h"
#include "apps/documents/range_reader.h"
#include "tests/documents/write_world.h"

namespace tidemark::documents {
namespace {

DocumentsOptions Disabled(DocumentsOptions options) {
  options.enabled = false;
  return options;
}

struct RolloutWorld : WriteWorld {
  // Writes an object as programs without the cache do. The handler gets its event.
  void WritePastTheCache(const std::string& id) {
    const auto written = old_writer.Write(NewContext(), {.document = DocumentOf({.id = id})});
    ASSERT_TRUE(written.has_value());
    HearOf(id);
    ids.insert(id);
  }
  // Gives the event of the object to the handler.
  void HearOf(const std::string& id) {
    const EventReport handled = events.Handle(
        NewContext(), fmt::format(R"({{"Records":[{{"eventSource":"aws:s3",)"
                                  R"("eventName":"ObjectCreated:Put","s3":{{"bucket":)"
                                  R"({{"name":"{}"}},"object":{{"key":"{}"}}}}}}]}})",
                                  options.bucket, ObjectKey(options, id)));
    ASSERT_EQ(handled.records.front().fate, RecordFate::kSynced);
  }
  void WriteThroughTheCache(const std::string& id) {
    ASSERT_TRUE(Write({.id = id}).has_value());
    ids.insert(id);
  }
  std::set<std::string> Found(RangeReader& range_reader) {
    std::set<std::string> found;
    const auto reply = range_reader.Read(NewContext(), {.from = 0, .to = kToday, .limit = 1000},
                                         Beyond::kSearchObjects);
    EXPECT_TRUE(reply.has_value() && reply->coverage.complete);
    if (!reply) return found;
    for (const auto& document : reply->documents) found.insert(document.id());
    return found;
  }
  // Readers with and without the cache, because not all programs switch at the same moment.
  void ExpectAllSeen(const char* phase) {
    SCOPED_TRACE(phase);
    EXPECT_EQ(Found(ranges), ids);
    EXPECT_EQ(Found(old_ranges), ids);
    for (const std::string& id : ids) {
      const auto read = ReadNow(old_reader, NewContext(), id);
      EXPECT_TRUE(read && *read) << id;
    }
  }

  std::set<std::string> ids;
  const DocumentsOptions disabled = Disabled(options);
  WriteThrough old_writer{disabled, &rows, &store, &synchronizer, &repairs, &observer, runtime};
  FallbackReader old_reader{disabled, &rows, &store, &synchronizer, &observer};
  RangeReader old_ranges{disabled, &rows, &store, &synchronizer, &observer};
  RangeReader ranges{options, &rows, &store, &synchronizer, &observer};
  Backfill backfill{options, &rows, &store, &synchronizer, &observer};
};

// The limit of 002-78 (docs/decisions/0019-documents.md): a range has all objects that existed at
// the answer's as_of, and all objects whose event was handled. Between an object and its event
// (normally under a second) a range lacks that document, and only as_of shows it. A read by id, or
// without the cache, has it.
TEST(BackfillRolloutTest, ARangeSaysSinceWhenItDependsOnEvents) {
  RolloutWorld world;
  world.Upload({.id = "BEFORE"});
  const auto backfilled_at = world.clock.Now();
  ASSERT_TRUE(world.backfill.Run(world.NewContext(), {})->marked);
  world.Pass(std::chrono::seconds(10));
  world.Upload({.id = "LATE"});
  const auto early = world.ranges.Read(world.NewContext(), {.from = 0, .to = kToday, .limit = 1000},
                                       Beyond::kFlag);
  ASSERT_TRUE(early.has_value());
  ASSERT_EQ(early->documents.size(), 1U);
  EXPECT_EQ(early->documents.front().id(), "BEFORE");
  EXPECT_EQ(early->coverage.as_of, backfilled_at);
  EXPECT_EQ(world.Found(world.old_ranges), (std::set<std::string>{"BEFORE", "LATE"}));
  EXPECT_TRUE(ReadNow(world.old_reader, world.NewContext(), "LATE")->has_value());
  world.HearOf("LATE");
  EXPECT_EQ(world.Found(world.ranges), (std::set<std::string>{"BEFORE", "LATE"}));
  world.Upload({.id = "UNHEARD"});
  EXPECT_TRUE(world.IsFound("UNHEARD"));
}

// The event of every write is handled before the next read. The test above covers the moment in
// between.
// Spec: 002-78
TEST(BackfillRolloutTest, ReadersSeeEverythingInEveryPhase) {
  RolloutWorld world;
  for (int i = 0; i < 5; ++i) {
    world.Upload({.id = "BEFORE-" + std::to_string(i)});
    world.ids.insert("BEFORE-" + std::to_string(i));
  }
  world.Upload({.id = "ANCIENT", .created_at = kToday - 300 * kDay});
  world.ids.insert("ANCIENT");
  world.ExpectAllSeen("nothing but objects");

  world.WritePastTheCache("HANDLED");
  world.ExpectAllSeen("the handler fills a part of the table");

  std::stop_source stop;
  int opened = 0;
  world.objects.decide = [&](testing::ObjectOperation operation) {
    if (operation == testing::ObjectOperation::kOpen && ++opened == 4) stop.request_stop();
    return std::optional<testing::ObjectFault>();
  };
  const auto stopped = world.backfill.Run(world.NewContext(stop.get_token()), {});
  world.objects.decide = nullptr;
  ASSERT_FALSE(stopped->finished);
  world.ExpectAllSeen("a backfill was interrupted");

  ASSERT_TRUE(world.backfill.Run(world.NewContext(), {})->marked);
  world.ExpectAllSeen("the backfill is over");

  world.WriteThroughTheCache("WRITTEN");
  world.WritePastTheCache("OLD-WRITER");
  world.ExpectAllSeen("writes go through the cache, not yet all");
  for (const std::string& id : world.ids) EXPECT_TRUE(world.IsFound(id)) << id;

  world.WritePastTheCache("BACK");
  world.ExpectAllSeen("writes are off again");
}

}  // namespace
}  // namespace tidemark::documents
