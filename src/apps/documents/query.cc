#include "apps/documents/query.h"

#include <fmt/format.h>

#include "apps/documents/row_encoding.h"

namespace tidemark::documents {

namespace {

Status CheckBounds(const RangeQuery& query) {
  if (query.from > query.to) {
    return Invalid(
        fmt::format("the range starts at {}, after its end at {}", query.from, query.to));
  }
  if (query.limit == 0 || query.limit > kMaxPage) {
    return Invalid(
        fmt::format("a page of {} documents cannot be asked for: the limit is between 1 and {}",
                    query.limit, kMaxPage));
  }
  return Done{};
}

}  // namespace

Result<Filter> ParseFilter(const RangeQuery& query) {
  TRY(CheckBounds(query));
  Filter filter{.from = query.from, .to = query.to, .customer = query.customer};
  if (query.type) {
    filter.kind = ParseDocumentKind(*query.type);
    if (!filter.kind) return Invalid("the type is neither change nor announcement");
  }
  if (query.status) {
    filter.status = ParseDocumentStatus(*query.status);
    if (!filter.status) {
      return Invalid("the status must be draft, submitted, approved, completed or cancelled");
    }
  }
  if (query.customer) TRY(ValidateCustomer(*query.customer));
  return filter;
}

bool Matches(const Filter& filter, const DocumentFacts& facts) {
  return facts.created_at >= filter.from && facts.created_at <= filter.to &&
         (!filter.kind || facts.kind == *filter.kind) &&
         (!filter.status || facts.status == *filter.status) &&
         (!filter.customer || IsFor(facts, *filter.customer));
}

RowPosition PositionOf(const Filter& filter, const Document& document) {
  const DocumentFacts& facts = document.facts();
  const bool by_pointer = filter.customer && facts.customers.front() != *filter.customer;
  return {.created_at = facts.created_at,
          .key = by_pointer ? PointerKey(document.id(), *filter.customer) : document.id()};
}

std::vector<IndexRange> RangesOf(const Filter& filter) {
  const auto range = [&](std::string_view index, std::string_view value) {
    return IndexRange{
        .index = index, .value = std::string(value), .from = filter.from, .to = filter.to};
  };
  // The most selective index that is possible.
  if (filter.customer) return {range(kCustomerTimeIndex, *filter.customer)};
  if (filter.status) return {range(kStatusTimeIndex, ToString(*filter.status))};
  if (filter.kind) return {range(kTimeRangeIndex, ToString(*filter.kind))};
  return {range(kTimeRangeIndex, ToString(DocumentKind::kChange)),
          range(kTimeRangeIndex, ToString(DocumentKind::kAnnouncement))};
}

}  // namespace tidemark::documents
