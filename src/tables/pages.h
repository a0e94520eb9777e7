// Reading a query or a scan to its end, page after page.
//
//   auto rows = TRY(QueryAll(tables, {.table = "attempts",
//                                     .partition = item::Attribute{"subject_id", subject},
//                                     .consistent = true}));
//
//   const auto visit = [&](item::Item row) -> Result<Paging> {
//     Count(row);
//     return enough ? Paging::kStop : Paging::kContinue;
//   };
//   TRY(ForEachItem(tables, ScanRequest{.table = "messages"}, visit));
//
// A store answers with at most 1 MB at a time, and a filter may leave a page empty although later
// pages have items. So one call of Query or Scan is only enough where the caller pages itself.
// The pages are not one snapshot: an item that is written between two pages may be in neither or
// in its new form.
//
// All functions except SubmitQueryAll block while they read. May be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/deadline.h"
#include "base/later.h"
#include "base/result.h"
#include "tables/limits.h"
#include "tables/tables.h"

namespace tidemark::tables {

// Whether the caller wants the next page or item.
enum class Paging { kContinue, kStop };

using PageVisitor = std::function<Result<Paging>(Page page)>;
using ItemVisitor = std::function<Result<Paging>(item::Item item)>;

// Calls `visit` with each page in order until it asks to stop or there are no more. The first error
// of the store or of the visitor ends it and is returned.
Status ForEachPage(Tables& tables, QueryRequest request, const PageVisitor& visit);
Status ForEachPage(Tables& tables, ScanRequest request, const PageVisitor& visit);

// The same with one item at a time.
Status ForEachItem(Tables& tables, QueryRequest request, const ItemVisitor& visit);
Status ForEachItem(Tables& tables, ScanRequest request, const ItemVisitor& visit);

// All items of the query. kInternal when there are more than `max_items`: a caller that cannot
// rule this out reads page by page.
Result<std::vector<item::Item>> QueryAll(Tables& tables, QueryRequest request,
                                         size_t max_items = kMaxItemsInMemory);
// The same for a caller that does not block, all pages under one deadline. The tables outlive the
// answer.
Later<std::vector<item::Item>> SubmitQueryAll(Tables& tables, QueryRequest request,
                                              std::optional<Deadline> deadline,
                                              size_t max_items = kMaxItemsInMemory);

// How many items the query finds, over all pages. Their attributes are not read into memory.
Result<uint64_t> CountAll(Tables& tables, QueryRequest request);

}  // namespace tidemark::tables
