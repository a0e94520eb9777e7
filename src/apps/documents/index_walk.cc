#include "apps/documents/index_walk.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tidemark::documents {

IndexWalk::IndexWalk(RowStore* rows, const std::vector<IndexRange>& ranges,
                     const std::optional<RowPosition>& after, uint32_t page)
    : rows_(*rows), page_(page) {
  for (const IndexRange& range : ranges) parts_.push_back({.range = range, .after = after});
}

Outcome<std::optional<IndexHit>> IndexWalk::Next(const Context& context, uint32_t wanted) {
  Part* first = nullptr;
  for (Part& part : parts_) {
    TRY(Fill(context, part, wanted));
    if (part.hits.empty()) continue;
    if (!first || part.hits.front().position < first->hits.front().position) first = &part;
  }
  if (!first) return std::optional<IndexHit>();
  std::optional<IndexHit> hit = std::move(first->hits.front());
  first->hits.pop_front();
  return hit;
}

// Until there is a hit, or nothing more: a page may be empty and not the last.
Outcome<Done> IndexWalk::Fill(const Context& context, Part& part, uint32_t wanted) {
  while (part.hits.empty() && !part.at_end) {
    IndexPage page = TRY(rows_.Query(context, part.range, part.after, std::min(page_, wanted)));
    part.hits.assign(std::make_move_iterator(page.hits.begin()),
                     std::make_move_iterator(page.hits.end()));
    part.after = page.last;
    part.at_end = !page.last;
  }
  return Done{};
}

}  // namespace tidemark::documents
