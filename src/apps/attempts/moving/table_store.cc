#include "apps/attempts/moving/table_store.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "apps/attempts/account.h"
#include "apps/attempts/moving/rows.h"
#include "item/attributes.h"
#include "tables/conditional_writer.h"
#include "tables/pages.h"

namespace tidemark::moving {

namespace {

using item::IntIn;
using item::Item;
using item::Number;
using item::TextIn;

// No subject has this text: Subject::Parse accepts a '~' only after the kind of an identifier.
constexpr const char* kMovePartition = "move~";
constexpr const char* kPhaseKey = "PHASE";
constexpr const char* kDriftKey = "DRIFT";
constexpr uint32_t kScanPage = 200;

Item KeyOf(const std::string& partition, const std::string& sort_key) {
  return {{std::string(attempts::kPartitionAttribute), partition},
          {std::string(attempts::kSortAttribute), sort_key}};
}

Number NumberOf(uint64_t value) { return Number::FromInt(static_cast<int64_t>(value)); }

uint64_t WholeIn(const Item& item, std::string_view name) {
  return static_cast<uint64_t>(std::max<int64_t>(0, IntIn(item, name).value_or(0)));
}

std::map<std::string, const Item*> BySortKey(const std::vector<Item>& items) {
  std::map<std::string, const Item*> by_key;
  for (const Item& item : items) by_key[TextIn(item, attempts::kSortAttribute)] = &item;
  return by_key;
}

void RequireVersion(const std::string& version, tables::PutRequest* put) {
  put->names = {{"#version", "version"}};
  put->condition = "attribute_not_exists(#version)";
  if (version.empty()) return;
  put->condition = "#version = :version";
  put->values = {{":version", version}};
}

tables::ConditionCheck CheckEpoch(const std::string& table, uint64_t epoch) {
  return {.table = table,
          .key = KeyOf(kMovePartition, kPhaseKey),
          .condition = "epoch = :epoch",
          .values = {{":epoch", NumberOf(epoch)}}};
}

}  // namespace

Result<StoredAccount> TableStore::Load(const attempts::Subject& subject) {
  StoredAccount account{
      .items = TRY(tables::QueryAll(
          tables_,
          {.table = table_,
           .partition = item::Attribute{std::string(attempts::kPartitionAttribute), subject.text()},
           .consistent = true}))};
  for (const Item& item : account.items) {
    if (TextIn(item, attempts::kSortAttribute) == attempts::kHeadKey) {
      account.version = TextIn(item, "version");
    }
  }
  account.epoch = TRY(GetPhase()).epoch;
  return account;
}

std::vector<tables::TransactAction> TableStore::ActionsFor(const Replacement& replacement) const {
  std::vector<tables::TransactAction> actions;
  if (replacement.epoch) actions.emplace_back(CheckEpoch(table_, *replacement.epoch));
  const auto before = BySortKey(replacement.before.items);
  const auto after = BySortKey(replacement.items);
  for (const auto& [sort_key, item] : after) {
    const auto known = before.find(sort_key);
    if (known != before.end() && *known->second == *item) continue;
    tables::PutRequest put{.table = table_, .item = *item};
    if (sort_key == attempts::kHeadKey) RequireVersion(replacement.before.version, &put);
    actions.emplace_back(std::move(put));
  }
  for (const auto& [sort_key, item] : before) {
    if (after.contains(sort_key)) continue;
    actions.emplace_back(
        tables::DeleteRequest{.table = table_, .key = KeyOf(replacement.subject.text(), sort_key)});
  }
  return actions;
}

Result<ReplaceOutcome> TableStore::Replace(const Replacement& replacement) {
  auto actions = ActionsFor(replacement);
  if (actions.size() <= (replacement.epoch ? 1u : 0u)) return ReplaceOutcome::kApplied;
  const auto reply = TRY(tables::JudgeOnce(tables_.TransactWrite({.actions = std::move(actions)})));
  if (reply.IsWritten()) return ReplaceOutcome::kApplied;
  // The check of the epoch is the first action.
  const bool is_other_epoch = replacement.epoch && reply.IsAnyRefused(1);
  return is_other_epoch ? ReplaceOutcome::kOtherEpoch : ReplaceOutcome::kChanged;
}

Result<PhaseRecord> TableStore::GetPhase() {
  const auto item = TRY(tables_.Get({.table = table_, .key = KeyOf(kMovePartition, kPhaseKey)}));
  if (!item) return PhaseRecord{};
  const auto phase = ParsePhase(TextIn(*item, "phase"));
  if (!phase) {
    return Error{ErrorCode::kCorrupt,
                 fmt::format("the table {} has the phase \"{}\" for the move from the old store; "
                             "there is no such phase",
                             table_, TextIn(*item, "phase"))};
  }
  return PhaseRecord{.phase = *phase,
                     .epoch = WholeIn(*item, "epoch"),
                     .since = IntIn(*item, "since").value_or(0)};
}

Result<bool> TableStore::SetPhase(const PhaseRecord& record, uint64_t expected_epoch) {
  tables::PutRequest put{.table = table_, .item = KeyOf(kMovePartition, kPhaseKey)};
  put.item.Set("phase", std::string(ToString(record.phase)));
  put.item.Set("epoch", NumberOf(record.epoch));
  put.item.Set("since", Number::FromInt(record.since));
  put.condition = "attribute_not_exists(epoch)";
  if (expected_epoch > 0) {
    put.condition = "epoch = :epoch";
    put.values = {{":epoch", NumberOf(expected_epoch)}};
  }
  return TRY(tables_.Put(put)).applied;
}

Status TableStore::NoteDrift(uint64_t epoch, EpochSeconds now) {
  tables::UpdateRequest update{.table = table_, .key = KeyOf(kMovePartition, kDriftKey)};
  update.names = {{"#count", "count"}};
  update.values = {
      {":one", Number::FromInt(1)}, {":now", Number::FromInt(now)}, {":epoch", NumberOf(epoch)}};
  update.update = "SET last_at = :now ADD #count :one";
  update.condition = "epoch = :epoch";
  if (TRY(tables_.Update(update)).applied) return Done{};
  // The first difference of this epoch. Of several writers at once only one gets here first and the
  // others are not counted; what the gate needs is the time, and that is stored.
  update.update = "SET last_at = :now, #count = :one, epoch = :epoch";
  update.condition = "attribute_not_exists(epoch) OR epoch < :epoch";
  TRY(tables_.Update(update));
  return Done{};
}

Result<Drift> TableStore::GetDrift(uint64_t epoch) {
  const auto item = TRY(tables_.Get({.table = table_, .key = KeyOf(kMovePartition, kDriftKey)}));
  if (!item || WholeIn(*item, "epoch") != epoch) return Drift{};
  return Drift{.count = WholeIn(*item, "count"), .last_at = IntIn(*item, "last_at").value_or(0)};
}

Result<SubjectPage> TableStore::ListSubjects(const std::optional<std::string>& cursor) {
  tables::ScanRequest scan{.table = table_, .consistent = true, .limit = kScanPage};
  // A cursor is "SUBJECT\nSORT KEY"; neither of them can contain a line end.
  if (cursor) {
    const size_t end = cursor->find('\n');
    if (end == std::string::npos)
      return Invalid("the cursor of the list of subjects is damaged; begin without one");
    scan.start_after = KeyOf(cursor->substr(0, end), cursor->substr(end + 1));
  }
  const tables::Page page = TRY(tables_.Scan(scan));
  SubjectPage reply;
  for (const Item& item : page.items) {
    auto subject = attempts::Subject::Parse(TextIn(item, attempts::kPartitionAttribute));
    if (!subject) continue;
    if (!reply.subjects.empty() && reply.subjects.back() == *subject) continue;
    reply.subjects.push_back(*std::move(subject));
  }
  if (page.last) {
    reply.next = TextIn(*page.last, attempts::kPartitionAttribute) + "\n" +
                 TextIn(*page.last, attempts::kSortAttribute);
  }
  return reply;
}

}  // namespace tidemark::moving
