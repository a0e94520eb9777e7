#include <algorithm>
#include <utility>

#include "apps/attempts/account.h"

namespace tidemark::attempts {

namespace {

// A transaction has room for a hundred rows, and no person has so many.
constexpr size_t kMaxTaken = 90;

// Counts, locks and states of a device. A lane is made from the id, so they fit no other id.
bool IsOfDevice(const std::string& sort_key) {
  return sort_key.starts_with(kDevicePrefix) ||
         sort_key.substr(0, sort_key.find('#')).find('@') != std::string::npos;
}

EpochSeconds UpdatedAt(const CountRow& row) { return row.last_updated; }
EpochSeconds UpdatedAt(const LockRow& row) { return row.last_updated; }
EpochSeconds UpdatedAt(const StateRow& row) { return row.last_updated; }
EpochSeconds UpdatedAt(const DeviceRow& row) { return row.until; }

// Whether the first end is later; no end is the latest.
bool EndsLater(std::optional<EpochSeconds> end, std::optional<EpochSeconds> other) {
  return other && (!end || *end > *other);
}

// The counts of two ids are not added up. A row is taken over again if another failure was counted
// in it. If counts were added up, all its earlier failures would then count twice.
CountRow Stricter(const CountRow& own, const CountRow& other) {
  CountRow row = other.count > own.count ? other : own;
  row.until = std::max(own.until, other.until);
  return row;
}
LockRow Stricter(const LockRow& own, const LockRow& other) {
  return EndsLater(other.lock.until, own.lock.until) ? other : own;
}
StateRow Stricter(const StateRow& own, const StateRow& other) {
  return EndsLater(other.until, own.until) ? other : own;
}
DeviceRow Stricter(const DeviceRow& own, const DeviceRow&) { return own; }

// Adds the entries that are not older than `since` and not known yet.
template <typename Entry>
void TakeNew(const std::vector<Entry>& from, EpochSeconds since, std::vector<Entry>* entries) {
  for (const Entry& one : from) {
    const bool is_known = std::any_of(entries->begin(), entries->end(), [&](const Entry& known) {
      return known.id == one.id && IsSameCount(known.name, one.name);
    });
    if (one.at >= since && !is_known) entries->push_back(one);
  }
}

}  // namespace

bool Account::TakeOver(const Account& from) {
  if (from.IsEmpty()) return false;
  auto known = taken_over_.find(from.subject_.text());
  const bool is_known = known != taken_over_.end();
  // Every write changes the head. So without a head nothing was written there since.
  if (is_known && (!from.version_ || known->second.version == *from.version_)) return false;
  if (!is_known) known = taken_over_.find(std::string(kAnyId));
  const EpochSeconds since = known == taken_over_.end() ? 0 : known->second.at;
  // An earlier program took the rows over and did not store their version.
  if (!is_known && from.seen_at_ < since) return false;

  for (const auto& [sort_key, row] : from.rows_) {
    const auto updated_at = std::visit([](const auto& kind) { return UpdatedAt(kind); }, row);
    if (IsOfDevice(sort_key) || !from.IsLive(row) || updated_at < since) continue;
    if (touched_.size() == kMaxTaken) break;
    const auto own = rows_.find(sort_key);
    if (own == rows_.end() || !IsLive(own->second) || own->second.index() != row.index()) {
      Put(sort_key, row);
      continue;
    }
    const Row& theirs = row;
    const auto stricter = [&](const auto& mine) -> Row {
      return Stricter(mine, std::get<std::decay_t<decltype(mine)>>(theirs));
    };
    Put(sort_key, std::visit(stricter, own->second));
  }
  for (const auto& [classifier, failures] : from.failures_in_a_row_) {
    uint64_t& own = failures_in_a_row_[classifier];
    own = std::max(own, failures);
  }
  TakeNew(from.open_, since, &open_);
  TakeNew(from.settled_, since, &settled_);
  taken_over_[from.subject_.text()] = {.version = from.version_.value_or(""), .at = now_};
  head_changed_ = true;
  return true;
}

}  // namespace tidemark::attempts
