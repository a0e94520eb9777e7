// The rollout: table and handler first, writes past the cache, backfill, writes through it, and
// back. Whoever reads sees all that the object store holds, at every step.
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
  // As programs without the cache do it; the handler hears of it.
  void WritePastTheCache(const std::string& id) {
    const auto written = old_writer.Write(NewContext(), {.document = DocumentOf({.id = id})});
    ASSERT_TRUE(written.has_value());
    HearOf(id);
    ids.insert(id);
  }
  // The handler is given the event of the object.
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
  // Readers of both kinds, since not all change over in the same moment.
  void ExpectAllSeen(const char* phase) {
    SCOPED_TRACE(phase);
    EXPECT_EQ(Found(ranges), ids);
    EXPECT_EQ(Found(old_ranges), ids);
    for (const std::string& id : ids) {
      EXPECT_TRUE(old_reader.Get(NewContext(), id).has_value()) << id;
    }
  }

  std::set<std::string> ids;
  const DocumentsOptions disabled = Disabled(options);
  WriteThrough old_writer{disabled, &rows,   &store,  &synchronizer,
                          &repairs, &pauser, &random, &observer};
  FallbackReader old_reader{disabled, &rows, &store, &synchronizer, &observer};
  RangeReader old_ranges{disabled, &manager, &rows, &store, &observer};
  RangeReader ranges{options, &manager, &rows, &store, &observer};
  Backfill backfill{options, &rows, &store, &synchronizer, &observer};
};

// What "S3 holds" means to a range: all that was there at the time that the answer names, and all
// whose event was handled. Between the object and its event (002-49 says: normally under a second)
// a range is one short and says so by as_of alone; who asks by id, or without the cache, is not.
// Spec: 002-78
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
  EXPECT_TRUE(world.old_reader.Get(world.NewContext(), "LATE").has_value());
  world.HearOf("LATE");
  EXPECT_EQ(world.Found(world.ranges), (std::set<std::string>{"BEFORE", "LATE"}));
  world.Upload({.id = "UNHEARD"});
  EXPECT_TRUE(world.Read("UNHEARD").has_value());
}

// Every write's event is handled before anybody reads; the test above has the moment in between.
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
  for (const std::string& id : world.ids) EXPECT_TRUE(world.Read(id).has_value()) << id;

  world.WritePastTheCache("BACK");
  world.ExpectAllSeen("writes are off again");
}

}  // namespace
}  // namespace tidemark::documents
