// RowStore reads and writes the cache's table: the only one who does. Calls are limited in rate and
// retried as the Retrier says.
//
//   std::optional<Row> before = TRY(rows.Load(context, id));
//   const bool applied = TRY(rows.Replace(context, before, next));
//
// Writes are compare-and-set: they happen only when the stored row is still the one that was read,
// so what was decided on it still holds. A row and the pointers of its customers change together.
// It puts, gets, deletes, queries and describes, and needs no other right on the table.
//
// May be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/documents/cache_error.h"
#include "apps/documents/context.h"
#include "apps/documents/options.h"
#include "apps/documents/retrier.h"
#include "apps/documents/row.h"
#include "base/random.h"
#include "tables/tables.h"

namespace tidemark::documents {

// A row's place in an index: rows are in the order of creation and, for one second, of their keys.
struct RowPosition {
  EpochSeconds created_at = 0;
  std::string key;
  friend auto operator<=>(const RowPosition&, const RowPosition&) = default;
};

// A part of an index, and the times of creation in it, both included.
struct IndexRange {
  std::string_view index;  // One of table.h.
  std::string value;       // Of the index's partition.
  EpochSeconds from = 0;
  EpochSeconds to = 0;
};

// What an index has at one position: the row itself, or a pointer to it.
struct IndexHit {
  RowPosition position;
  std::optional<Row> row;  // nullopt: only its id is known here.
  std::string id;
  std::optional<std::string> json = std::nullopt;  // The row's document, which it does not have.
};

struct IndexPage {
  std::vector<IndexHit> hits;
  std::optional<RowPosition> last;  // Set when there may be more behind it.
};

// Since when the cache has all documents: what a whole run over the objects has found.
struct CoverageMark {
  EpochSeconds complete_from = 0;      // Documents created since then are all in the table …
  std::chrono::milliseconds as_of{0};  // … that were in the object store at this time.
  friend bool operator==(const CoverageMark&, const CoverageMark&) = default;
};

// What the table says of itself. An item is a document's row, a customer's pointer or the mark.
struct TableSize {
  uint64_t items = 0;
  uint64_t size_bytes = 0;
};

class RowStore {
 public:
  // All outlive this.
  RowStore(const DocumentsOptions& options, tables::Tables* tables, const Retrier* retrier,
           Random* random);

  // nullopt when there is none. An expired row is a row.
  Outcome<std::optional<Row>> Load(const Context& context, const std::string& id);

  // Writes `next` under a new revision in the place of `previous`, as it was loaded; nullopt:
  // there was none. False when another row is there by now, and nothing was written. A reply that
  // was lost is recognised by the revision.
  Outcome<bool> Replace(const Context& context, const std::optional<Row>& previous, Row next);
  // The same, leaving nothing.
  Outcome<bool> Remove(const Context& context, const Row& previous);

  // In the order of creation, behind `after` when it is given, at most `limit`.
  Outcome<IndexPage> Query(const Context& context, const IndexRange& range,
                           const std::optional<RowPosition>& after, uint32_t limit);

  // Rows of first writes that began by then and are neither committed nor given up.
  Outcome<std::vector<std::string>> ListIntents(const Context& context,
                                                std::chrono::milliseconds started_by);

  Outcome<TableSize> Describe(const Context& context);

  // nullopt when no run has been over all objects.
  Outcome<std::optional<CoverageMark>> LoadMark(const Context& context);
  Outcome<Done> StoreMark(const Context& context, const CoverageMark& mark);

 private:
  // One conditional write of the row with its pointers; safe to repeat.
  Result<bool> WriteOnce(const std::vector<tables::TransactAction>& actions,
                         const std::string& revision);

  const DocumentsOptions options_;
  tables::Tables& tables_;
  const Retrier& retrier_;
  Random& random_;
};

}  // namespace tidemark::documents
