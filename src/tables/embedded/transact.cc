#include "tables/embedded/transact.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/hashing.h"
#include "item/encoding.h"
#include "item/limits.h"
#include "item/size.h"
#include "tables/add_capacity.h"
#include "tables/embedded/capacity.h"
#include "tables/embedded/validate.h"
#include "tables/limits.h"

namespace tidemark::embedded {

namespace {

using tables::CancellationCode;

constexpr std::string_view kConditionFailed = "The conditional request failed";
constexpr std::string_view kTwiceInTransaction =
    "Transaction request cannot include multiple operations on one item";
constexpr std::string_view kTwiceInBatch = "Provided list of item keys contains duplicates";

// ---- What a token stands for ----

void AppendOptional(const std::optional<std::string>& text, std::string* out) {
  out->push_back(text ? 1 : 0);
  if (text) AppendText(*text, out);
}

template <typename Action>
void AppendBindings(const Action& action, std::string* out) {
  AppendVarint(action.names.size(), out);
  for (const auto& [name, attribute] : action.names) {
    AppendText(name, out);
    AppendText(attribute, out);
  }
  item::Map values;
  for (const auto& [name, value] : action.values) values.Set(name, value);
  item::EncodeItem(values, out);
}

void AppendAction(const tables::ConditionCheck& check, std::string* out) {
  item::EncodeItem(check.key, out);
  AppendText(check.condition, out);
}
void AppendAction(const tables::PutRequest& put, std::string* out) {
  item::EncodeItem(put.item, out);
  AppendOptional(put.condition, out);
}
void AppendAction(const tables::UpdateRequest& update, std::string* out) {
  item::EncodeItem(update.key, out);
  AppendOptional(update.update, out);
  AppendOptional(update.condition, out);
}
void AppendAction(const tables::DeleteRequest& remove, std::string* out) {
  item::EncodeItem(remove.key, out);
  AppendOptional(remove.condition, out);
}

// A hash over everything that makes two requests the same.
std::string Fingerprint(const tables::TransactWriteRequest& request) {
  std::string text;
  for (const tables::TransactAction& action : request.actions) {
    text.push_back(static_cast<char>(action.index()));
    std::visit(
        [&](const auto& one) {
          AppendText(one.table, &text);
          AppendAction(one, &text);
          AppendBindings(one, &text);
        },
        action);
  }
  return Sha256(text);
}

// ---- Checks without a table ----

size_t SizeOf(const tables::TransactAction& action) {
  return std::visit(
      [](const auto& one) {
        size_t bytes = 0;
        if constexpr (requires { one.item; }) bytes += item::SizeBytes(one.item);
        if constexpr (requires { one.key; }) bytes += item::SizeBytes(one.key);
        for (const auto& [name, value] : one.values) bytes += name.size() + item::SizeBytes(value);
        return bytes;
      },
      action);
}

Status ValidateTransaction(const tables::TransactWriteRequest& request) {
  const size_t count = request.actions.size();
  if (count == 0 || count > tables::kMaxTransactActions) {
    return Invalid(
        fmt::format("1 validation error detected: Value at 'transactItems' failed to satisfy "
                    "constraint: Member must have length {} than or equal to {}",
                    count == 0 ? "greater" : "less", count == 0 ? 1 : tables::kMaxTransactActions));
  }
  if (request.token &&
      (request.token->empty() || request.token->size() > tables::kMaxTokenLength)) {
    return Invalid(
        fmt::format("1 validation error detected: Value '{}' at 'clientRequestToken' failed to "
                    "satisfy constraint: Member must have length between 1 and {}",
                    *request.token, tables::kMaxTokenLength));
  }
  size_t bytes = 0;
  for (const tables::TransactAction& action : request.actions) bytes += SizeOf(action);
  if (bytes > tables::kMaxTransactBytes) {
    return Invalid(
        fmt::format("The transaction's items have {} bytes together; at most {} are allowed", bytes,
                    tables::kMaxTransactBytes));
  }
  return Done{};
}

// A transaction writes an item twice: once to prepare, and once to commit. Its indexes are written
// once.
void AddDoubled(tables::Capacity capacity, std::vector<tables::Capacity>* all) {
  capacity.table_units *= 2;
  AddCapacity(capacity, all);
}

void AddCollection(const std::string& table, std::optional<tables::Collection> collection,
                   tables::CollectionsByTable* all) {
  if (!collection) return;
  std::vector<tables::Collection>& of_table = (*all)[table];
  const bool is_new = std::ranges::find(of_table, *collection) == of_table.end();
  if (is_new) of_table.push_back(*std::move(collection));
}

bool NamesARowTwice(const std::vector<Target>& targets) {
  std::vector<std::string_view> rows;
  rows.reserve(targets.size());
  for (const Target& target : targets) rows.push_back(target.row_key);
  std::sort(rows.begin(), rows.end());
  return std::adjacent_find(rows.begin(), rows.end()) != rows.end();
}

// As in DynamoDB: a put that is too large refuses the whole request. An update that makes its item
// too large cancels the transaction, because that depends on the stored item.
Status CheckPutSize(const tables::TransactAction& action) {
  const auto* put = std::get_if<tables::PutRequest>(&action);
  if (put == nullptr || item::SizeBytes(put->item) <= item::kMaxItemBytes) return Done{};
  return Invalid("Item size has exceeded the maximum allowed size");
}

}  // namespace

// `request` is constant or not; what is moved from a constant one is copied.
template <typename Request>
Result<TransactChange> TransactChange::PrepareActions(Request& request) {
  TRY(ValidateTransaction(request));
  TransactChange change;
  change.token_ = request.token;
  if (request.token) change.fingerprint_ = Fingerprint(request);
  change.writes_.reserve(request.actions.size());
  for (auto& action : request.actions) {
    TRY(CheckPutSize(action));
    Write write =
        TRY(std::visit([](auto& one) { return embedded::Prepare(std::move(one)); }, action));
    write.return_values = tables::ReturnValues::kNone;
    write.measure = request.measure;
    write.collections = request.collections;
    change.writes_.push_back(std::move(write));
  }
  return change;
}

Result<TransactChange> TransactChange::Prepare(const tables::TransactWriteRequest& request) {
  return PrepareActions(request);
}

Result<TransactChange> TransactChange::Prepare(tables::TransactWriteRequest&& request) {
  return PrepareActions(request);
}

Result<bool> TransactChange::AnsweredByToken(Group* group) {
  if (!token_) return false;
  const std::optional<TokenRecord> used = TRY(group->FindToken(*token_));
  if (!used) return false;
  const bool same = used->fingerprint == fingerprint_;
  reply_.outcome =
      same ? tables::TransactOutcome::kApplied : tables::TransactOutcome::kTokenMismatch;
  reply_.replayed = same;
  return true;
}

void TransactChange::Cancel(size_t action, tables::CancellationReason reason) {
  reply_.outcome = tables::TransactOutcome::kCancelled;
  reply_.reasons.resize(writes_.size());
  // A hundred large items that were asked for are left out of the reply, and not their reasons.
  if (reason.item) shown_json_bytes_ += item::JsonBytes(*reason.item);
  if (shown_json_bytes_ > tables::kMaxBatchJsonBytes) reason.item.reset();
  reply_.reasons[action] = std::move(reason);
}

// A key that does not fit its table cancels the transaction. An item that is named twice refuses
// the request, also when a key does not fit.
Result<std::vector<Target>> TransactChange::FindTargets(const Catalog& catalog) {
  for (const Write& write : writes_) TRY(catalog.Need(write.table));
  std::vector<Target> targets;
  targets.reserve(writes_.size());
  for (size_t i = 0; i < writes_.size(); ++i) {
    Result<Target> target = FindTarget(writes_[i], catalog);
    if (target.has_value()) {
      targets.push_back(*std::move(target));
    } else if (reply_.reasons.empty()) {
      Cancel(i, {.code = CancellationCode::kValidationError, .message = target.error().message});
    }
  }
  if (NamesARowTwice(targets)) return Invalid(std::string(kTwiceInTransaction));
  return targets;
}

Status TransactChange::Evaluate(Group* group) {
  reply_ = {};
  shown_json_bytes_ = 0;
  if (TRY(AnsweredByToken(group))) return Done{};
  std::vector<Target> targets = TRY(FindTargets(group->catalog()));
  if (reply_.outcome == tables::TransactOutcome::kCancelled) return Done{};
  std::vector<ItemChange> changes;
  std::vector<tables::Capacity> capacity;
  tables::CollectionsByTable collections;
  changes.reserve(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    Result<Decision> decision = Decide(std::move(writes_[i]), std::move(targets[i]), group);
    if (!decision.has_value() && decision.error().code != ErrorCode::kInvalid) {
      return std::move(decision).error();
    }
    if (!decision.has_value()) {
      Cancel(i, {.code = CancellationCode::kValidationError, .message = decision.error().message});
    } else if (!decision->reply.applied) {
      Cancel(i, {.code = CancellationCode::kConditionalCheckFailed,
                 .message = std::string(kConditionFailed),
                 .item = std::move(decision->reply.failed_on)});
    } else {
      if (decision->reply.capacity) AddDoubled(*decision->reply.capacity, &capacity);
      AddCollection(decision->change->table->name, std::move(decision->reply.collection),
                    &collections);
      changes.push_back(std::move(*decision->change));
    }
  }
  if (reply_.outcome == tables::TransactOutcome::kCancelled) return Done{};
  for (ItemChange& change : changes) group->Add(std::move(change));
  reply_.capacity = std::move(capacity);
  reply_.collections = std::move(collections);
  if (token_) {
    group->AddToken(*token_, {.expires = group->now() + tables::kTokenLife.count(),
                              .fingerprint = fingerprint_});
  }
  return Done{};
}

// ---- Batches ----

Result<BatchChange> BatchChange::Prepare(const tables::BatchWriteRequest& request) {
  BatchChange change;
  for (const auto& [table, actions] : request.tables) {
    if (actions.empty()) {
      return Invalid(
          fmt::format("1 validation error detected: Value at 'requestItems.{}' failed to "
                      "satisfy constraint: Member must have length greater than or equal to 1",
                      table));
    }
    for (const tables::BatchWriteRequest::Action& action : actions) {
      if (const auto* put = std::get_if<tables::BatchWriteRequest::Put>(&action)) {
        change.writes_.push_back(
            TRY(embedded::Prepare(tables::PutRequest{.table = table,
                                                     .item = put->item,
                                                     .measure = request.measure,
                                                     .collections = request.collections})));
      } else {
        const item::Item& key = std::get<tables::BatchWriteRequest::Delete>(action).key;
        change.writes_.push_back(
            TRY(embedded::Prepare(tables::DeleteRequest{.table = table,
                                                        .key = key,
                                                        .measure = request.measure,
                                                        .collections = request.collections})));
      }
    }
  }
  if (change.writes_.empty()) {
    return Invalid(
        "1 validation error detected: Value at 'requestItems' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1");
  }
  if (change.writes_.size() > tables::kMaxBatchWrites) {
    return Invalid("Too many items requested for the BatchWriteItem call");
  }
  return change;
}

Status BatchChange::Evaluate(Group* group) {
  std::vector<Decision> decisions;
  std::set<std::string> rows;
  for (Write& write : writes_) {
    Target target = TRY(FindTarget(write, group->catalog()));
    if (!rows.insert(target.row_key).second) return Invalid(std::string(kTwiceInBatch));
    decisions.push_back(TRY(Decide(std::move(write), std::move(target), group)));
    tables::WriteReply& reply = decisions.back().reply;
    if (reply.capacity) AddCapacity(*reply.capacity, &capacity_);
    AddCollection(decisions.back().change->table->name, std::move(reply.collection), &collections_);
  }
  for (Decision& decision : decisions) group->Add(std::move(*decision.change));
  return Done{};
}

}  // namespace tidemark::embedded
