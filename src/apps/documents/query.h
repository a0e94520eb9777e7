// Which documents a caller asks for: those that were created in a span of time, both ends included,
// and match all other conditions that are given.
//
// Plain data and pure functions; may be used from any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/documents/document.h"
#include "apps/documents/limits.h"
#include "apps/documents/row_store.h"
#include "base/clock.h"

namespace tidemark::documents {

// The query as a caller gives it. A condition that is not given is not checked.
struct RangeQuery {
  EpochSeconds from = 0;
  EpochSeconds to = 0;
  std::optional<std::string> type = std::nullopt;  // "change" or "announcement"
  std::optional<std::string> customer = std::nullopt;
  std::optional<std::string> status = std::nullopt;
  size_t limit = kDefaultPage;
  std::optional<RowPosition> after = std::nullopt;  // A reply's `last`.
};

// The same query after validation.
struct Filter {
  EpochSeconds from = 0;
  EpochSeconds to = 0;
  std::optional<DocumentKind> kind = std::nullopt;
  std::optional<std::string> customer = std::nullopt;
  std::optional<DocumentStatus> status = std::nullopt;
};

// kInvalid when the start is after the end, the type or the status is unknown, the customer's code
// is not valid, or the limit is 0 or above kMaxPage.
Result<Filter> ParseFilter(const RangeQuery& query);

bool Matches(const Filter& filter, const DocumentFacts& facts);

// The position of a matching document in the index that the filter uses, cached or not. So pages
// that are read from the objects have the same order and the same cursors as pages from the cache.
RowPosition PositionOf(const Filter& filter, const Document& document);

// The parts of indexes that together hold every row that can match.
std::vector<IndexRange> RangesOf(const Filter& filter);

}  // namespace tidemark::documents
