#include "tables/pages.h"

#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace tidemark::tables {

namespace {

Result<Page> ReadPage(Tables& tables, const QueryRequest& request) { return tables.Query(request); }
Result<Page> ReadPage(Tables& tables, const ScanRequest& request) { return tables.Scan(request); }

template <typename Request>
Status VisitPages(Tables& tables, Request request, const PageVisitor& visit) {
  do {
    Page page = TRY(ReadPage(tables, request));
    // Before the visitor gets the page, which it may move from. A page without items can have a
    // successor, so the end is the missing key and not an empty page.
    request.start_after = page.last;
    if (TRY(visit(std::move(page))) == Paging::kStop) return Done{};
  } while (request.start_after);
  return Done{};
}

PageVisitor ItemByItem(const ItemVisitor& visit) {
  return [&visit](Page page) -> Result<Paging> {
    for (item::Item& item : page.items) {
      if (TRY(visit(std::move(item))) == Paging::kStop) return Paging::kStop;
    }
    return Paging::kContinue;
  };
}

using Items = std::vector<item::Item>;

// Fails when there are more items than the caller allows.
Status Append(const std::string& table, Page page, size_t max_items, Items* items) {
  if (items->empty()) {
    *items = std::move(page.items);
  } else {
    std::move(page.items.begin(), page.items.end(), std::back_inserter(*items));
  }
  if (items->size() <= max_items) return Done{};
  return Error{ErrorCode::kInternal,
               fmt::format("a query of the table {} found more than {} items, which is more than "
                           "its caller can hold in memory",
                           table, max_items)};
}

// Reads the pages after request.start_after, and appends them to `items`. Every step of the chain
// owns what the next step needs. No thread waits, and nothing of the caller is used except the
// tables.
Later<Items> SubmitRest(Tables* tables, QueryRequest request, std::optional<Deadline> deadline,
                        size_t max_items, Items items) {
  Later<Page> page = tables->Submit(request, deadline);
  return std::move(page).Then(
      [tables, deadline, max_items, request = std::move(request),
       items = std::move(items)](Result<Page> read) mutable -> Later<Items> {
        Page found = TRY(std::move(read));
        request.start_after = std::move(found.last);
        TRY(Append(request.table, std::move(found), max_items, &items));
        if (!request.start_after) return std::move(items);
        return SubmitRest(tables, std::move(request), deadline, max_items, std::move(items));
      });
}

}  // namespace

Status ForEachPage(Tables& tables, QueryRequest request, const PageVisitor& visit) {
  return VisitPages(tables, std::move(request), visit);
}

Status ForEachPage(Tables& tables, ScanRequest request, const PageVisitor& visit) {
  return VisitPages(tables, std::move(request), visit);
}

Status ForEachItem(Tables& tables, QueryRequest request, const ItemVisitor& visit) {
  return VisitPages(tables, std::move(request), ItemByItem(visit));
}

Status ForEachItem(Tables& tables, ScanRequest request, const ItemVisitor& visit) {
  return VisitPages(tables, std::move(request), ItemByItem(visit));
}

Result<std::vector<item::Item>> QueryAll(Tables& tables, QueryRequest request, size_t max_items) {
  const std::string table = request.table;
  Items items;
  TRY(ForEachPage(tables, std::move(request), [&](Page page) -> Result<Paging> {
    TRY(Append(table, std::move(page), max_items, &items));
    return Paging::kContinue;
  }));
  return items;
}

Later<std::vector<item::Item>> SubmitQueryAll(Tables& tables, QueryRequest request,
                                              std::optional<Deadline> deadline, size_t max_items) {
  return SubmitRest(&tables, std::move(request), deadline, max_items, {});
}

Result<uint64_t> CountAll(Tables& tables, QueryRequest request) {
  request.select = Select::kCount;
  uint64_t count = 0;
  TRY(ForEachPage(tables, std::move(request), [&](const Page& page) -> Result<Paging> {
    count += page.count;
    return Paging::kContinue;
  }));
  return count;
}

}  // namespace tidemark::tables
