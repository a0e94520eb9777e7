// Items of the model: one at a time, in batches and in transactions. A write has four steps:
// prepare (is the request valid?), locate (which item?), evaluate (what will the item be?) and
// store. A transaction does the same four steps with many writes.
#include <utility>
#include <vector>

#include "base/expiry.h"
#include "expression/projection.h"
#include "item/limits.h"
#include "item/size.h"
#include "tables/limits.h"
#include "tests/model/model_tables.h"

namespace tidemark::model {

namespace {

using item::Item;
using tables::CancellationCode;
using tables::OnConditionFailure;
using tables::ReturnValues;

Status CheckKeyIsNotUpdated(const expression::Update& update, const item::KeySchema& keys) {
  for (const expression::Path& path : update.Paths()) {
    if (path.attribute() == keys.partition.name ||
        (keys.sort && path.attribute() == keys.sort->name)) {
      return InvalidParameter("Cannot update attribute " + path.attribute() +
                              ". This attribute is part of the key");
    }
  }
  return Done{};
}

std::optional<Item> NotEmpty(Item item) {
  return item.empty() ? std::nullopt : std::optional(std::move(item));
}

// The attributes of a write's reply.
std::optional<Item> ReturnedBy(const PreparedWrite& write, const std::optional<Item>& previous,
                               const std::optional<Item>& next) {
  const auto touched = write.update ? write.update->Paths() : std::vector<expression::Path>();
  switch (write.return_values) {
    case ReturnValues::kNone:
      return std::nullopt;
    case ReturnValues::kAllOld:
      return previous;
    case ReturnValues::kAllNew:
      return next;
    case ReturnValues::kUpdatedOld:
      return previous ? NotEmpty(expression::Project(*previous, touched)) : std::nullopt;
    case ReturnValues::kUpdatedNew:
      return next ? NotEmpty(expression::Project(*next, touched)) : std::nullopt;
  }
  return std::nullopt;
}

// The items of a request. An item that is named twice is refused.
class Seen {
 public:
  bool Add(const std::string& table, const Item& key) {
    for (const auto& [other_table, other_key] : seen_) {
      if (other_table == table && other_key == key) return false;
    }
    seen_.emplace_back(table, key);
    return true;
  }

 private:
  std::vector<std::pair<std::string, Item>> seen_;
};

Error OneItemTwice() {
  return Invalid("Transaction request cannot include multiple operations on one item");
}

Error BatchDuplicates() { return Invalid("Provided list of item keys contains duplicates"); }

// The key attributes of the write. A malformed write may lack some of them.
Item KeyPart(const Item& item, const item::KeySchema& keys) {
  Item part;
  for (const auto& attribute : {std::optional(keys.partition), keys.sort}) {
    const item::Value* value = attribute ? item.Find(attribute->name) : nullptr;
    if (value) part.Set(attribute->name, *value);
  }
  return part;
}

std::vector<tables::CancellationReason> OnlyReason(size_t count, size_t place, const Error& error) {
  std::vector<tables::CancellationReason> reasons(count);
  reasons[place] = {CancellationCode::kValidationError, error.message, std::nullopt};
  return reasons;
}

}  // namespace

// ---- One item ----

const Item* ModelTables::FindItem(const Table& table, const item::Key& key) {
  auto place = table.items.find(key);
  return place == table.items.end() ? nullptr : &place->second;
}

Result<std::optional<Item>> ModelTables::Read(const Table& table, const Item& key,
                                              const Projection& projection) {
  const Item* item = FindItem(table, TRY(item::KeyOfAttributes(key, table.keys)));
  if (item == nullptr) return std::optional<Item>();
  return std::optional(projection ? expression::Project(*item, *projection) : *item);
}

Result<std::optional<Item>> ModelTables::Get(const tables::GetRequest& request) {
  const std::lock_guard lock(mutex_);
  const Projection projection = TRY(PrepareProjection(request.projection, request.names));
  return Read(*TRY(Find(request.table)), request.key, projection);
}

Result<ModelTables::Located> ModelTables::Locate(const PreparedWrite& write, Table* table) {
  const bool whole = write.kind == WriteKind::kPut;
  Located located{&write, table,
                  whole ? TRY(item::KeyOfItem(write.item, table->keys))
                        : TRY(item::KeyOfAttributes(write.item, table->keys))};
  if (write.update) TRY(CheckKeyIsNotUpdated(*write.update, table->keys));
  if (whole) {
    for (const Index& index : table->indexes) {
      TRY(item::IndexKeyOfItem(write.item, index.spec.keys, index.spec.name));
    }
  }
  return located;
}

Result<ModelTables::Effect> ModelTables::Evaluate(const Located& located) {
  const PreparedWrite& write = *located.write;
  const Item* stored = FindItem(*located.table, located.key);
  Effect effect;
  if (stored) effect.previous = *stored;
  effect.next = effect.previous;
  effect.applied = !write.condition || write.condition->Holds(stored ? *stored : Item());
  if (!effect.applied || write.kind == WriteKind::kCheck) return effect;

  if (write.kind == WriteKind::kPut) effect.next = write.item;
  if (write.kind == WriteKind::kDelete) effect.next = std::nullopt;
  if (write.kind != WriteKind::kUpdate) return effect;

  if (!stored && write.update && !write.update->Creates()) return effect;
  // A new item has only its key before the update.
  const Item before = stored ? *stored : write.item;
  effect.next = write.update ? TRY(write.update->Apply(before)) : before;
  if (item::SizeBytes(*effect.next) > item::kMaxItemBytes) {
    return Invalid("Item size to update has exceeded the maximum allowed size");
  }
  for (const Index& index : located.table->indexes) {
    TRY(item::IndexKeyOfItem(*effect.next, index.spec.keys, index.spec.name));
  }
  return effect;
}

void ModelTables::Store(const Located& located, const Effect& effect) {
  if (located.write->kind == WriteKind::kCheck) return;
  Replace(located.table, located.key, effect.next, /*expired=*/false);
}

void ModelTables::Replace(Table* table, const item::Key& key, std::optional<Item> next,
                          bool expired) {
  std::optional<Item> previous;
  if (const Item* stored = FindItem(*table, key)) previous = *stored;
  Record(table, key, previous, next, expired);
  if (next) {
    // The key is taken from the new item: 1.0 and 1 are the same key and the same number.
    table->items.erase(key);
    table->items.emplace(key, std::move(*next));
  } else {
    table->items.erase(key);
  }
}

Result<tables::WriteReply> ModelTables::WriteOne(const PreparedWrite& write) {
  const std::lock_guard lock(mutex_);
  Table* table = TRY(Find(write.table));
  const Located located = TRY(Locate(write, table));
  const Effect effect = TRY(Evaluate(located));
  tables::WriteReply reply{.applied = effect.applied};
  if (effect.applied) {
    Store(located, effect);
    reply.attributes = ReturnedBy(write, effect.previous, effect.next);
  } else if (write.on_failure == OnConditionFailure::kAllOld) {
    reply.failed_on = effect.previous;
  }
  return reply;
}

Result<tables::WriteReply> ModelTables::Put(const tables::PutRequest& request) {
  return WriteOne(TRY(Prepare(request)));
}

Result<tables::WriteReply> ModelTables::Update(const tables::UpdateRequest& request) {
  return WriteOne(TRY(Prepare(request)));
}

Result<tables::WriteReply> ModelTables::Delete(const tables::DeleteRequest& request) {
  return WriteOne(TRY(Prepare(request)));
}

// ---- Batches ----

Result<tables::BatchGetReply> ModelTables::BatchGet(const tables::BatchGetRequest& request) {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const auto& [name, part] : request.tables) {
    if (part.keys.empty()) return Invalid("The list of keys of table " + name + " is empty");
    count += part.keys.size();
  }
  if (count == 0) return Invalid("The batch is empty");
  if (count > tables::kMaxBatchGetKeys) {
    return Invalid("Too many items requested for the BatchGetItem call");
  }
  std::map<std::string, Projection> projections;
  Seen seen;
  for (const auto& [name, part] : request.tables) {
    projections[name] = TRY(PrepareProjection(part.projection, part.names));
    for (const Item& key : part.keys) {
      if (!seen.Add(name, key)) return BatchDuplicates();
    }
  }
  for (const auto& [name, part] : request.tables) {
    const Table* table = TRY(Find(name));
    for (const Item& key : part.keys) TRY(item::KeyOfAttributes(key, table->keys));
  }

  tables::BatchGetReply reply;
  size_t size_bytes = 0;
  for (const auto& [name, part] : request.tables) {
    const Table* table = TRY(Find(name));
    std::vector<Item>& items = reply.items[name];
    for (const Item& key : part.keys) {
      const std::optional<Item> item = TRY(Read(*table, key, std::nullopt));
      if (!item) continue;
      size_bytes += item::SizeBytes(*item);
      if (size_bytes <= tables::kMaxBatchGetBytes) {
        items.push_back(*TRY(Read(*table, key, projections[name])));
      } else {
        tables::BatchGetRequest::Part& left = reply.unprocessed[name];
        left.projection = part.projection;
        left.names = part.names;
        left.keys.push_back(key);
      }
    }
  }
  return reply;
}

Result<tables::BatchWriteReply> ModelTables::BatchWrite(const tables::BatchWriteRequest& request) {
  std::vector<PreparedWrite> writes;
  for (const auto& [name, actions] : request.tables) {
    if (actions.empty()) return Invalid("The list of actions of table " + name + " is empty");
    for (const auto& action : actions) {
      if (const auto* put = std::get_if<tables::BatchWriteRequest::Put>(&action)) {
        writes.push_back(TRY(Prepare(tables::PutRequest{.table = name, .item = put->item})));
      } else {
        const Item& key = std::get<tables::BatchWriteRequest::Delete>(action).key;
        writes.push_back(TRY(Prepare(tables::DeleteRequest{.table = name, .key = key})));
      }
    }
  }
  if (writes.empty()) return Invalid("The batch is empty");
  if (writes.size() > tables::kMaxBatchWrites) {
    return Invalid("Too many items requested for the BatchWriteItem call");
  }

  const std::lock_guard lock(mutex_);
  std::vector<Located> located;
  Seen seen;
  for (const PreparedWrite& write : writes) {
    Table* table = TRY(Find(write.table));
    located.push_back(TRY(Locate(write, table)));
    if (!seen.Add(write.table, item::AttributesOfKey(located.back().key, table->keys))) {
      return BatchDuplicates();
    }
  }
  for (const Located& each : located) Store(each, TRY(Evaluate(each)));
  return tables::BatchWriteReply{};
}

// ---- Transactions ----

Result<std::vector<ModelTables::Table*>> ModelTables::FindAll(
    const std::vector<PreparedWrite>& writes) {
  std::vector<Table*> found;
  Seen seen;
  for (const PreparedWrite& write : writes) found.push_back(TRY(Find(write.table)));
  for (size_t i = 0; i < writes.size(); ++i) {
    if (!seen.Add(writes[i].table, KeyPart(writes[i].item, found[i]->keys))) return OneItemTwice();
  }
  return found;
}

tables::TransactWriteReply ModelTables::EvaluateAndStore(const std::vector<Located>& actions) {
  tables::TransactWriteReply reply;
  std::vector<tables::CancellationReason> reasons(actions.size());
  std::vector<Effect> effects(actions.size());
  for (size_t i = 0; i < actions.size(); ++i) {
    Result<Effect> effect = Evaluate(actions[i]);
    if (!effect) {
      reasons[i] = {CancellationCode::kValidationError, effect.error().message, std::nullopt};
    } else if (!effect->applied) {
      reasons[i] = {CancellationCode::kConditionalCheckFailed, "The conditional request failed",
                    std::nullopt};
      if (actions[i].write->on_failure == OnConditionFailure::kAllOld) {
        reasons[i].item = effect->previous;
      }
    } else {
      effects[i] = *effect;
    }
    if (reasons[i].code != CancellationCode::kNone) {
      reply.outcome = tables::TransactOutcome::kCancelled;
    }
  }
  if (reply.outcome == tables::TransactOutcome::kCancelled) {
    reply.reasons = std::move(reasons);
  } else {
    for (size_t i = 0; i < actions.size(); ++i) Store(actions[i], effects[i]);
  }
  return reply;
}

Result<tables::TransactWriteReply> ModelTables::TransactWrite(
    const tables::TransactWriteRequest& request) {
  const std::lock_guard lock(mutex_);
  const std::vector<PreparedWrite> writes = TRY(Prepare(request));
  const std::string fingerprint = Fingerprint(request);
  if (request.token) {
    auto used = tokens_.find(*request.token);
    if (used != tokens_.end() && IsLive(used->second.used_at + tables::kTokenLife.count(), Now())) {
      if (used->second.actions != fingerprint) {
        return tables::TransactWriteReply{.outcome = tables::TransactOutcome::kTokenMismatch};
      }
      return tables::TransactWriteReply{.replayed = true};
    }
  }
  const std::vector<Table*> found = TRY(FindAll(writes));
  std::vector<Located> actions;
  for (size_t i = 0; i < writes.size(); ++i) {
    Result<Located> located = Locate(writes[i], found[i]);
    if (!located) {
      return tables::TransactWriteReply{.outcome = tables::TransactOutcome::kCancelled,
                                        .reasons = OnlyReason(writes.size(), i, located.error())};
    }
    actions.push_back(*located);
  }
  tables::TransactWriteReply reply = EvaluateAndStore(actions);
  if (request.token && reply.outcome == tables::TransactOutcome::kApplied) {
    tokens_[*request.token] = {fingerprint, Now()};
  }
  return reply;
}

Result<tables::TransactGetReply> ModelTables::TransactGet(
    const tables::TransactGetRequest& request) {
  const std::lock_guard lock(mutex_);
  if (request.gets.empty() || request.gets.size() > tables::kMaxTransactActions) {
    return Invalid(
        "1 validation error detected: Value at 'transactItems' failed to satisfy "
        "constraint: Member must have length less than or equal to 100 and at least 1");
  }
  std::vector<Projection> projections;
  std::vector<const Table*> found;
  Seen seen;
  for (const tables::GetRequest& get : request.gets) {
    projections.push_back(TRY(PrepareProjection(get.projection, get.names)));
  }
  for (const tables::GetRequest& get : request.gets) found.push_back(TRY(Find(get.table)));
  for (const tables::GetRequest& get : request.gets) {
    if (!seen.Add(get.table, get.key)) return OneItemTwice();
  }
  tables::TransactGetReply reply;
  size_t size_bytes = 0;
  for (size_t i = 0; i < request.gets.size(); ++i) {
    const auto item = Read(*found[i], request.gets[i].key, std::nullopt);
    if (!item) {
      return tables::TransactGetReply{.cancelled = true,
                                      .reasons = OnlyReason(request.gets.size(), i, item.error())};
    }
    if (*item) size_bytes += item::SizeBytes(**item);
    reply.items.push_back(TRY(Read(*found[i], request.gets[i].key, projections[i])));
  }
  if (size_bytes > tables::kMaxTransactBytes) {
    return Invalid("The items of the transaction have together more than 4 MB");
  }
  return reply;
}

}  // namespace tidemark::model
