// Rows of one subject that are kept in two stores at once, and how two versions of them are joined.
//
// Joining loses nothing: counts join by the ids of what was counted, so what both stores know is
// counted once and what only one knows is counted too; of two locks the later end holds. Joining is
// commutative and idempotent, so it does not matter which store hears of what, in which order, or
// how often.
//
// What is meant to go must not come back by joining. Each row so has a generation, and a change
// that joining would undo (a count cleared, a slot given back) begins the next one: a higher
// generation stands for itself. It is remembered beyond the row, until nothing of an earlier one
// can be alive in either store (docs/formats/attempts.md).
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

inline constexpr std::string_view kHeadKey = "!";
// The row that remembers generations.
inline constexpr std::string_view kGenerationsKey = "~";
inline constexpr std::string_view kGeneration = "generation";

struct Row {
  uint64_t generation = 0;
  std::optional<item::Item> item = std::nullopt;  // nullopt: removed.
  // For how long the generation is remembered when there is no item: until nothing of an earlier
  // one can be alive. 0: not at all.
  EpochSeconds until = 0;
  friend bool operator==(const Row&, const Row&) = default;
};

// By sort key; without the row that remembers generations.
using Rows = std::map<std::string, Row, std::less<>>;

// Time never goes back for a subject: the clock's, or what a head row has seen if that is later.
EpochSeconds LatestOf(const std::vector<item::Item>& items, EpochSeconds now);

// What has ended is not there.
Rows DecodeRows(const std::vector<item::Item>& items, EpochSeconds now);
std::vector<item::Item> EncodeRows(const attempts::Subject& subject, const Rows& rows);

Rows Join(const Rows& left, const Rows& right);

// The row is there in place of what was; it begins a generation when it has to.
void Put(const std::string& sort_key, item::Item item, EpochSeconds now, Rows* rows);
void Remove(const std::string& sort_key, EpochSeconds now, Rows* rows);

// Whether both come to the same counts, locks and states.
bool SayTheSame(const Rows& left, const Rows& right);
// Those without an end.
size_t CountPermanent(const Rows& rows);

std::string VersionOf(const Rows& rows);  // Of the head; empty without one.
// Makes a head when there is none.
void SetVersion(const attempts::Subject& subject, const std::string& version, EpochSeconds now,
                Rows* rows);

}  // namespace tidemark::moving
