#include "apps/attempts/account.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/expiry.h"
#include "item/number.h"

namespace tidemark::attempts {

namespace {

using item::Number;

// Sorts before every name: it is read first, so a write behind it is noticed.
constexpr std::string_view kHeadKey = "!";
constexpr std::string_view kStateCount = "STATE";
constexpr std::string_view kDevicePrefix = "DEVICE#KNOWN#";
constexpr size_t kMaxIds = 128;
constexpr size_t kMaxSettled = 16;
// For how long the head outlives what it is about.
constexpr EpochSeconds kHeadGraceSeconds = 86'400;
constexpr std::array kAllStates = {AccountState::kBlocked, AccountState::kSuspended,
                                   AccountState::kResetPassword, AccountState::kReproveIdentity};

std::string TextIn(const item::Map& row, std::string_view name) {
  const item::Value* value = row.Find(name);
  const auto* text = value ? value->As<std::string>() : nullptr;
  return text ? *text : "";
}

std::optional<int64_t> IntIn(const item::Map& row, std::string_view name) {
  const item::Value* value = row.Find(name);
  const auto* number = value ? value->As<Number>() : nullptr;
  return number ? number->Floor() : std::nullopt;
}

const item::List& ListIn(const item::Map& row, std::string_view name) {
  static const item::List none;
  const item::Value* value = row.Find(name);
  const auto* list = value ? value->As<item::List>() : nullptr;
  return list ? *list : none;
}

void SetText(std::string_view name, const std::string& text, item::Item* row) {
  if (!text.empty()) row->Set(name, text);
}
void SetInt(std::string_view name, int64_t value, item::Item* row) {
  row->Set(name, Number::FromInt(value));
}

std::optional<CountRow> DecodeCount(const Name& name, const item::Item& row) {
  const auto count = IntIn(row, "count");
  const auto until = IntIn(row, "ttl");
  if (!count || *count < 0 || !until) return std::nullopt;
  CountRow decoded{.name = name,
                   .count = static_cast<uint64_t>(*count),
                   .until = *until,
                   .last_updated = IntIn(row, "last_updated").value_or(0),
                   .notification_type = TextIn(row, "notification_type"),
                   .method_type = TextIn(row, "mfa_method_type")};
  for (const item::Value& one : ListIn(row, "open")) {
    const auto* map = one.As<item::Map>();
    if (map == nullptr) return std::nullopt;
    decoded.open.push_back({.id = TextIn(*map, "id"), .at = IntIn(*map, "at").value_or(0)});
  }
  for (const item::Value& one : ListIn(row, "ids")) {
    if (const auto* id = one.As<std::string>()) decoded.ids.push_back(*id);
  }
  return decoded;
}

std::optional<LockRow> DecodeLock(const Name& name, const item::Item& row) {
  LockRow decoded{
      .lock = {.name = name, .reason = TextIn(row, "reason"), .until = IntIn(row, "ttl")},
      .length = IntIn(row, "block_duration").value_or(0),
      .last_updated = IntIn(row, "last_updated").value_or(0)};
  const std::string kind = TextIn(row, "block_type");
  // A lock whose kind is not known holds all the same; without an end it holds for good.
  if (kind == ToString(LockKind::kReduced)) decoded.lock.kind = LockKind::kReduced;
  if (kind == ToString(LockKind::kPermanent)) {
    decoded.lock.kind = LockKind::kPermanent;
    decoded.lock.until = std::nullopt;
  }
  return decoded;
}

void EncodeInto(const CountRow& row, item::Item* item) {
  SetInt("count", static_cast<int64_t>(row.count), item);
  SetInt("ttl", row.until, item);
  SetInt("last_updated", row.last_updated, item);
  SetText("notification_type", row.notification_type, item);
  SetText("mfa_method_type", row.method_type, item);
  item::List open;
  for (const OpenAttempt& one : row.open) {
    open.emplace_back(item::Map{{"id", one.id}, {"at", Number::FromInt(one.at)}});
  }
  if (!open.empty()) item->Set("open", std::move(open));
  item::List ids(row.ids.begin(), row.ids.end());
  if (!ids.empty()) item->Set("ids", std::move(ids));
}

void EncodeInto(const LockRow& row, item::Item* item) {
  SetInt("last_updated", row.last_updated, item);
  item->Set("block_type", std::string(ToString(row.lock.kind)));
  SetText("reason", row.lock.reason, item);
  if (!row.lock.until) return;
  SetInt("block_duration", row.length, item);
  SetInt("ttl", *row.lock.until, item);
}

void EncodeInto(const StateRow& row, item::Item* item) {
  SetInt("last_updated", row.last_updated, item);
  item->Set("intervention_state", row.value);
  item->Set("block_type", row.until ? "STANDARD" : "PERMANENT");
  SetText("reason", row.reason, item);
  if (row.until) SetInt("ttl", *row.until, item);
}

void EncodeInto(const DeviceRow& row, item::Item* item) {
  SetInt("ttl", row.until, item);
  SetInt("failures_in_a_row", static_cast<int64_t>(row.failures_in_a_row), item);
}

std::optional<EpochSeconds> EndOf(const CountRow& row) { return row.until; }
std::optional<EpochSeconds> EndOf(const LockRow& row) { return row.lock.until; }
std::optional<EpochSeconds> EndOf(const StateRow& row) { return row.until; }
std::optional<EpochSeconds> EndOf(const DeviceRow& row) { return row.until; }

// Of names that were checked when they came in.
std::string KeyOf(const Name& name) { return SortKeyOf(name).value(); }

}  // namespace

bool CountRow::Counts(std::string_view id) const {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::string StateKey(AccountState state) {
  return fmt::format("ACCOUNT_INTERVENTION#STATE#{}", ToString(state));
}

// ---- Reading ----

Account Account::Decode(const Subject& subject, const std::vector<item::Item>& rows,
                        EpochSeconds clock_now, std::vector<std::string>* skipped) {
  Account account(subject, clock_now);
  for (const item::Item& row : rows) {
    const std::string sort_key = TextIn(row, kSortAttribute);
    if (sort_key == kHeadKey) {
      account.DecodeHead(row);
    } else if (!account.DecodeRow(sort_key, row)) {
      skipped->push_back(sort_key);
    }
  }
  return account;
}

void Account::DecodeHead(const item::Item& row) {
  version_ = TextIn(row, "version");
  now_ = std::max(now_, IntIn(row, "seen_at").value_or(0));
  failures_in_a_row_ = static_cast<uint64_t>(IntIn(row, "failures_in_a_row").value_or(0));
  for (const item::Value& one : ListIn(row, "settled")) {
    const auto* map = one.As<item::Map>();
    if (map != nullptr) {
      settled_.push_back({.id = TextIn(*map, "id"), .right = IntIn(*map, "right") == 1});
    }
  }
}

bool Account::DecodeRow(const std::string& sort_key, const item::Item& row) {
  if (sort_key.starts_with(kDevicePrefix)) {
    rows_.emplace(sort_key, DeviceRow{.lane = sort_key.substr(kDevicePrefix.size()),
                                      .until = IntIn(row, "ttl").value_or(0),
                                      .failures_in_a_row = static_cast<uint64_t>(
                                          IntIn(row, "failures_in_a_row").value_or(0))});
    return true;
  }
  const auto name = ParseSortKey(sort_key);
  if (!name) return false;
  if (name->count == kStateCount) {
    rows_.emplace(sort_key, StateRow{.sort_key = sort_key,
                                     .value = TextIn(row, "intervention_state"),
                                     .reason = TextIn(row, "reason"),
                                     .until = IntIn(row, "ttl"),
                                     .last_updated = IntIn(row, "last_updated").value_or(0)});
    return true;
  }
  if (name->count == kLockCount) {
    rows_.emplace(sort_key, *DecodeLock(*name, row));
    return true;
  }
  auto count = DecodeCount(*name, row);
  if (count) rows_.emplace(sort_key, *std::move(count));
  return count.has_value();
}

bool Account::IsLive(const Row& row) const {
  const auto end = std::visit([](const auto& kind) { return EndOf(kind); }, row);
  return !end || tidemark::IsLive(*end, now_);
}

template <typename T>
const T* Account::Find(const std::string& sort_key) const {
  const auto found = rows_.find(sort_key);
  if (found == rows_.end() || !IsLive(found->second)) return nullptr;
  return std::get_if<T>(&found->second);
}

const CountRow* Account::FindCount(const Name& name) const { return Find<CountRow>(KeyOf(name)); }

std::vector<const CountRow*> Account::Counts() const {
  std::vector<const CountRow*> counts;
  for (const auto& [sort_key, row] : rows_) {
    if (const auto* count = Find<CountRow>(sort_key)) counts.push_back(count);
  }
  return counts;
}

std::vector<const CountRow*> Account::MethodsOf(const Name& name) const {
  Name all = name;
  all.method.clear();
  const std::string prefix = MethodsPrefix(all);
  std::vector<const CountRow*> counts;
  for (const CountRow* count : Counts()) {
    if (count->name == all || KeyOf(count->name).starts_with(prefix)) counts.push_back(count);
  }
  return counts;
}

const Lock* Account::FindLock(const Name& name) const {
  Name lock = name;
  lock.count = kLockCount;
  const auto* row = Find<LockRow>(KeyOf(lock));
  return row ? &row->lock : nullptr;
}

std::vector<Lock> Account::Locks() const {
  std::vector<Lock> locks;
  for (const auto& [sort_key, row] : rows_) {
    if (const auto* lock = Find<LockRow>(sort_key)) locks.push_back(lock->lock);
  }
  return locks;
}

bool Account::HasState(AccountState state) const { return FindState(StateKey(state)) != nullptr; }

const StateRow* Account::FindState(const std::string& sort_key) const {
  return Find<StateRow>(sort_key);
}

bool Account::KnowsDevice(const std::string& lane) const {
  return Find<DeviceRow>(std::string(kDevicePrefix) + lane) != nullptr;
}

std::optional<Settled> Account::FindSettled(std::string_view id) const {
  const auto found = std::find_if(settled_.begin(), settled_.end(),
                                  [&](const Settled& one) { return one.id == id; });
  return found == settled_.end() ? std::nullopt : std::optional(*found);
}

uint64_t Account::FailuresInARow(const std::string& lane) const {
  if (lane.empty()) return failures_in_a_row_;
  const auto* device = Find<DeviceRow>(std::string(kDevicePrefix) + lane);
  return device ? device->failures_in_a_row : 0;
}

// ---- Changing ----

void Account::Put(const std::string& sort_key, Row row) {
  rows_.insert_or_assign(sort_key, std::move(row));
  touched_.insert(sort_key);
}

void Account::Remove(const std::string& sort_key) {
  if (rows_.erase(sort_key) > 0) touched_.insert(sort_key);
}

void Account::Set(CountRow row) {
  row.last_updated = now_;
  if (row.ids.size() > kMaxIds) row.ids.erase(row.ids.begin(), row.ids.end() - kMaxIds);
  const std::string sort_key = KeyOf(row.name);
  Put(sort_key, std::move(row));
}

void Account::Set(LockRow row) {
  row.last_updated = now_;
  row.lock.name.count = kLockCount;
  const std::string sort_key = KeyOf(row.lock.name);
  Put(sort_key, std::move(row));
}

void Account::Set(StateRow row) {
  row.last_updated = now_;
  const std::string sort_key = row.sort_key;
  Put(sort_key, std::move(row));
}

void Account::Set(DeviceRow row) {
  const std::string sort_key = std::string(kDevicePrefix) + row.lane;
  Put(sort_key, std::move(row));
}

void Account::SetFailuresInARow(const std::string& lane, uint64_t failures) {
  if (FailuresInARow(lane) == failures) return;
  if (lane.empty()) {
    failures_in_a_row_ = failures;
    head_changed_ = true;
    return;
  }
  const auto* device = Find<DeviceRow>(std::string(kDevicePrefix) + lane);
  if (device == nullptr) return;
  DeviceRow changed = *device;
  changed.failures_in_a_row = failures;
  Set(std::move(changed));
}

void Account::Remember(Settled settled) {
  settled_.push_back(std::move(settled));
  if (settled_.size() > kMaxSettled) settled_.erase(settled_.begin());
  head_changed_ = true;
}

void Account::RemoveCount(const Name& name) { Remove(KeyOf(name)); }

void Account::RemoveLock(const Name& name) {
  Name lock = name;
  lock.count = kLockCount;
  Remove(KeyOf(lock));
}

void Account::RemoveState(const std::string& sort_key) { Remove(sort_key); }

// ---- Writing ----

item::Item Account::EncodeHead(const std::string& version) const {
  item::Item head{{std::string(kPartitionAttribute), subject_.text()},
                  {std::string(kSortAttribute), std::string(kHeadKey)},
                  {"version", version},
                  {"seen_at", Number::FromInt(now_)}};
  if (failures_in_a_row_ > 0) {
    SetInt("failures_in_a_row", static_cast<int64_t>(failures_in_a_row_), &head);
  }
  item::List settled;
  for (const Settled& one : settled_) {
    settled.emplace_back(item::Map{{"id", one.id}, {"right", Number::FromInt(one.right ? 1 : 0)}});
  }
  if (!settled.empty()) head.Set("settled", std::move(settled));
  // It may go once nothing is left that it could be about.
  std::optional<EpochSeconds> end = now_;
  for (const auto& [sort_key, row] : rows_) {
    const auto of_row = std::visit([](const auto& kind) { return EndOf(kind); }, row);
    end = end && of_row ? std::optional(std::max(*end, *of_row)) : std::nullopt;
  }
  if (end && failures_in_a_row_ == 0) SetInt("ttl", *end + kHeadGraceSeconds, &head);
  return head;
}

item::Item Account::Encode(const std::string& sort_key, const Row& row) const {
  item::Item item{{std::string(kPartitionAttribute), subject_.text()},
                  {std::string(kSortAttribute), sort_key}};
  std::visit([&](const auto& kind) { EncodeInto(kind, &item); }, row);
  return item;
}

tables::PutRequest Account::PutHead(const std::string& table, const std::string& version) const {
  tables::PutRequest put{.table = table, .item = EncodeHead(version)};
  if (!version_) {
    put.condition = "attribute_not_exists(subject_id)";
    return put;
  }
  put.condition = "#version = :version";
  put.names = {{"#version", "version"}};
  put.values = {{":version", *version_}};
  return put;
}

std::vector<tables::TransactAction> Account::Writes(const std::string& table,
                                                    const std::string& version) const {
  std::vector<tables::TransactAction> actions;
  actions.emplace_back(PutHead(table, version));
  for (const std::string& sort_key : touched_) {
    const auto row = rows_.find(sort_key);
    if (row != rows_.end()) {
      actions.emplace_back(
          tables::PutRequest{.table = table, .item = Encode(sort_key, row->second)});
    } else {
      actions.emplace_back(
          tables::DeleteRequest{.table = table,
                                .key = {{std::string(kPartitionAttribute), subject_.text()},
                                        {std::string(kSortAttribute), sort_key}}});
    }
  }
  return actions;
}

}  // namespace tidemark::attempts
