// The rows of one subject that is kept in two stores at once, and how the rows of both are joined.
//
//   Rows joined = Join(DecodeRows(in_table, now), DecodeRows(in_redis, now));
//   Put("SIGN_IN#ERROR_COUNT#PASSWORD_ENTRY", count, now, &joined);
//   store.Replace({.items = EncodeRows(subject, joined), ...});
//
// Joining loses nothing. Counts are joined by the ids of the attempts in them: an attempt that both
// stores have counts once, an attempt that only one store has counts too. Of two locks the later
// end holds. Joining is commutative and idempotent, so copies between the stores may arrive late,
// twice or in any order.
//
// A row that was removed must not come back by joining. So each row has a generation. A change that
// joining would undo (a cleared count, a slot that is given back) begins the next generation, and
// of two rows the one with the higher generation replaces the other. The generation is remembered
// after the row is gone, until no row of an earlier generation can be alive in either store
// (docs/formats/attempts.md).
//
// Plain data and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/attempts/names.h"
#include "base/clock.h"
#include "item/value.h"

namespace tidemark::moving {

inline constexpr std::string_view kGeneration = "generation";

struct Row {
  uint64_t generation = 0;
  std::optional<item::Item> item = std::nullopt;  // nullopt: removed.
  // The generation is remembered until this time, also without an item: no row of an earlier
  // generation is alive after it. 0: it need not be remembered.
  EpochSeconds until = 0;
  friend bool operator==(const Row&, const Row&) = default;
};

// By sort key. The row that stores the remembered generations is not among them.
using Rows = std::map<std::string, Row, std::less<>>;

// `now`, or the time that the head row has seen when that is later: time never goes back for a
// subject.
EpochSeconds LatestOf(const std::vector<item::Item>& items, EpochSeconds now);

// Expired rows are left out.
Rows DecodeRows(const std::vector<item::Item>& items, EpochSeconds now);
std::vector<item::Item> EncodeRows(const attempts::Subject& subject, const Rows& rows);

Rows Join(const Rows& left, const Rows& right);

// Sets the row. Begins a generation when joining with the row before would undo the change.
void Put(const std::string& sort_key, item::Item item, EpochSeconds now, Rows* rows);
void Remove(const std::string& sort_key, EpochSeconds now, Rows* rows);

// Whether both have the same counts, locks and states. Heads and devices may differ: they are
// written with every attempt, and one store may be a moment behind.
bool SayTheSame(const Rows& left, const Rows& right);
// The number of rows without an end.
size_t CountPermanent(const Rows& rows);

// The version in the head row; empty when there is no head row.
std::string VersionOf(const Rows& rows);
// Creates the head row when there is none.
void SetVersion(const attempts::Subject& subject, const std::string& version, EpochSeconds now,
                Rows* rows);

}  // namespace tidemark::moving
