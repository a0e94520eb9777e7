// The world of documents with everything that reads, writes and synchronizes.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "apps/documents/event_handler.h"
#include "apps/documents/fallback_reader.h"
#include "apps/documents/range_reader.h"
#include "apps/documents/repairs.h"
#include "apps/documents/synchronizer.h"
#include "apps/documents/write_through.h"
#include "tests/documents/read_now.h"
#include "tests/documents/world.h"

namespace tidemark::documents {

// The document of most tests, and two versions of it.
inline const std::string kId = "CHG-2025-001";
inline const Draft kFirst{.title = "first"};
inline const Draft kSecond{.title = "second"};

inline void PrintTo(SyncOutcome outcome, std::ostream* out) { *out << static_cast<int>(outcome); }
inline void PrintTo(RecordFate fate, std::ostream* out) { *out << ToString(fate); }

// Whether the row and the object hold the same version, or neither holds one.
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

  Result<WriteResult> Write(const Draft& draft, std::optional<std::string> expected = {}) {
    return writer.Write(NewContext(),
                        {.document = DocumentOf(draft), .expected_etag = std::move(expected)});
  }
  Result<WriteResult> Delete(const std::string& id) {
    return writer.Delete(NewContext(), {.id = id});
  }
  Result<std::optional<ReadReply>> Read(const std::string& id) {
    return ReadNow(reader, NewContext(), id);
  }
  ReadReply MustRead(const std::string& id) {
    Result<std::optional<ReadReply>> read = Read(id);
    CHECK(read && *read);
    return **std::move(read);
  }
  // Whether a read returns the document, and whether it says that there is none. After an error
  // both are false.
  bool IsFound(const std::string& id) {
    const auto read = Read(id);
    return read && *read;
  }
  bool IsAbsent(const std::string& id) {
    const auto read = Read(id);
    return read && !*read;
  }
  SyncOutcome Sync(const std::string& id) {
    const auto reply = synchronizer.Sync(NewContext(), {.id = id});
    CHECK(reply.has_value());
    return reply->outcome;
  }
  // The row as it is in the table.
  std::optional<Row> RowOf(const std::string& id) {
    const std::optional<item::Item> stored = Stored(id);
    return stored ? DecodeRow(*stored) : std::nullopt;
  }
  // Leaves an intent, as a writer that dies after its first step.
  void LeaveIntent(const std::string& id, Intent intent) {
    const std::optional<Row> row = *rows.Load(NewContext(), id);
    Row next = row.value_or(Row{.id = id});
    intent.started = clock.Now();
    next.intent = std::move(intent);
    CHECK(*rows.Replace(NewContext(), row, std::move(next)));
  }
  // Writes the object with this tag, as a writer that dies after its second step.
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

  Synchronizer synchronizer{options, &rows, &store, &observer, runtime};
  Repairs repairs{options, &objects, &retrier, &synchronizer, &observer};
  WriteThrough writer{options, &rows, &store, &synchronizer, &repairs, &observer, runtime};
  RangeReader ranges{options, &rows, &store, &synchronizer, &observer};
  FallbackReader reader{options, &rows, &store, &synchronizer, &observer};
  EventHandler events{options, &synchronizer, &observer};
};

}  // namespace tidemark::documents
