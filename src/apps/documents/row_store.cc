#include "apps/documents/row_store.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "apps/documents/limits.h"
#include "apps/documents/row_encoding.h"
#include "item/attributes.h"
#include "tables/ensure_table.h"
#include "tables/limits.h"

namespace tidemark::documents {

namespace {

using item::Item;
using item::Number;

constexpr std::string_view kMarkKey = "~coverage";
constexpr std::string_view kSealKey = "~seal";
constexpr size_t kSealingKeyBytes = 32;
constexpr uint32_t kIntentsPage = 100;
constexpr size_t kRevisionBytes = 16;

tables::IndexSpec IndexOver(std::string_view name, std::string partition) {
  return {.name = std::string(name),
          .keys = {.partition = {std::move(partition), item::Type::kString},
                   .sort = item::KeyAttribute{"created_at", item::Type::kNumber}}};
}

std::string_view PartitionAttribute(std::string_view index) {
  if (index == kTimeRangeIndex) return "object_type";
  return index == kCustomerTimeIndex ? "customer_code" : "status";
}

struct Condition {
  std::string text;
  tables::Values values = {};
};

// The condition that the stored row is the one that was loaded. Rows of other programs have no
// revision.
Condition StillIs(const std::optional<Row>& previous) {
  if (!previous) return {"attribute_not_exists(object_id)"};
  if (previous->revision.empty()) {
    return {"attribute_exists(object_id) AND attribute_not_exists(revision)"};
  }
  return {"revision = :revision", {{":revision", previous->revision}}};
}

// The pointers that were written with the row. Other programs write none.
std::vector<Item> PointersOf(const std::optional<Row>& row) {
  if (!row || row->revision.empty()) return {};
  return EncodePointers(*row);
}

bool HasKeyOf(const std::vector<Item>& items, const Item& wanted) {
  return std::any_of(items.begin(), items.end(), [&](const Item& item) {
    return *item.Find("object_id") == *wanted.Find("object_id");
  });
}

// Adds the writes that turn the pointers `before` into those of `next`. A transaction has a
// limited number of actions. An old pointer that does not fit stays until its ttl ends. It does no
// harm, because readers check every hit against the row.
void AddPointers(const std::string& table, const std::vector<Item>& before, const Row& next,
                 std::vector<tables::TransactAction>& actions) {
  const std::vector<Item> after = EncodePointers(next);
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
  } else if (auto unparsed = DecodeUnparsedRow(std::move(item))) {
    hit.id = unparsed->row.id;
    hit.row = std::move(unparsed->row);
    if (unparsed->json) hit.json = ShareText(*std::move(unparsed->json));
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
  // A table refuses a start outside of the range. A start before the range means its beginning.
  if (after && after->created_at >= range.from) {
    query.start_after = Item{{attribute, range.value},
                             {"created_at", Number::FromInt(after->created_at)},
                             {"object_id", after->key}};
  }
  return query;
}

}  // namespace

tables::CreateTableRequest TableDefinition(const std::string& table) {
  return {.table = table,
          .keys = {.partition = {"object_id", item::Type::kString}},
          .indexes = {IndexOver(kTimeRangeIndex, "object_type"),
                      IndexOver(kCustomerTimeIndex, "customer_code"),
                      IndexOver(kStatusTimeIndex, "status")},
          .tags = {{"CostCenter", "ccoe-customer-contact-manager"}}};
}

Status EnsureCacheTable(tables::Tables& tables, const std::string& table) {
  return tables::EnsureTable(tables, TableDefinition(table), "ttl");
}

RowStore::RowStore(const DocumentsOptions& options, tables::Tables* tables, const Retrier* retrier,
                   const Runtime& runtime)
    : options_(options),
      tables_(*tables),
      retrier_(*retrier),
      runtime_(runtime),
      // Without retries of its own: the Retrier has those of the seed, and the rate limit.
      writer_(tables, {.max_retries = 0}, runtime) {}

Result<std::optional<Row>> RowStore::Load(const Context& context, const std::string& id) {
  const auto item =
      TRY(retrier_.Run<std::optional<Item>>(context, Store::kTable, "reading a row", [&] {
        return tables_.Get({.table = options_.table, .key = {{"object_id", id}}});
      }));
  return item ? DecodeRow(*item) : std::nullopt;
}

Result<bool> RowStore::Replace(const Context& context, const std::optional<Row>& previous,
                               Row next) {
  return Write(context, previous, PointersOf(previous), std::move(next));
}

Result<bool> RowStore::WritePointers(const Context& context, const Row& row) {
  return Write(context, row, {}, row);
}

Result<bool> RowStore::Write(const Context& context, const std::optional<Row>& previous,
                             const std::vector<Item>& known, Row next) {
  next.revision = runtime_.random.Hex(kRevisionBytes);
  Condition condition = StillIs(previous);
  std::vector<tables::TransactAction> actions;
  actions.emplace_back(tables::PutRequest{.table = options_.table,
                                          .item = EncodeRow(options_, next),
                                          .condition = std::move(condition.text),
                                          .values = std::move(condition.values),
                                          .on_failure = tables::OnConditionFailure::kAllOld});
  AddPointers(options_.table, known, next, actions);
  const tables::ConditionalWrite write{.actions = std::move(actions),
                                       .is_ours = tables::HasText("revision", next.revision)};
  const auto reply =
      TRY(retrier_.Run<tables::ConditionalReply>(context, Store::kTable, "writing a row", [&] {
        return writer_.Write(write, context.deadline);
      }));
  return reply.IsWritten();
}

Result<bool> RowStore::Remove(const Context& context, const Row& previous) {
  Condition condition = StillIs(previous);
  const auto reply =
      TRY(retrier_.Run<tables::WriteReply>(context, Store::kTable, "removing a row", [&] {
        // A row that is gone was removed by an attempt whose reply was lost, or by the sweeper.
        return tables_.Delete(
            {.table = options_.table,
             .key = {{"object_id", previous.id}},
             .condition = fmt::format("attribute_not_exists(object_id) OR ({})", condition.text),
             .values = condition.values});
      }));
  return reply.applied;
}

Result<bool> RowStore::HasPointers(const Context& context, const Row& row) {
  for (const Item& pointer : EncodePointers(row)) {
    const auto stored =
        TRY(retrier_.Run<std::optional<Item>>(context, Store::kTable, "reading a pointer", [&] {
          return tables_.Get(
              {.table = options_.table, .key = {{"object_id", *pointer.Find("object_id")}}});
        }));
    if (!stored || *stored != pointer) return false;
  }
  return true;
}

Status RowStore::RemoveStray(const Context& context, const IndexHit& hit) {
  TRY(retrier_.Run<tables::WriteReply>(context, Store::kTable, "removing a stray item", [&] {
    return tables_.Delete({.table = options_.table, .key = {{"object_id", hit.position.key}}});
  }));
  return Done{};
}

Result<IndexPage> RowStore::Query(const Context& context, const IndexRange& range,
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

Result<std::vector<Row>> RowStore::ListFirstWrites(const Context& context) {
  // Also those that began in the future: the clock may have been set back.
  const IndexRange range{
      .index = kTimeRangeIndex, .value = std::string(kIntentPartition), .to = kLastSecond};
  std::vector<Row> rows;
  IndexWalk walk(this, {range}, std::nullopt, kIntentsPage);
  while (std::optional<IndexHit> hit = TRY(walk.Next(context))) {
    if (hit->row && hit->row->intent) rows.push_back(*std::move(hit->row));
  }
  return rows;
}

Result<TableSize> RowStore::Describe(const Context& context) {
  const auto table =
      TRY(retrier_.Run<tables::TableDescription>(context, Store::kTable, "describing it", [&] {
        return tables_.DescribeTable(options_.table);
      }));
  return TableSize{.items = table.item_count, .size_bytes = table.size_bytes};
}

Result<std::optional<CoverageMark>> RowStore::LoadMark(const Context& context) {
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

Status RowStore::StoreMark(const Context& context, const CoverageMark& mark) {
  TRY(retrier_.Run<tables::WriteReply>(context, Store::kTable, "writing the coverage mark", [&] {
    return tables_.Put({.table = options_.table,
                        .item = {{"object_id", std::string(kMarkKey)},
                                 {"complete_from", Number::FromInt(mark.complete_from)},
                                 {"as_of", Number::FromInt(mark.as_of.count())}}});
  }));
  return Done{};
}

Result<Secret> RowStore::LoadSealingKey(const Context& context) {
  const std::string made = runtime_.random.Hex(kSealingKeyBytes);
  const auto reply =
      TRY(retrier_.Run<tables::WriteReply>(context, Store::kTable, "making a sealing key", [&] {
        return tables_.Put({.table = options_.table,
                            .item = {{"object_id", std::string(kSealKey)}, {"key", made}},
                            .condition = "attribute_not_exists(object_id)",
                            .on_failure = tables::OnConditionFailure::kAllOld});
      }));
  if (reply.applied || !reply.failed_on) return Secret(std::string(made));
  return Secret(item::TextIn(*reply.failed_on, "key"));
}

IndexWalk::IndexWalk(RowStore* rows, const std::vector<IndexRange>& ranges,
                     const std::optional<RowPosition>& after, uint32_t page)
    : rows_(*rows), page_(page) {
  for (const IndexRange& range : ranges) parts_.push_back({.range = range, .after = after});
}

Result<std::optional<IndexHit>> IndexWalk::Next(const Context& context, uint32_t wanted) {
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

// In a loop, because a page may be empty although it is not the last one.
Status IndexWalk::Fill(const Context& context, Part& part, uint32_t wanted) {
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
