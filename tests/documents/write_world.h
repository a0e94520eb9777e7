// The world of documents with both stores in it: everything that writes through, reads past and
// brings up to date.
#pragma once

#include <string>
#include <utility>

#include "apps/documents/event_handler.h"
#include "apps/documents/fallback_reader.h"
#include "apps/documents/repairs.h"
#include "apps/documents/settler.h"
#include "apps/documents/synchronizer.h"
#include "apps/documents/write_through.h"
#include "tests/documents/world.h"

namespace tidemark::documents {

inline void PrintTo(SyncOutcome outcome, std::ostream* out) { *out << static_cast<int>(outcome); }
inline void PrintTo(RecordFate fate, std::ostream* out) { *out << ToString(fate); }

// Whether row and object say the same, or both say nothing.
inline ::testing::AssertionResult RowEqualsObject(const DocumentsOptions& options,
                                                  tables::Tables& tables,
                                                  testing::MemoryObjects& objects,
                                                  const std::string& id) {
  const auto item = *tables.Get({.table = options.table, .key = {{"object_id", id}}});
  const std::optional<Row> row = item ? DecodeRow(*item) : std::nullopt;
  const auto object = *objects.Head(ObjectKey(options, id));
  if (row && row->intent) return ::testing::AssertionFailure() << id << " has an intent";
  const bool has_row = row && row->committed;
  if (has_row != object.has_value()) {
    return ::testing::AssertionFailure()
           << id << ": row " << has_row << ", object " << object.has_value();
  }
  if (!object) return ::testing::AssertionSuccess();
  if (row->committed->document && row->committed->etag == object->etag &&
      row->committed->document->json() == *objects.Bytes(object->key)) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << id << ": the row has another version than the object";
}

struct WriteWorld : World {
  explicit WriteWorld(DocumentsOptions given = {.rate_per_second = 100'000},
                      const MakeTables& make = {})
      : World(std::move(given), make) {}

  Outcome<WriteResult> Write(const Draft& draft, std::optional<std::string> expected = {}) {
    return writer.Write(NewContext(),
                        {.document = DocumentOf(draft), .expected_etag = std::move(expected)});
  }
  Outcome<WriteResult> Delete(const std::string& id) {
    return writer.Delete(NewContext(), {.id = id});
  }
  Outcome<ReadReply> Read(const std::string& id) { return reader.Get(NewContext(), id); }
  SyncOutcome Sync(const std::string& id) {
    const auto reply = synchronizer.Sync(NewContext(), {.id = id});
    CHECK(reply.has_value());
    return reply->outcome;
  }
  // As it is in the table.
  std::optional<Row> RowOf(const std::string& id) {
    const std::optional<item::Item> stored = Stored(id);
    return stored ? DecodeRow(*stored) : std::nullopt;
  }
  // An intent as a writer leaves it that dies after its first step.
  void LeaveIntent(const std::string& id, Intent intent) {
    const std::optional<Row> row = *rows.Load(NewContext(), id);
    Row next = row.value_or(Row{.id = id});
    intent.started = clock.Now();
    next.intent = std::move(intent);
    CHECK(*rows.Replace(NewContext(), row, std::move(next)));
  }
  // The object as a writer with this tag leaves it that dies after its second step.
  std::string UploadTagged(const Draft& draft, const std::string& txn) {
    return memory
        .Put({.key = ObjectKey(options, draft.id),
              .bytes = JsonOf(draft),
              .content_type = "application/json",
              .metadata = {{std::string(kTxnMetadata), txn}}})
        ->etag;
  }
  void PassLease() { Pass(options.intent_lease + 2 * options.skew); }

  ::testing::AssertionResult IsEqual(const std::string& id) {
    return RowEqualsObject(options, tables.inner(), memory, id);
  }

  Synchronizer synchronizer{options, &rows, &store, &observer};
  Settler settler{options, &rows, &synchronizer, &observer};
  Repairs repairs{options, &objects, &retrier, &synchronizer, &observer};
  WriteThrough writer{options, &rows, &store, &synchronizer, &repairs, &pauser, &random, &observer};
  FallbackReader reader{options, &rows, &store, &synchronizer, &observer};
  EventHandler events{options, &rows, &synchronizer, &observer};
};

}  // namespace tidemark::documents
