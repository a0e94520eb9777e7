// Which documents are asked for: those created in a time, both ends included, for which all that
// is given holds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/documents/cache_error.h"
#include "apps/documents/document.h"
#include "apps/documents/limits.h"
#include "apps/documents/row_store.h"
#include "base/clock.h"

namespace tidemark::documents {

// As callers give it. What is not given does not matter.
struct RangeQuery {
  EpochSeconds from = 0;
  EpochSeconds to = 0;
  std::optional<std::string> type = std::nullopt;  // "change" or "announcement"
  std::optional<std::string> customer = std::nullopt;
  std::optional<std::string> status = std::nullopt;
  size_t limit = kDefaultPage;
  std::optional<RowPosition> after = std::nullopt;  // A reply's `last`.
};

// The same, known to make sense.
struct Filter {
  EpochSeconds from = 0;
  EpochSeconds to = 0;
  std::optional<DocumentKind> kind = std::nullopt;
  std::optional<std::string> customer = std::nullopt;
  std::optional<DocumentStatus> status = std::nullopt;
};

// kValidation when the start is behind the end, a type or status is not known, a customer's code
// is empty, or the limit is 0 or above kMaxPage.
Outcome<Filter> ParseFilter(const RangeQuery& query);

bool Matches(const Filter& filter, const DocumentFacts& facts);

// Where a document that matches stands in the index that is asked for the filter, whether it is
// cached or not: so that pages from both stores are in one order.
RowPosition PositionOf(const Filter& filter, const Document& document);

// The parts of indexes that together hold all that can match: the customer's, or the status's, or
// those of the types.
std::vector<IndexRange> RangesOf(const Filter& filter);

}  // namespace tidemark::documents
