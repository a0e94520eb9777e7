#include "apps/documents/row_store.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/converter.h"
#include "apps/documents/table.h"
#include "item/attributes.h"
#include "tables/limits.h"

namespace tidemark::documents {

namespace {

using item::Item;
using item::Number;

constexpr std::string_view kMarkKey = "~coverage";
constexpr std::string_view kIntentPartition = "~intent";
constexpr uint32_t kIntentsPage = 100;
constexpr size_t kRevisionBytes = 16;

std::string_view PartitionAttribute(std::string_view index) {
  if (index == kTimeRangeIndex) return "object_type";
  return index == kCustomerTimeIndex ? "customer_code" : "status";
}

struct Condition {
  std::string text;
  tables::Values values = {};
};

// That the stored row is the one that was loaded. Rows of other programs have no revision.
Condition StillIs(const std::optional<Row>& previous) {
  if (!previous) return {"attribute_not_exists(object_id)"};
  if (previous->revision.empty()) {
    return {"attribute_exists(object_id) AND attribute_not_exists(revision)"};
  }
  return {"revision = :revision", {{":revision", previous->revision}}};
}

// Those that were written with the row: other programs write none.
std::vector<Item> PointersOf(const std::optional<Row>& row) {
  if (!row || row->revision.empty()) return {};
  return EncodePointers(*row);
}

bool HasKeyOf(const std::vector<Item>& items, const Item& wanted) {
  return std::any_of(items.begin(), items.end(), [&](const Item& item) {
    return *item.Find("object_id") == *wanted.Find("object_id");
  });
}

// What makes the pointers those of the next row. A pointer that has to go and does not fit into the
// transaction goes with its ttl: it is harmless, since every hit is checked.
void AddPointers(const std::string& table, const std::optional<Row>& previous,
                 const std::optional<Row>& next, std::vector<tables::TransactAction>& actions) {
  const std::vector<Item> before = PointersOf(previous);
  const std::vector<Item> after = next ? EncodePointers(*next) : std::vector<Item>();
  if (before == after) return;
  for (const Item& pointer : after) {
    actions.emplace_back(tables::PutRequest{.table = table, .item = pointer});
  }
  for (const Item& pointer : before) {
    if (HasKeyOf(after, pointer) || actions.size() == tables::kMaxTransactActions) continue;
    actions.emplace_back(
        tables::DeleteRequest{.table = table, .key = {{"object_id", *pointer.Find("object_id")}}});
  }
}

RowPosition PositionIn(const Item& item) {
  return {.created_at = item::IntIn(item, "created_at").value_or(0),
          .key = item::TextIn(item, "object_id")};
}

IndexHit HitFrom(Item item) {
  IndexHit hit{.position = PositionIn(item)};
  if (auto id = DecodePointer(item)) {
    hit.id = *std::move(id);
  } else {
    hit.id = hit.position.key;
    if (auto unread = DecodeUnread(std::move(item))) {
      hit.row = std::move(unread->row);
      hit.json = std::move(unread->json);
    }
  }
  return hit;
}

tables::QueryRequest QueryOf(const std::string& table, const IndexRange& range,
                             const std::optional<RowPosition>& after, uint32_t limit) {
  const std::string attribute(PartitionAttribute(range.index));
  tables::QueryRequest query{
      .table = table,
      .index = std::string(range.index),
      .key_condition = "#partition = :partition AND created_at BETWEEN :from AND :to",
      .names = {{"#partition", attribute}},
      .values = {{":partition", range.value},
                 {":from", Number::FromInt(range.from)},
                 {":to", Number::FromInt(range.to)}},
      .limit = limit};
  // A start outside of the range would be refused: what is before it is as good as none.
  if (after && after->created_at >= range.from) {
    query.start_after = Item{{attribute, range.value},
                             {"created_at", Number::FromInt(after->created_at)},
                             {"object_id", after->key}};
  }
  return query;
}

// The item that a write's condition failed on.
const std::optional<Item>& FailedOn(const tables::TransactWriteReply& reply) {
  return reply.reasons.front().item;
}

}  // namespace

RowStore::RowStore(const DocumentsOptions& options, tables::Tables* tables, const Retrier* retrier,
                   Random* random)
    : options_(options), tables_(*tables), retrier_(*retrier), random_(*random) {}

Outcome<std::optional<Row>> RowStore::Load(const Context& context, const std::string& id) {
  const auto item =
      TRY(retrier_.Run<std::optional<Item>>(context, Store::kTable, "reading a row", [&] {
        return tables_.Get({.table = options_.table, .key = {{"object_id", id}}});
      }));
  return item ? DecodeRow(*item) : std::nullopt;
}

Outcome<bool> RowStore::Replace(const Context& context, const std::optional<Row>& previous,
                                Row next) {
  next.revision = random_.Hex(kRevisionBytes);
  Condition condition = StillIs(previous);
  std::vector<tables::TransactAction> actions;
  actions.emplace_back(tables::PutRequest{.table = options_.table,
                                          .item = EncodeRow(options_, next),
                                          .condition = std::move(condition.text),
                                          .values = std::move(condition.values),
                                          .on_failure = tables::OnConditionFailure::kAllOld});
  AddPointers(options_.table, previous, next, actions);
  return retrier_.Run<bool>(context, Store::kTable, "writing a row",
                            [&] { return WriteOnce(actions, next.revision); });
}

Result<bool> RowStore::WriteOnce(const std::vector<tables::TransactAction>& actions,
                                 const std::string& revision) {
  std::optional<Item> stored;
  if (actions.size() == 1) {
    const auto reply = TRY(tables_.Put(std::get<tables::PutRequest>(actions.front())));
    if (reply.applied) return true;
    stored = reply.failed_on;
  } else {
    const auto reply = TRY(tables_.TransactWrite({.actions = actions}));
    if (reply.outcome == tables::TransactOutcome::kApplied) return true;
    if (reply.reasons.front().code != tables::CancellationCode::kConditionalCheckFailed) {
      return Error{ErrorCode::kConflict, "another transaction was writing the row or a pointer"};
    }
    stored = FailedOn(reply);
  }
  // Our own, by an attempt whose reply was lost.
  return stored && item::TextIn(*stored, "revision") == revision;
}

Outcome<bool> RowStore::Remove(const Context& context, const Row& previous) {
  Condition condition = StillIs(previous);
  const auto reply =
      TRY(retrier_.Run<tables::WriteReply>(context, Store::kTable, "removing a row", [&] {
        // What is gone already was removed by an attempt whose reply was lost, or by the sweeper.
        return tables_.Delete(
            {.table = options_.table,
             .key = {{"object_id", previous.id}},
             .condition = fmt::format("attribute_not_exists(object_id) OR ({})", condition.text),
             .values = condition.values});
      }));
  return reply.applied;
}

Outcome<IndexPage> RowStore::Query(const Context& context, const IndexRange& range,
                                   const std::optional<RowPosition>& after, uint32_t limit) {
  if (after && after->created_at > range.to) return IndexPage{};
  const tables::QueryRequest query = QueryOf(options_.table, range, after, limit);
  tables::Page found = TRY(retrier_.Run<tables::Page>(context, Store::kTable, "querying an index",
                                                      [&] { return tables_.Query(query); }));
  IndexPage page;
  page.hits.reserve(found.items.size());
  for (Item& item : found.items) page.hits.push_back(HitFrom(std::move(item)));
  if (found.last) page.last = PositionIn(*found.last);
  return page;
}

Outcome<std::vector<std::string>> RowStore::ListIntents(const Context& context,
                                                        std::chrono::milliseconds started_by) {
  const IndexRange range{
      .index = kTimeRangeIndex,
      .value = std::string(kIntentPartition),
      .to = std::chrono::duration_cast<std::chrono::seconds>(started_by).count()};
  std::vector<std::string> ids;
  std::optional<RowPosition> after;
  do {
    IndexPage page = TRY(Query(context, range, after, kIntentsPage));
    for (IndexHit& hit : page.hits) ids.push_back(std::move(hit.id));
    after = page.last;
  } while (after);
  return ids;
}

Outcome<TableSize> RowStore::Describe(const Context& context) {
  const auto table =
      TRY(retrier_.Run<tables::TableDescription>(context, Store::kTable, "describing it", [&] {
        return tables_.DescribeTable(options_.table);
      }));
  return TableSize{.items = table.item_count, .size_bytes = table.size_bytes};
}

Outcome<std::optional<CoverageMark>> RowStore::LoadMark(const Context& context) {
  const auto item = TRY(retrier_.Run<std::optional<
                            Item>>(context, Store::kTable, "reading the coverage mark", [&] {
    return tables_.Get({.table = options_.table, .key = {{"object_id", std::string(kMarkKey)}}});
  }));
  const auto complete_from = item ? item::IntIn(*item, "complete_from") : std::nullopt;
  const auto as_of = item ? item::IntIn(*item, "as_of") : std::nullopt;
  if (!complete_from || !as_of) return std::optional<CoverageMark>();
  return std::optional(
      CoverageMark{.complete_from = *complete_from, .as_of = std::chrono::milliseconds(*as_of)});
}

Outcome<Done> RowStore::StoreMark(const Context& context, const CoverageMark& mark) {
  TRY(retrier_.Run<tables::WriteReply>(context, Store::kTable, "writing the coverage mark", [&] {
    return tables_.Put({.table = options_.table,
                        .item = {{"object_id", std::string(kMarkKey)},
                                 {"complete_from", Number::FromInt(mark.complete_from)},
                                 {"as_of", Number::FromInt(mark.as_of.count())}}});
  }));
  return Done{};
}

}  // namespace tidemark::documents
