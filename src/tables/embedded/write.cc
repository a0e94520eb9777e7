#include "tables/embedded/write.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "expression/bindings.h"
#include "expression/projection.h"
#include "expression/update.h"
#include "item/limits.h"
#include "item/size.h"
#include "item/validate.h"
#include "tables/embedded/capacity.h"
#include "tables/embedded/index.h"
#include "tables/embedded/validate.h"

namespace tidemark::embedded {

namespace {

using expression::Bindings;
using item::Item;
using tables::OnConditionFailure;
using tables::ReturnValues;

using MaybeItem = std::optional<Item>;

constexpr std::string_view kPutTooLarge = "Item size has exceeded the maximum allowed size";
constexpr std::string_view kUpdateTooLarge =
    "Item size to update has exceeded the maximum allowed size";

// The part of a Write that all requests have in common: everything except the function.
template <typename Request>
Result<Write> PrepareCommon(const Request& request) {
  TRY(ValidateTableName(request.table));
  TRY(ValidateValues(request.values));
  Write write;
  write.table = request.table;
  write.on_failure = request.on_failure;
  if constexpr (requires { request.measure; }) {
    write.measure = request.measure;
    write.collections = request.collections;
  }
  return write;
}

const std::string* Pointer(const std::string& condition) { return &condition; }
const std::string* Pointer(const std::optional<std::string>& condition) {
  return condition ? &*condition : nullptr;
}

template <typename Request>
Status ParseConditionInto(const Request& request, Bindings* bindings, Write* write) {
  const std::string* text = Pointer(request.condition);
  if (text == nullptr) return Done{};
  write->condition = TRY(expression::ParseCondition(*text, "ConditionExpression", bindings));
  return Done{};
}

// A write whose only expression is its condition. AllUsed comes after the last expression was
// parsed: DynamoDB refuses a request that defines a name or a value and uses it nowhere.
template <typename Request>
Result<Write> PrepareConditional(const Request& request, Item source) {
  Write write = TRY(PrepareCommon(request));
  TRY(item::ValidateItem(source));
  const bool has_expression = Pointer(request.condition) != nullptr;
  Bindings bindings = TRY(Bindings::Make(request.names, request.values, has_expression));
  TRY(ParseConditionInto(request, &bindings, &write));
  TRY(bindings.AllUsed());
  write.source = std::move(source);
  return write;
}

Status OnlyOldValues(ReturnValues values) {
  if (values == ReturnValues::kNone || values == ReturnValues::kAllOld) return Done{};
  return Invalid("ReturnValues can only be ALL_OLD or NONE");
}

Result<MaybeItem> ReplaceBySource(const MaybeItem&, Item source) {
  return MaybeItem(std::move(source));
}
Result<MaybeItem> RemoveItem(const MaybeItem&, Item) { return MaybeItem(); }
Result<MaybeItem> KeepItem(const MaybeItem& previous, Item) { return previous; }
Result<MaybeItem> MakeIfAbsent(const MaybeItem& previous, Item source) {
  return previous ? previous : MaybeItem(std::move(source));
}

// The source of an update is the key, so an item that is created begins with its key attributes.
Result<MaybeItem> ApplyUpdate(const expression::Update& update, const MaybeItem& previous,
                              const Item& source) {
  if (!previous && !update.Creates()) return MaybeItem();
  return MaybeItem(TRY(update.Apply(previous ? *previous : source)));
}

bool IsKeyAttribute(const item::KeySchema& keys, const std::string& attribute) {
  return item::HasAttribute(keys, attribute);
}

// Preparing cannot check this: which attributes are the key is known only in the committer, where
// the table is looked up. The key must not change, because it is also the key of the row: the item
// would have to move, and the row of its old key would stay.
Status CheckKeyUntouched(const Write& write, const Table& table) {
  for (const expression::Path& path : write.updated) {
    if (!IsKeyAttribute(table.keys, path.attribute())) continue;
    return Invalid(
        fmt::format("One or more parameter values were invalid: Cannot update attribute {}. "
                    "This attribute is part of the key",
                    path.attribute()));
  }
  return Done{};
}

// DynamoDB says it in other words when an update makes a key of an index empty.
Error OfUpdate(Error error) {
  constexpr std::string_view kOfPut =
      "One or more parameter values are not valid. A value specified for a secondary index key is "
      "not supported. ";
  constexpr std::string_view kOfUpdate =
      "One or more parameter values are not valid. The update expression attempted to update a "
      "secondary index key to a value that is not supported. ";
  // Names of attributes may contain the same words, but only behind these places.
  if (!error.message.starts_with(kOfPut)) return error;
  const size_t end = error.message.find(" IndexName: ", kOfPut.size());
  if (end != std::string::npos) error.message.resize(end);
  error.message.replace(0, kOfPut.size(), kOfUpdate);
  return error;
}

// Only the result of an update says whether it is too large, so the size is checked here for all
// writes. Each value was valid when the write was prepared. Only a value that was put inside
// another one can nest too deeply now.
Status CheckNext(const Write& write, const Table& table, const Item& next) {
  if (item::SizeBytes(next) > item::kMaxItemBytes) return Invalid(std::string(write.too_large));
  if (write.nests) TRY(item::ValidateItem(next));
  Status keys = CheckIndexKeys(table, next);
  if (!keys && !write.updated.empty()) return OfUpdate(std::move(keys).error());
  return keys;
}

// The parts of the item that an update touches; nullopt when the item has none of them.
MaybeItem Touched(const MaybeItem& item, const std::vector<expression::Path>& paths) {
  if (!item) return std::nullopt;
  Item touched = expression::Project(*item, paths);
  if (touched.empty()) return std::nullopt;
  return touched;
}

MaybeItem Returned(const Write& write, const MaybeItem& previous, const MaybeItem& next) {
  switch (write.return_values) {
    case ReturnValues::kNone:
      return std::nullopt;
    case ReturnValues::kAllOld:
      return previous;
    case ReturnValues::kAllNew:
      return next;
    case ReturnValues::kUpdatedOld:
      return Touched(previous, write.updated);
    case ReturnValues::kUpdatedNew:
      return Touched(next, write.updated);
  }
  return std::nullopt;
}

Result<Write> PreparePut(const tables::PutRequest& request, Item source) {
  TRY(OnlyOldValues(request.return_values));
  Write write = TRY(PrepareConditional(request, std::move(source)));
  write.whole_item = true;
  write.apply = ReplaceBySource;
  write.too_large = kPutTooLarge;
  write.return_values = request.return_values;
  return write;
}

}  // namespace

Result<Write> Prepare(const tables::PutRequest& request) {
  return PreparePut(request, request.item);
}

Result<Write> Prepare(tables::PutRequest&& request) {
  Item source = std::move(request.item);
  return PreparePut(request, std::move(source));
}

Result<Write> Prepare(const tables::UpdateRequest& request) {
  Write write = TRY(PrepareCommon(request));
  TRY(item::ValidateItem(request.key));
  const bool has_expression = request.update || request.condition;
  Bindings bindings = TRY(Bindings::Make(request.names, request.values, has_expression));
  write.apply = MakeIfAbsent;
  if (request.update) {
    expression::Update update = TRY(expression::ParseUpdate(*request.update, &bindings));
    write.updated = update.Paths();
    // An item with a longer name could be read, but not put back.
    for (const auto& path : write.updated) TRY(item::ValidateName(path.attribute()));
    write.nests = std::any_of(write.updated.begin(), write.updated.end(),
                              [](const expression::Path& path) { return path.steps.size() > 1; });
    write.apply = [update](const MaybeItem& previous, Item source) {
      return ApplyUpdate(update, previous, source);
    };
  }
  TRY(ParseConditionInto(request, &bindings, &write));
  TRY(bindings.AllUsed());
  write.source = request.key;
  write.too_large = kUpdateTooLarge;
  write.return_values = request.return_values;
  return write;
}

Result<Write> Prepare(const tables::DeleteRequest& request) {
  TRY(OnlyOldValues(request.return_values));
  Write write = TRY(PrepareConditional(request, request.key));
  write.apply = RemoveItem;
  write.return_values = request.return_values;
  return write;
}

Result<Write> Prepare(const tables::ConditionCheck& request) {
  Write write = TRY(PrepareConditional(request, request.key));
  write.apply = KeepItem;
  write.checks_only = true;
  return write;
}

Result<Target> FindTarget(const Write& write, const Catalog& catalog) {
  Target target{.table = TRY(catalog.Need(write.table))};
  const item::KeySchema& keys = target.table->keys;
  target.key = write.whole_item ? TRY(item::KeyOfItem(write.source, keys))
                                : TRY(item::KeyOfAttributes(write.source, keys));
  target.row_key = ItemRowKey(target.table->keyspace, target.key);
  return target;
}

// The committer writes many requests as one group, and `previous` is the item as the earlier
// requests of the group leave it. So two writes of one item see each other although neither is
// stored yet.
//
// The condition comes before the update is applied. An update that could not be applied to this
// item, such as ADD to a text, is a refusal and no error when its condition does not hold.
Result<Decision> Decide(Write write, Target target, Group* group) {
  TRY(CheckKeyUntouched(write, *target.table));
  const MaybeItem* previous = TRY(group->Find(target.row_key));
  Decision decision;
  // A condition sees an absent item as one without attributes.
  static const Item kAbsent;
  if (write.condition && !write.condition->Holds(*previous ? **previous : kAbsent)) {
    decision.reply.applied = false;
    if (write.on_failure == OnConditionFailure::kAllOld) decision.reply.failed_on = *previous;
    return decision;
  }
  MaybeItem next = TRY(write.apply(*previous, std::move(write.source)));
  // A check writes nothing. The item may be older than an index that would not take it today.
  if (next && !write.checks_only) TRY(CheckNext(write, *target.table, *next));
  decision.reply.attributes = Returned(write, *previous, next);
  if (write.measure != tables::Measure::kNone) {
    decision.reply.capacity =
        WriteCapacity(*target.table, target.key, *previous, next, write.measure);
  }
  if (write.collections == tables::Collections::kSize && !write.checks_only) {
    decision.reply.collection = CollectionOf(*target.table, target.key);
  }
  decision.change = ItemChange{.table = std::move(target.table),
                               .key = std::move(target.key),
                               .row_key = std::move(target.row_key),
                               .previous = previous,
                               .next = std::move(next)};
  return decision;
}

Status WriteChange::Evaluate(Group* group) {
  Target target = TRY(FindTarget(write_, group->catalog()));
  Decision decision = TRY(Decide(std::move(write_), std::move(target), group));
  reply_ = std::move(decision.reply);
  if (decision.change) group->Add(std::move(*decision.change));
  return Done{};
}

}  // namespace tidemark::embedded
