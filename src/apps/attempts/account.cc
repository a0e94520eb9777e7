#include "apps/attempts/account.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/expiry.h"
#include "item/attributes.h"
#include "item/number.h"

namespace tidemark::attempts {

namespace {

using item::Number;
using item::TextIn;

constexpr std::string_view kStateCount = "STATE";
constexpr std::string_view kSucceededAt = "succeeded_at";
constexpr std::string_view kSetBy = "set_by";
constexpr std::string_view kByRule = "rule";
constexpr std::string_view kByPerson = "person";
constexpr size_t kMaxIds = 128;
// So long, and so many at most, it is remembered how attempts ended: a caller whose reply was lost
// asks again within this time.
constexpr EpochSeconds kSettledSeconds = 900;
constexpr size_t kMaxSettled = 128;
constexpr size_t kMaxDevices = 32;
constexpr EpochSeconds kDaySeconds = 86'400;
// How long a head row with failures in a row stays after the last change. More than a year, which
// is the span for which the odds of guessing are computed: waiting for the end of the row gains a
// guesser nothing.
constexpr EpochSeconds kHeadLifeSeconds = 400 * kDaySeconds;
// How long any other head stays after all that it guards: clocks may differ by a day. The deadline
// of an open attempt is at most an hour away.
constexpr EpochSeconds kShortHeadLifeSeconds = 2 * kDaySeconds;
// Stored numbers are clamped to this: another program may have written any number there, and sums
// of clamped numbers cannot overflow.
constexpr int64_t kMostOfAnything = 1'000'000'000'000;

std::optional<int64_t> BoundedIntIn(const item::Map& row, std::string_view name) {
  const auto whole = item::IntIn(row, name);
  if (!whole) return std::nullopt;
  return std::clamp(*whole, -kMostOfAnything, kMostOfAnything);
}

// 0 when the attribute is missing or negative.
uint64_t CountIn(const item::Map& row, std::string_view name) {
  return static_cast<uint64_t>(std::max<int64_t>(0, BoundedIntIn(row, name).value_or(0)));
}

const item::List& ListIn(const item::Map& row, std::string_view name) {
  static const item::List none;
  const item::Value* value = row.Find(name);
  const auto* list = value ? value->As<item::List>() : nullptr;
  return list ? *list : none;
}

void SetText(std::string_view name, const std::string& text, item::Map* row) {
  if (!text.empty()) row->Set(name, text);
}
void SetInt(std::string_view name, int64_t value, item::Map* row) {
  row->Set(name, Number::FromInt(value));
}

// For names that were checked when they came in: SortKeyOf cannot fail for them.
std::string KeyOf(const Name& name) { return SortKeyOf(name).value(); }

Name LockNameOf(Name name) {
  name.count = kLockCount;
  return name;
}

std::string DeviceKey(const std::string& lane) { return std::string(kDevicePrefix) + lane; }

// ---- Parts of rows ----

FailuresInARow DecodeFailures(const item::Map& row) {
  FailuresInARow failures;
  const item::Value* value = row.Find("failures_in_a_row");
  const auto* map = value ? value->As<item::Map>() : nullptr;
  if (map == nullptr) return failures;
  for (const auto& [classifier, count] : *map) failures[classifier] = CountIn(*map, classifier);
  return failures;
}

void EncodeFailures(const FailuresInARow& failures, item::Item* item) {
  if (failures.empty()) return;
  item::Map map;
  for (const auto& [classifier, count] : failures) {
    SetInt(classifier, static_cast<int64_t>(count), &map);
  }
  item->Set("failures_in_a_row", std::move(map));
}

std::optional<OpenAttempt> DecodeOpen(const item::Map& map) {
  auto name = ParseSortKey(TextIn(map, "sk"));
  if (!name) return std::nullopt;
  return OpenAttempt{.id = TextIn(map, "id"),
                     .at = BoundedIntIn(map, "at").value_or(0),
                     .name = *std::move(name),
                     .notification_type = TextIn(map, "notification_type"),
                     .method_type = TextIn(map, "mfa_method_type"),
                     .source = TextIn(map, "source")};
}

item::Map EncodeOpen(const OpenAttempt& open) {
  item::Map map{{"id", open.id}, {"at", Number::FromInt(open.at)}, {"sk", KeyOf(open.name)}};
  SetText("notification_type", open.notification_type, &map);
  SetText("mfa_method_type", open.method_type, &map);
  SetText("source", open.source, &map);
  return map;
}

// An entry without a time is from before times were stored. It counts from now on.
std::optional<Settled> DecodeSettled(const item::Map& map, EpochSeconds now) {
  auto name = ParseSortKey(TextIn(map, "sk"));
  if (!name) return std::nullopt;
  const std::string outcome = TextIn(map, "outcome");
  return Settled{.id = TextIn(map, "id"),
                 .name = *std::move(name),
                 .right = outcome == "right",
                 .reached = outcome == "reached",
                 .source = TextIn(map, "source"),
                 .at = BoundedIntIn(map, "at").value_or(now)};
}

item::Map EncodeSettled(const Settled& settled) {
  const char* outcome = settled.right ? "right" : settled.reached ? "reached" : "wrong";
  item::Map map{{"id", settled.id},
                {"sk", KeyOf(settled.name)},
                {"outcome", outcome},
                {"at", Number::FromInt(settled.at)}};
  SetText("source", settled.source, &map);
  return map;
}

// Earlier programs wrote `true`, for any id. They took over nothing after that, so everything of
// another id that is older than the last decision counts as known.
std::map<std::string, TakenOver> DecodeTakenOver(const item::Item& head, EpochSeconds seen_at) {
  std::map<std::string, TakenOver> all;
  const item::Value* value = head.Find(kTakenOver);
  if (value == nullptr) return all;
  const auto* map = value->As<item::Map>();
  if (map == nullptr) all[std::string(kAnyId)] = {.at = seen_at};
  if (map == nullptr) return all;
  for (const auto& [from, one] : *map) {
    const auto* entry = one.As<item::Map>();
    if (entry == nullptr) continue;
    all[from] = {.version = TextIn(*entry, "version"),
                 .at = BoundedIntIn(*entry, "at").value_or(0)};
  }
  return all;
}

item::Map EncodeTakenOver(const std::map<std::string, TakenOver>& all) {
  item::Map map;
  for (const auto& [from, one] : all) {
    map.Set(from, item::Map{{"version", one.version}, {"at", Number::FromInt(one.at)}});
  }
  return map;
}

// ---- Rows ----

std::optional<CountRow> DecodeCount(const Name& name, const item::Item& row) {
  const auto count = BoundedIntIn(row, "count");
  const auto until = BoundedIntIn(row, "ttl");
  if (!count || *count < 0 || !until) return std::nullopt;
  CountRow decoded{.name = name,
                   .count = static_cast<uint64_t>(*count),
                   .until = *until,
                   .last_updated = BoundedIntIn(row, "last_updated").value_or(0),
                   .notification_type = TextIn(row, "notification_type"),
                   .method_type = TextIn(row, "mfa_method_type")};
  for (const item::Value& one : ListIn(row, "ids")) {
    if (const auto* id = one.As<std::string>()) decoded.ids.push_back(*id);
  }
  return decoded;
}

LockRow DecodeLock(const Name& name, const item::Item& row) {
  LockRow decoded{
      .lock = {.name = name, .reason = TextIn(row, "reason"), .until = BoundedIntIn(row, "ttl")},
      .length = BoundedIntIn(row, "block_duration").value_or(0),
      .last_updated = BoundedIntIn(row, "last_updated").value_or(0),
      .notification_type = TextIn(row, "notification_type"),
      .method_type = TextIn(row, "mfa_method_type")};
  decoded.lock.since = decoded.last_updated;
  const std::string set_by = TextIn(row, kSetBy);
  if (set_by == kByRule) decoded.set_by = SetBy::kRule;
  if (set_by == kByPerson) decoded.set_by = SetBy::kPerson;
  const std::string kind = TextIn(row, "block_type");
  // A lock of an unknown kind still holds. If it has no end, it is permanent.
  if (kind == ToString(LockKind::kReduced)) decoded.lock.kind = LockKind::kReduced;
  if (kind == ToString(LockKind::kPermanent)) {
    decoded.lock.kind = LockKind::kPermanent;
    decoded.lock.until = std::nullopt;
  }
  return decoded;
}

StateRow DecodeState(const std::string& sort_key, const item::Item& row) {
  StateRow decoded{.sort_key = sort_key,
                   .value = TextIn(row, "intervention_state"),
                   .reason = TextIn(row, "reason"),
                   .last_updated = BoundedIntIn(row, "last_updated").value_or(0)};
  // A row that says PERMANENT has no end, even if its writer also put a ttl there.
  if (TextIn(row, "block_type") != ToString(LockKind::kPermanent))
    decoded.until = BoundedIntIn(row, "ttl");
  return decoded;
}

DeviceRow DecodeDevice(std::string lane, const item::Item& row) {
  DeviceRow decoded{.lane = std::move(lane),
                    .until = BoundedIntIn(row, "ttl").value_or(0),
                    .failures_in_a_row = DecodeFailures(row)};
  for (const item::Value& one : ListIn(row, kSucceededAt)) {
    if (const auto* classifier = one.As<std::string>()) decoded.succeeded_at.insert(*classifier);
  }
  return decoded;
}

void EncodeInto(const CountRow& row, item::Item* item) {
  SetInt("count", static_cast<int64_t>(row.count), item);
  SetInt("ttl", row.until, item);
  SetInt("last_updated", row.last_updated, item);
  SetText("notification_type", row.notification_type, item);
  SetText("mfa_method_type", row.method_type, item);
  item::List ids(row.ids.begin(), row.ids.end());
  if (!ids.empty()) item->Set("ids", std::move(ids));
}

void EncodeInto(const LockRow& row, item::Item* item) {
  SetInt("last_updated", row.last_updated, item);
  item->Set("block_type", std::string(ToString(row.lock.kind)));
  SetText("reason", row.lock.reason, item);
  if (row.set_by == SetBy::kRule) item->Set(kSetBy, std::string(kByRule));
  if (row.set_by == SetBy::kPerson) item->Set(kSetBy, std::string(kByPerson));
  SetText("notification_type", row.notification_type, item);
  SetText("mfa_method_type", row.method_type, item);
  if (!row.lock.until) return;
  SetInt("block_duration", row.length, item);
  SetInt("ttl", *row.lock.until, item);
}

void EncodeInto(const StateRow& row, item::Item* item) {
  SetInt("last_updated", row.last_updated, item);
  item->Set("intervention_state", row.value);
  SetText("reason", row.reason, item);
  item->Set("block_type",
            std::string(ToString(row.until ? LockKind::kStandard : LockKind::kPermanent)));
  if (!row.until) return;
  SetInt("block_duration", *row.until - row.last_updated, item);
  SetInt("ttl", *row.until, item);
}

void EncodeInto(const DeviceRow& row, item::Item* item) {
  SetInt("ttl", row.until, item);
  item->Set(kSucceededAt, item::List(row.succeeded_at.begin(), row.succeeded_at.end()));
  EncodeFailures(row.failures_in_a_row, item);
}

std::optional<EpochSeconds> EndOf(const CountRow& row) { return row.until; }
std::optional<EpochSeconds> EndOf(const LockRow& row) { return row.lock.until; }
std::optional<EpochSeconds> EndOf(const StateRow& row) { return row.until; }
std::optional<EpochSeconds> EndOf(const DeviceRow& row) { return row.until; }

}  // namespace

std::optional<uint64_t> CountRow::CountAt(std::string_view id) const {
  const auto found = std::find(ids.rbegin(), ids.rend(), id);
  if (found == ids.rend()) return std::nullopt;
  // One id for each failure, the newest last: so many were counted after this one.
  const auto since = static_cast<uint64_t>(found - ids.rbegin());
  return count > since ? count - since : 0;
}

const std::string& StateKey(AccountState state) {
  static const auto keys = [] {
    std::map<AccountState, std::string> made;
    for (const AccountState one : kAccountStates) {
      made[one] = fmt::format("ACCOUNT_INTERVENTION#STATE#{}", ToString(one));
    }
    return made;
  }();
  return keys.at(state);
}

EpochSeconds EndOfHead(EpochSeconds now, std::optional<EpochSeconds> guarded_until) {
  EpochSeconds end = now + kHeadLifeSeconds;
  if (guarded_until) {
    end = std::clamp(*guarded_until, now, std::max(now, kMostOfAnything)) + kShortHeadLifeSeconds;
  }
  return (end + kDaySeconds - 1) / kDaySeconds * kDaySeconds;
}

// ---- Reading ----

Account Account::Decode(const Subject& subject, const std::vector<item::Item>& rows,
                        EpochSeconds clock_now, std::vector<std::string>* skipped) {
  Account account(subject, clock_now);
  for (const item::Item& row : rows) {
    const std::string sort_key = TextIn(row, kSortAttribute);
    if (sort_key == kHeadKey) {
      account.DecodeHead(row);
    } else if (sort_key != kGenerationsKey && !account.DecodeRow(sort_key, row)) {
      skipped->push_back(sort_key);
    }
  }
  return account;
}

void Account::DecodeHead(const item::Item& row) {
  if (std::string version = TextIn(row, "version"); !version.empty()) {
    version_ = std::move(version);
  }
  // Another process may have decided with a clock that is ahead of ours. By our clock alone its
  // lock could be over already, or an attempt could end before it began.
  seen_at_ = BoundedIntIn(row, "seen_at").value_or(0);
  if (seen_at_ - now_ > kMaxLeadSeconds) excessive_lead_ = seen_at_ - now_;
  if (excessive_lead_ == 0) now_ = std::max(now_, seen_at_);
  // An expired head counts as absent, but a write still has to name the version that is stored.
  const auto end = BoundedIntIn(row, "ttl");
  loaded_end_ = end.value_or(0);
  taken_over_ = DecodeTakenOver(row, seen_at_);
  if (end && !tidemark::IsLive(*end, now_)) return;
  failures_in_a_row_ = DecodeFailures(row);
  for (const item::Value& one : ListIn(row, "open")) {
    const auto* map = one.As<item::Map>();
    if (auto open = map ? DecodeOpen(*map) : std::nullopt) open_.push_back(*std::move(open));
  }
  for (const item::Value& one : ListIn(row, "settled")) {
    const auto* map = one.As<item::Map>();
    if (auto settled = map ? DecodeSettled(*map, now_) : std::nullopt) {
      settled_.push_back(*std::move(settled));
    }
  }
}

bool Account::DecodeRow(const std::string& sort_key, const item::Item& row) {
  if (sort_key.starts_with(kDevicePrefix)) {
    rows_.emplace(sort_key, DecodeDevice(sort_key.substr(kDevicePrefix.size()), row));
    return true;
  }
  const auto name = ParseSortKey(sort_key);
  if (!name) return false;
  if (name->count == kStateCount) {
    rows_.emplace(sort_key, DecodeState(sort_key, row));
    return true;
  }
  if (name->count == kLockCount) {
    rows_.emplace(sort_key, DecodeLock(*name, row));
    return true;
  }
  auto count = DecodeCount(*name, row);
  if (count) rows_.emplace(sort_key, *std::move(count));
  return count.has_value();
}

bool Account::IsEmpty() const {
  const bool has_rows = std::any_of(rows_.begin(), rows_.end(),
                                    [&](const auto& entry) { return IsLive(entry.second); });
  return !version_ && !has_rows;
}

bool Account::IsLive(const Row& row) const {
  const auto end = std::visit([](const auto& kind) { return EndOf(kind); }, row);
  return !end || tidemark::IsLive(*end, now_);
}

// All reading goes through Find and FindAll, so no rule ever sees an expired row.
template <typename T>
const T* Account::Find(const std::string& sort_key) const {
  const auto found = rows_.find(sort_key);
  if (found == rows_.end() || !IsLive(found->second)) return nullptr;
  return std::get_if<T>(&found->second);
}

template <typename T>
std::vector<const T*> Account::FindAll() const {
  std::vector<const T*> all;
  for (const auto& [sort_key, row] : rows_) {
    const auto* one = std::get_if<T>(&row);
    if (one != nullptr && IsLive(row)) all.push_back(one);
  }
  return all;
}

const CountRow* Account::FindCount(const Name& name) const { return Find<CountRow>(KeyOf(name)); }

std::vector<const CountRow*> Account::Counts() const { return FindAll<CountRow>(); }

std::vector<const CountRow*> Account::MethodsOf(const Name& name) const {
  Name all = name;
  all.method.clear();
  std::vector<const CountRow*> counts;
  if (const CountRow* own = FindCount(all)) counts.push_back(own);
  const std::string prefix = MethodsPrefix(all);
  for (auto row = rows_.lower_bound(prefix); row != rows_.end(); ++row) {
    if (!row->first.starts_with(prefix)) break;
    if (const auto* count = Find<CountRow>(row->first)) counts.push_back(count);
  }
  return counts;
}

const OpenAttempt* Account::FindOpen(std::string_view id, const Name& name) const {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const OpenAttempt& one) {
    return one.id == id && IsSameCount(one.name, name);
  });
  return found == open_.end() ? nullptr : &*found;
}

const Settled* Account::FindSettled(std::string_view id, const Name& name) const {
  const auto found = std::find_if(settled_.begin(), settled_.end(), [&](const Settled& one) {
    return one.id == id && IsSameCount(one.name, name);
  });
  return found == settled_.end() ? nullptr : &*found;
}

const LockRow* Account::FindLockRow(const Name& name) const {
  return Find<LockRow>(KeyOf(LockNameOf(name)));
}

const Lock* Account::FindLock(const Name& name) const {
  const LockRow* row = FindLockRow(name);
  return row ? &row->lock : nullptr;
}

std::vector<Lock> Account::Locks() const {
  std::vector<Lock> locks;
  for (const LockRow* row : FindAll<LockRow>()) locks.push_back(row->lock);
  return locks;
}

bool Account::HasState(AccountState state) const { return FindState(StateKey(state)) != nullptr; }

const StateRow* Account::FindState(const std::string& sort_key) const {
  return Find<StateRow>(sort_key);
}

const DeviceRow* Account::FindDevice(const std::string& lane) const {
  return Find<DeviceRow>(DeviceKey(lane));
}

bool Account::KnowsDevice(const std::string& lane, const std::string& classifier) const {
  const DeviceRow* device = FindDevice(lane);
  return device != nullptr && device->succeeded_at.contains(classifier);
}

std::set<std::string> Account::ClassifiersAt(uint64_t failures) const {
  std::set<std::string> classifiers;
  const auto add = [&](const FailuresInARow& of_lane) {
    for (const auto& [classifier, count] : of_lane) {
      if (count >= failures) classifiers.insert(classifier);
    }
  };
  add(failures_in_a_row_);
  for (const DeviceRow* device : FindAll<DeviceRow>()) add(device->failures_in_a_row);
  return classifiers;
}

uint64_t Account::FailuresOf(const Name& name) const {
  const DeviceRow* device = name.lane.empty() ? nullptr : FindDevice(name.lane);
  const FailuresInARow& failures = device ? device->failures_in_a_row : failures_in_a_row_;
  const auto found = failures.find(name.classifier);
  return found == failures.end() ? 0 : found->second;
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
  row.last_updated = row.lock.until ? *row.lock.until - row.length : now_;
  row.lock.since = row.last_updated;
  row.lock.name.count = kLockCount;
  const std::string sort_key = KeyOf(row.lock.name);
  Put(sort_key, std::move(row));
}

void Account::Set(StateRow row) {
  row.last_updated = now_;
  const std::string sort_key = row.sort_key;
  Put(sort_key, std::move(row));
}

void Account::Open(OpenAttempt attempt) {
  open_.push_back(std::move(attempt));
  head_changed_ = true;
}

void Account::Withdraw(std::string_view id, const Name& name) {
  const auto removed = std::erase_if(
      open_, [&](const OpenAttempt& one) { return one.id == id && IsSameCount(one.name, name); });
  head_changed_ |= removed > 0;
}

void Account::Close(const Settled& settled) {
  Withdraw(settled.id, settled.name);
  Remember(settled);
}

void Account::Remember(Settled settled) {
  // A caller settles by id and count alone: FindSettled ignores method and lane.
  settled.name.method.clear();
  settled.name.lane.clear();
  settled.at = now_;
  std::erase_if(settled_, [&](const Settled& one) { return one.at + kSettledSeconds <= now_; });
  settled_.push_back(std::move(settled));
  if (settled_.size() > kMaxSettled) settled_.erase(settled_.begin());
  head_changed_ = true;
}

void Account::RememberDevice(const std::string& lane, const std::string& classifier,
                             EpochSeconds until) {
  const DeviceRow* known = FindDevice(lane);
  // Written again once a day at most: a success of a known device is a write of the head alone.
  const bool is_recent = known != nullptr && known->until + kDaySeconds > until;
  if (is_recent && known->succeeded_at.contains(classifier)) return;
  DeviceRow device = known ? *known : DeviceRow{.lane = lane};
  device.until = until;
  device.succeeded_at.insert(classifier);
  Put(DeviceKey(lane), std::move(device));
  // Only so many devices are kept. A device that is dropped shares the common budget again.
  const std::vector<const DeviceRow*> devices = FindAll<DeviceRow>();
  if (devices.size() <= kMaxDevices) return;
  const auto first = std::min_element(
      devices.begin(), devices.end(),
      [](const DeviceRow* left, const DeviceRow* right) { return left->until < right->until; });
  Remove(DeviceKey(std::string((*first)->lane)));
}

void Account::SetFailures(const Name& name, uint64_t failures) {
  if (FailuresOf(name) == failures) return;
  const auto set = [&](FailuresInARow* of_lane) {
    if (failures == 0) {
      of_lane->erase(name.classifier);
    } else {
      (*of_lane)[name.classifier] = failures;
    }
  };
  const DeviceRow* device = name.lane.empty() ? nullptr : FindDevice(name.lane);
  if (device == nullptr) {
    set(&failures_in_a_row_);
    head_changed_ = true;
    return;
  }
  DeviceRow changed = *device;
  set(&changed.failures_in_a_row);
  Put(DeviceKey(name.lane), std::move(changed));
}

bool Account::ForgetFailures() {
  bool forgot = !failures_in_a_row_.empty();
  failures_in_a_row_.clear();
  head_changed_ |= forgot;
  std::vector<DeviceRow> failed;
  for (const DeviceRow* device : FindAll<DeviceRow>()) {
    if (!device->failures_in_a_row.empty()) failed.push_back(*device);
  }
  for (DeviceRow& device : failed) {
    device.failures_in_a_row.clear();
    Put(DeviceKey(device.lane), device);
    forgot = true;
  }
  return forgot;
}

bool Account::ForgetFailuresOf(const std::string& classifier) {
  bool forgot = failures_in_a_row_.erase(classifier) > 0;
  head_changed_ |= forgot;
  std::vector<DeviceRow> failed;
  for (const DeviceRow* device : FindAll<DeviceRow>()) {
    if (device->failures_in_a_row.contains(classifier)) failed.push_back(*device);
  }
  for (DeviceRow& device : failed) {
    device.failures_in_a_row.erase(classifier);
    Put(DeviceKey(device.lane), device);
    forgot = true;
  }
  return forgot;
}

void Account::RemoveCount(const Name& name) { Remove(KeyOf(name)); }

void Account::RemoveLock(const Name& name) { Remove(KeyOf(LockNameOf(name))); }

void Account::RemoveState(const std::string& sort_key) { Remove(sort_key); }

// ---- Writing ----

std::optional<EpochSeconds> Account::GuardedUntil() const {
  if (!failures_in_a_row_.empty() || !taken_over_.empty()) return std::nullopt;
  EpochSeconds last = now_;
  for (const OpenAttempt& one : open_) last = std::max(last, one.at);
  for (const auto& [sort_key, row] : rows_) {
    const auto end = std::visit([](const auto& kind) { return EndOf(kind); }, row);
    if (!end) return std::nullopt;
    last = std::max(last, *end);
  }
  return last;
}

item::Item Account::EncodeHead(const std::string& version) const {
  item::Item head{{std::string(kPartitionAttribute), subject_.text()},
                  {std::string(kSortAttribute), std::string(kHeadKey)},
                  {"version", version},
                  {"seen_at", Number::FromInt(now_)}};
  EncodeFailures(failures_in_a_row_, &head);
  item::List open;
  for (const OpenAttempt& one : open_) open.emplace_back(EncodeOpen(one));
  if (!open.empty()) head.Set("open", std::move(open));
  item::List settled;
  for (const Settled& one : settled_) settled.emplace_back(EncodeSettled(one));
  if (!settled.empty()) head.Set("settled", std::move(settled));
  if (!taken_over_.empty()) head.Set(kTakenOver, EncodeTakenOver(taken_over_));
  // Never earlier than before: a clock that is far behind must not end the head.
  SetInt("ttl", std::max(loaded_end_, EndOfHead(now_, GuardedUntil())), &head);
  return head;
}

item::Item Account::Encode(const std::string& sort_key, const Row& row) const {
  item::Item item{{std::string(kPartitionAttribute), subject_.text()},
                  {std::string(kSortAttribute), sort_key}};
  std::visit([&](const auto& kind) { EncodeInto(kind, &item); }, row);
  return item;
}

// The head row is part of every change, even when only another row differs. Its new version makes
// the write of another decision that was made from the same rows fail, so that it is made again.
AccountChange Account::ChangeTo(const std::string& version) const {
  AccountChange change{.subject = subject_,
                       .loaded_version = version_,
                       .head = EncodeHead(version),
                       .required = required_};
  for (const std::string& sort_key : touched_) {
    const auto row = rows_.find(sort_key);
    if (row != rows_.end()) {
      change.puts.push_back(Encode(sort_key, row->second));
    } else {
      change.removals.push_back(sort_key);
    }
  }
  return change;
}

}  // namespace tidemark::attempts
