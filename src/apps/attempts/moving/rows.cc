#include "apps/attempts/moving/rows.h"

#include <algorithm>
#include <set>
#include <utility>

#include "apps/attempts/account.h"
#include "base/expiry.h"
#include "item/attributes.h"

namespace tidemark::moving {

namespace {

using item::IntIn;
using item::Item;
using item::Number;
using item::TextIn;

constexpr EpochSeconds kDay = 86'400;
// How long the generation of a removed row without an end is remembered.
constexpr EpochSeconds kRememberPermanent = 400 * kDay;

enum class Kind { kHead, kCount, kLock, kState, kDevice };

Kind KindOf(std::string_view sort_key) {
  if (sort_key == attempts::kHeadKey) return Kind::kHead;
  if (sort_key.starts_with("DEVICE#KNOWN#")) return Kind::kDevice;
  if (sort_key.find("#LOCK#") != std::string_view::npos) return Kind::kLock;
  if (sort_key.find("#STATE#") != std::string_view::npos) return Kind::kState;
  return Kind::kCount;
}

// The ttl of a head row only tells the sweeper when to delete it, so a head has no end here. A row
// that says PERMANENT has none either, even if there is a ttl in it.
std::optional<EpochSeconds> EndOf(Kind kind, const Item& item) {
  if (kind == Kind::kHead || TextIn(item, "block_type") == "PERMANENT") return std::nullopt;
  return IntIn(item, "ttl");
}

// ---- Parts of rows ----

const item::List& ListIn(const Item& item, std::string_view name) {
  static const item::List none;
  const item::Value* value = item.Find(name);
  const auto* list = value ? value->As<item::List>() : nullptr;
  return list ? *list : none;
}

const item::Map& MapIn(const Item& item, std::string_view name) {
  static const item::Map none;
  const item::Value* value = item.Find(name);
  const auto* map = value ? value->As<item::Map>() : nullptr;
  return map ? *map : none;
}

// What identifies an entry of a list: the id of an attempt in a count's `ids`; id and count in the
// head's `open` and `settled`.
std::string EntryKey(const item::Value& entry) {
  if (const auto* id = entry.As<std::string>()) return *id;
  const auto* map = entry.As<item::Map>();
  return map ? TextIn(*map, "id") + "\n" + TextIn(*map, "sk") : std::string();
}

std::set<std::string> EntryKeys(const item::List& list) {
  std::set<std::string> keys;
  for (const item::Value& entry : list) keys.insert(EntryKey(entry));
  return keys;
}

bool HasAll(const item::List& list, const item::List& of) {
  const std::set<std::string> keys = EntryKeys(list);
  return std::all_of(of.begin(), of.end(),
                     [&](const item::Value& entry) { return keys.contains(EntryKey(entry)); });
}

// Entries that only `right` has come first, so that the newest entries of `left` stay last: lists
// are cut at the front when they grow too long.
item::List Union(const item::List& left, const item::List& right) {
  const std::set<std::string> known = EntryKeys(left);
  item::List all;
  for (const item::Value& entry : right) {
    if (!known.contains(EntryKey(entry))) all.push_back(entry);
  }
  all.insert(all.end(), left.begin(), left.end());
  return all;
}

int64_t CountIn(const Item& item) { return std::max<int64_t>(0, IntIn(item, "count").value_or(0)); }

// How many of the count have no id in the list: counted by a program that gives none, or so long
// ago that the id was dropped.
int64_t WithoutId(const Item& item) {
  return std::max<int64_t>(0, CountIn(item) - static_cast<int64_t>(ListIn(item, "ids").size()));
}

bool HasFailures(const Item& item, const Item& of) {
  const item::Map& failures = MapIn(item, "failures_in_a_row");
  const item::Map& wanted = MapIn(of, "failures_in_a_row");
  return std::all_of(wanted.begin(), wanted.end(), [&](const item::Attribute& one) {
    return IntIn(failures, one.name).value_or(0) >= IntIn(wanted, one.name).value_or(0);
  });
}

void JoinFailures(const Item& other, Item* item) {
  item::Map failures = MapIn(*item, "failures_in_a_row");
  for (const auto& [classifier, count] : MapIn(other, "failures_in_a_row")) {
    const auto known = IntIn(failures, classifier).value_or(0);
    const auto more = IntIn(MapIn(other, "failures_in_a_row"), classifier).value_or(0);
    if (more > known) failures.Set(classifier, count);
  }
  if (!failures.empty()) item->Set("failures_in_a_row", std::move(failures));
}

void JoinList(std::string_view name, const Item& other, Item* item) {
  item::List joined = Union(ListIn(*item, name), ListIn(other, name));
  if (!joined.empty()) item->Set(name, std::move(joined));
}

void JoinLater(std::string_view name, const Item& other, Item* item) {
  const auto later = IntIn(other, name);
  if (later && *later > IntIn(*item, name).value_or(0)) item->Set(name, Number::FromInt(*later));
}

// Of two entries for the same id the later one. `true` in place of the entries is from an earlier
// program.
void JoinTakenOver(const Item& other, Item* item) {
  const item::Value* more = other.Find(attempts::kTakenOver);
  if (more == nullptr) return;
  const item::Value* known = item->Find(attempts::kTakenOver);
  const auto* entries = more->As<item::Map>();
  if (known == nullptr || known->As<item::Map>() == nullptr) {
    item->Set(attempts::kTakenOver, *more);
  } else if (entries != nullptr) {
    item::Map joined = *known->As<item::Map>();
    for (const auto& [from, entry] : *entries) {
      const auto at = IntIn(MapIn(*entries, from), "at").value_or(0);
      if (!joined.Contains(from) || at > IntIn(MapIn(joined, from), "at").value_or(0)) {
        joined.Set(from, entry);
      }
    }
    item->Set(attempts::kTakenOver, std::move(joined));
  }
}

bool EndsBefore(Kind kind, const Item& item, const Item& other) {
  const auto end = EndOf(kind, item);
  const auto of_other = EndOf(kind, other);
  return end && (!of_other || *end < *of_other);
}

// ---- Joining ----

// Whether `item` has everything that `other` has, so that joining the two gives `item`.
bool Covers(Kind kind, const Item& item, const Item& other) {
  if (EndsBefore(kind, item, other)) return false;
  switch (kind) {
    case Kind::kHead:
      return HasAll(ListIn(item, "open"), ListIn(other, "open")) && HasFailures(item, other) &&
             IntIn(item, "seen_at").value_or(0) >= IntIn(other, "seen_at").value_or(0);
    case Kind::kCount:
      return HasAll(ListIn(item, "ids"), ListIn(other, "ids")) &&
             WithoutId(item) >= WithoutId(other);
    case Kind::kDevice:
      return HasFailures(item, other) &&
             HasAll(ListIn(item, "succeeded_at"), ListIn(other, "succeeded_at"));
    case Kind::kLock:
      return true;
    case Kind::kState:
      return TextIn(item, "intervention_state") == TextIn(other, "intervention_state");
  }
  return false;
}

Item JoinCounts(const Item& left, const Item& right) {
  Item joined = left;
  // Attempts without an id cannot be told apart. Both stores were copied from each other, so the
  // larger number includes the smaller one; adding them would count the same failures twice.
  const int64_t without_id = std::max(WithoutId(left), WithoutId(right));
  JoinList("ids", right, &joined);
  const auto ids = static_cast<int64_t>(ListIn(joined, "ids").size());
  joined.Set("count", Number::FromInt(ids + without_id));
  JoinLater("ttl", right, &joined);
  JoinLater("last_updated", right, &joined);
  return joined;
}

Item JoinHeads(const Item& left, const Item& right) {
  Item joined = left;
  JoinList("open", right, &joined);
  JoinList("settled", right, &joined);
  JoinFailures(right, &joined);
  JoinTakenOver(right, &joined);
  JoinLater("seen_at", right, &joined);
  JoinLater("ttl", right, &joined);
  return joined;
}

Item JoinDevices(const Item& left, const Item& right) {
  Item joined = left;
  JoinLater("ttl", right, &joined);
  JoinList("succeeded_at", right, &joined);
  JoinFailures(right, &joined);
  return joined;
}

// Of two rows of the same generation.
Item JoinItems(Kind kind, const Item& left, const Item& right) {
  if (Covers(kind, left, right)) return left;
  if (Covers(kind, right, left)) return right;
  if (kind == Kind::kHead) return JoinHeads(left, right);
  if (kind == Kind::kCount) return JoinCounts(left, right);
  if (kind == Kind::kDevice) return JoinDevices(left, right);
  return EndsBefore(kind, left, right) ? right : left;
}

Row JoinRows(Kind kind, const Row& left, const Row& right) {
  Row joined = left.generation >= right.generation ? left : right;
  joined.until = std::max(left.until, right.until);
  if (left.generation != right.generation) return joined;
  if (left.item && right.item) joined.item = JoinItems(kind, *left.item, *right.item);
  // The same generation with and without an item: keep the item, which is the stricter answer.
  if (!left.item) joined.item = right.item;
  return joined;
}

// ---- Rows of a store ----

void DecodeGenerations(const Item& item, EpochSeconds now, Rows* rows) {
  for (const auto& [sort_key, value] : MapIn(item, "generations")) {
    const auto* one = value.As<item::Map>();
    if (one == nullptr) continue;
    const EpochSeconds until = IntIn(*one, "until").value_or(0);
    if (!IsLive(until, now)) continue;
    const auto generation = static_cast<uint64_t>(IntIn(*one, kGeneration).value_or(0));
    // A row that exists is kept even if a higher generation is remembered: in the phase `new` rows
    // are written without a generation, after what is remembered here.
    Row& row = (*rows)[sort_key];
    row.generation = std::max(row.generation, generation);
    row.until = until;
  }
}

// The next generation of a row, remembered until the row as it was has ended and one day more. The
// head row needs no such memory: it stays for a day longer than everything that it is about.
void BeginGeneration(const std::string& sort_key, EpochSeconds now, Row* row) {
  const Kind kind = KindOf(sort_key);
  ++row->generation;
  if (kind == Kind::kHead) return;
  const auto end = EndOf(kind, *row->item);
  row->until = std::max(row->until, end ? *end + kDay : now + kRememberPermanent);
}

std::vector<std::string> DecisiveKeys(const Rows& rows) {
  std::vector<std::string> keys;
  for (const auto& [sort_key, row] : rows) {
    const Kind kind = KindOf(sort_key);
    if (row.item && kind != Kind::kHead && kind != Kind::kDevice) keys.push_back(sort_key);
  }
  return keys;
}

}  // namespace

EpochSeconds LatestOf(const std::vector<Item>& items, EpochSeconds now) {
  EpochSeconds latest = now;
  for (const Item& item : items) {
    if (TextIn(item, attempts::kSortAttribute) != attempts::kHeadKey) continue;
    const EpochSeconds seen_at = IntIn(item, "seen_at").value_or(0);
    if (seen_at <= now + attempts::kMaxLeadSeconds) latest = std::max(latest, seen_at);
  }
  return latest;
}

Rows DecodeRows(const std::vector<Item>& items, EpochSeconds now) {
  Rows rows;
  const Item* generations = nullptr;
  for (const Item& item : items) {
    const std::string sort_key = TextIn(item, attempts::kSortAttribute);
    if (sort_key == attempts::kGenerationsKey) {
      generations = &item;
      continue;
    }
    const auto end = EndOf(KindOf(sort_key), item);
    if (end && !IsLive(*end, now)) continue;
    const auto generation = static_cast<uint64_t>(IntIn(item, kGeneration).value_or(0));
    Row& row = rows[sort_key];
    row = {.generation = generation, .item = item};
    row.item->Erase(kGeneration);
  }
  if (generations != nullptr) DecodeGenerations(*generations, now, &rows);
  return rows;
}

std::vector<Item> EncodeRows(const attempts::Subject& subject, const Rows& rows) {
  std::vector<Item> items;
  item::Map generations;
  EpochSeconds end = 0;
  for (const auto& [sort_key, row] : rows) {
    const Number generation = Number::FromInt(static_cast<int64_t>(row.generation));
    if (row.item) {
      items.push_back(*row.item);
      if (row.generation > 0) items.back().Set(kGeneration, generation);
    }
    if (row.until == 0) continue;
    generations.Set(sort_key, item::Map{{std::string(kGeneration), generation},
                                        {"until", Number::FromInt(row.until)}});
    end = std::max(end, row.until);
  }
  if (generations.empty()) return items;
  items.push_back({{std::string(attempts::kPartitionAttribute), subject.text()},
                   {std::string(attempts::kSortAttribute), std::string(attempts::kGenerationsKey)},
                   {"generations", std::move(generations)},
                   {"ttl", Number::FromInt(end)}});
  return items;
}

Rows Join(const Rows& left, const Rows& right) {
  Rows joined = left;
  for (const auto& [sort_key, row] : right) {
    const auto known = joined.find(sort_key);
    if (known == joined.end()) {
      joined.emplace(sort_key, row);
    } else {
      known->second = JoinRows(KindOf(sort_key), known->second, row);
    }
  }
  return joined;
}

void Put(const std::string& sort_key, Item item, EpochSeconds now, Rows* rows) {
  Row& row = (*rows)[sort_key];
  if (row.item && !Covers(KindOf(sort_key), item, *row.item)) BeginGeneration(sort_key, now, &row);
  row.item = std::move(item);
}

void Remove(const std::string& sort_key, EpochSeconds now, Rows* rows) {
  const auto found = rows->find(sort_key);
  if (found == rows->end() || !found->second.item) return;
  BeginGeneration(sort_key, now, &found->second);
  found->second.item = std::nullopt;
}

bool SayTheSame(const Rows& left, const Rows& right) {
  const std::vector<std::string> keys = DecisiveKeys(left);
  if (keys != DecisiveKeys(right)) return false;
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& sort_key) {
    const Kind kind = KindOf(sort_key);
    const Item& one = *left.at(sort_key).item;
    const Item& other = *right.at(sort_key).item;
    return EndOf(kind, one) == EndOf(kind, other) && CountIn(one) == CountIn(other);
  });
}

size_t CountPermanent(const Rows& rows) {
  return static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [](const auto& entry) {
    const Kind kind = KindOf(entry.first);
    return entry.second.item && kind != Kind::kHead && !EndOf(kind, *entry.second.item);
  }));
}

std::string VersionOf(const Rows& rows) {
  const auto head = rows.find(attempts::kHeadKey);
  return head == rows.end() || !head->second.item ? "" : TextIn(*head->second.item, "version");
}

namespace {

// nullopt: a row has no end.
std::optional<EpochSeconds> LastEnd(const Rows& rows, EpochSeconds now) {
  if (CountPermanent(rows) > 0) return std::nullopt;
  EpochSeconds last = now;
  for (const auto& [sort_key, row] : rows) {
    if (row.item) last = std::max(last, EndOf(KindOf(sort_key), *row.item).value_or(now));
  }
  return last;
}

}  // namespace

void SetVersion(const attempts::Subject& subject, const std::string& version, EpochSeconds now,
                Rows* rows) {
  const EpochSeconds end = attempts::EndOfHead(now, LastEnd(*rows, now));
  Row& head = (*rows)[std::string(attempts::kHeadKey)];
  if (!head.item) {
    head.item = Item{{std::string(attempts::kPartitionAttribute), subject.text()},
                     {std::string(attempts::kSortAttribute), std::string(attempts::kHeadKey)},
                     {"seen_at", Number::FromInt(now)},
                     {"ttl", Number::FromInt(end)}};
  }
  head.item->Set("version", version);
}

}  // namespace tidemark::moving
