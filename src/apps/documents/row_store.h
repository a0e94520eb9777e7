// RowStore reads and writes the cache's table; nothing else does. Its calls are limited in rate and
// retried as the Retrier says.
//
//   std::optional<Row> before = TRY(rows.Load(context, id));
//   const bool applied = TRY(rows.Replace(context, before, next));
//
// Every write is a compare-and-set: it happens only when the stored row is still the one that was
// read. A row and the pointers of its customers change in one transaction. The table needs to allow
// put, get, delete, query and describe, and nothing else.
//
// May be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/documents/context.h"
#include "apps/documents/options.h"
#include "apps/documents/retrier.h"
#include "apps/documents/row.h"
#include "base/runtime.h"
#include "base/secret.h"
#include "base/shared_text.h"
#include "tables/conditional_writer.h"
#include "tables/tables.h"

namespace tidemark::documents {

inline constexpr std::string_view kTimeRangeIndex = "TimeRangeIndex";        // object_type
inline constexpr std::string_view kCustomerTimeIndex = "CustomerTimeIndex";  // customer_code
inline constexpr std::string_view kStatusTimeIndex = "StatusTimeIndex";      // status

// The definition of the cache's table: one key, three indexes over times of creation, a tag for its
// costs.
tables::CreateTableRequest TableDefinition(const std::string& table);
// Makes the table, with its time to live, unless it is there. kInvalid when there is a table of
// this name with another definition.
Status EnsureCacheTable(tables::Tables& tables, const std::string& table);

// A row's place in an index. Rows are ordered by their time of creation, then by their keys.
struct RowPosition {
  EpochSeconds created_at = 0;
  std::string key;
  friend auto operator<=>(const RowPosition&, const RowPosition&) = default;
};

// A part of an index: one partition, and the times of creation, both ends included.
struct IndexRange {
  std::string_view index;
  std::string value;  // Of the index's partition.
  EpochSeconds from = 0;
  EpochSeconds to = 0;
};

// What an index has at one position: a row, a pointer to a row, or an item of somebody else.
struct IndexHit {
  RowPosition position;
  std::optional<Row> row;  // nullopt: it is not a row.
  std::string id;          // Of the row, also from a pointer. Empty: it is neither of the two.
  // The text of the document; null: there is none. The row itself comes without it, see
  // DecodeUnparsedRow.
  SharedText json = nullptr;
};

struct IndexPage {
  std::vector<IndexHit> hits;
  std::optional<RowPosition> last;  // Set when there may be more after it.
};

// What a run over all objects has proved: every document that was created since `complete_from` and
// was in the object store at `as_of` is in the table.
struct CoverageMark {
  EpochSeconds complete_from = 0;
  std::chrono::milliseconds as_of{0};
  friend bool operator==(const CoverageMark&, const CoverageMark&) = default;
};

// The size of the table. Its items are rows, pointers and the mark.
struct TableSize {
  uint64_t items = 0;
  uint64_t size_bytes = 0;
};

class RowStore {
 public:
  // All outlive this.
  RowStore(const DocumentsOptions& options, tables::Tables* tables, const Retrier* retrier,
           const Runtime& runtime);

  // Returns nullopt when there is no row. An expired row is returned.
  Result<std::optional<Row>> Load(const Context& context, const std::string& id);

  // Writes `next` with a new revision in the place of `previous`, which is as it was loaded;
  // nullopt: there was no row. Returns false when another row is there by now; then nothing was
  // written. When a reply is lost, the write is recognised by its revision.
  Result<bool> Replace(const Context& context, const std::optional<Row>& previous, Row next);
  // The same, but removes the row.
  Result<bool> Remove(const Context& context, const Row& previous);

  // Whether the pointers of the row are stored as they should be.
  Result<bool> HasPointers(const Context& context, const Row& row);
  // Writes the row again with all its pointers, as Replace does.
  Result<bool> WritePointers(const Context& context, const Row& row);
  // Removes the item of a hit that is neither a row nor a pointer.
  Status RemoveStray(const Context& context, const IndexHit& hit);

  // At most `limit` hits in the order of creation, after the position `after` when it is given.
  Result<IndexPage> Query(const Context& context, const IndexRange& range,
                          const std::optional<RowPosition>& after, uint32_t limit);

  // The rows of first writes that have not ended. Writes over an existing version are not listed:
  // only their rows know of them.
  Result<std::vector<Row>> ListFirstWrites(const Context& context);

  Result<TableSize> Describe(const Context& context);

  // Whether the rows may be relied on without a look at the objects. They may not be after objects
  // may have changed unnoticed, until a Comparison has looked at all of them.
  bool AreTrusted() const { return trusted_; }
  void SetTrusted(bool trusted) { trusted_ = trusted; }

  // Returns nullopt when no run has gone over all objects yet.
  Result<std::optional<CoverageMark>> LoadMark(const Context& context);
  Status StoreMark(const Context& context, const CoverageMark& mark);
  // The key that seals checkpoints. It is made when it is first needed, and goes with the table.
  Result<Secret> LoadSealingKey(const Context& context);

 private:
  // Writes `next` and its pointers. `known` are the pointers that are stored.
  Result<bool> Write(const Context& context, const std::optional<Row>& previous,
                     const std::vector<item::Item>& known, Row next);

  const DocumentsOptions options_;
  tables::Tables& tables_;
  const Retrier& retrier_;
  const Runtime runtime_;
  std::atomic<bool> trusted_ = true;
  tables::ConditionalWriter writer_;
};

// IndexWalk goes over one or more parts of indexes, merged in the order of creation. It reads a
// page when it needs one. A walk belongs to one thread.
class IndexWalk {
 public:
  // The rows outlive this. It begins after the position `after`, when that is given.
  IndexWalk(RowStore* rows, const std::vector<IndexRange>& ranges,
            const std::optional<RowPosition>& after, uint32_t page);

  // Returns nullopt at the end. `wanted` is how many more hits the caller needs at most: no larger
  // page is read.
  Result<std::optional<IndexHit>> Next(const Context& context, uint32_t wanted = UINT32_MAX);

 private:
  struct Part {
    IndexRange range;
    std::optional<RowPosition> after;
    bool at_end = false;
    std::deque<IndexHit> hits = {};
  };

  // Reads pages of a part until it has a hit or is at its end.
  Status Fill(const Context& context, Part& part, uint32_t wanted);

  RowStore& rows_;
  const uint32_t page_;
  std::vector<Part> parts_;
};

}  // namespace tidemark::documents
