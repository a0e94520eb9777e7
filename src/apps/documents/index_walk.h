// IndexWalk goes over parts of indexes at once, in the order of creation, page by page as they are
// needed. Belongs to one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "apps/documents/row_store.h"

namespace tidemark::documents {

class IndexWalk {
 public:
  // The rows outlive this. Begins behind `after`, when that is given.
  IndexWalk(RowStore* rows, const std::vector<IndexRange>& ranges,
            const std::optional<RowPosition>& after, uint32_t page);

  // nullopt at the end. Who needs only so many more says so: no larger page is read then.
  Outcome<std::optional<IndexHit>> Next(const Context& context, uint32_t wanted = UINT32_MAX);

 private:
  struct Part {
    IndexRange range;
    std::optional<RowPosition> after;
    bool at_end = false;
    std::deque<IndexHit> hits = {};
  };

  Outcome<Done> Fill(const Context& context, Part& part, uint32_t wanted);

  RowStore& rows_;
  const uint32_t page_;
  std::vector<Part> parts_;
};

}  // namespace tidemark::documents
