#include "apps/gate/cache_rows.h"

#include <utility>

#include <fmt/format.h>

#include "apps/gate/limits.h"
#include "base/expiry.h"
#include "item/attributes.h"
#include "tables/ensure_table.h"

namespace tidemark::gate {

using item::Number;

namespace {

constexpr std::string_view kKey = "cache_key";
constexpr std::string_view kTtl = "ttl";
constexpr std::string_view kVerifiedAt = "verified_at";
constexpr std::string_view kGeneration = "generation";
constexpr std::string_view kRaisedAt = "raised_at";
constexpr std::string_view kState = "state";
constexpr std::string_view kPublic = "public";  // True or absent.

// The condition of every write: replace the row unless it is live, of the same generation, and
// observed later. A comparison with an absent attribute, or one of another type, is false, so a
// missing or damaged row is replaced.
constexpr std::string_view kUnlessNewer =
    "NOT (#ttl > :now AND #ttl <= :horizon AND #generation = :generation "
    "AND #verified_at > :verified_at)";

item::KeySchema CacheKeys() { return {.partition = {.name = std::string(kKey)}}; }

// nullopt when the attribute is missing or not a whole number.
std::optional<int64_t> FindInt(const item::Item& row, std::string_view name) {
  const item::Value* value = row.Find(name);
  const Number* number = value ? value->As<Number>() : nullptr;
  if (number == nullptr) return std::nullopt;
  std::optional<int64_t> floor = number->Floor();
  return floor && Number::FromInt(*floor) == *number ? floor : std::nullopt;
}

std::string_view ToString(EntityState state) {
  switch (state) {
    case EntityState::kActive:
      return "active";
    case EntityState::kInactive:
      return "inactive";
    case EntityState::kAbsent:
      break;
  }
  return "absent";
}

std::optional<EntityState> StateOf(std::string_view text) {
  for (EntityState state : {EntityState::kActive, EntityState::kInactive, EntityState::kAbsent}) {
    if (text == ToString(state)) return state;
  }
  return std::nullopt;
}

EpochSeconds LifeOf(EntityState state) {
  return state == EntityState::kActive ? kVerifiedLifeSeconds : kRefusedLifeSeconds;
}

// The latest ttl that a correct clock could have written. A row beyond it is not used: otherwise a
// clock that was hours ahead would make rows that are valid for hours.
EpochSeconds Horizon(EpochSeconds now) { return now + kVerifiedLifeSeconds + kMaxClockSkewSeconds; }

item::Item RowOf(const std::string& key, const std::string& generation, EpochSeconds verified_at,
                 EpochSeconds life) {
  return {{std::string(kKey), key},
          {std::string(kTtl), Number::FromInt(verified_at + life)},
          {std::string(kVerifiedAt), Number::FromInt(verified_at)},
          {std::string(kGeneration), generation}};
}

item::Item KeyItem(std::string key) { return {{std::string(kKey), std::move(key)}}; }

}  // namespace

std::string EntityKey(const slack::Lookup& entity) {
  return fmt::format("entity#{}#{}", slack::ToString(entity.kind), entity.id);
}

std::string GenerationKey(std::string_view id) { return fmt::format("generation#{}", id); }

item::Item TripleRow(const std::string& key, const std::string& generation,
                     const Verification& verification) {
  item::Item row = RowOf(key, generation, verification.verified_at, kVerifiedLifeSeconds);
  if (verification.in_public_channel) row.Set(kPublic, true);
  return row;
}

item::Item EntityRow(const slack::Lookup& entity, const std::string& generation,
                     const Observation& observation) {
  item::Item row =
      RowOf(EntityKey(entity), generation, observation.verified_at, LifeOf(observation.state));
  row.Set(kState, std::string(ToString(observation.state)));
  if (observation.is_public) row.Set(kPublic, true);
  return row;
}

Status VerifyRow(const item::Item& row, EpochSeconds now) {
  std::optional<int64_t> ttl = FindInt(row, kTtl);
  if (!ttl) return Invalid("the row's ttl must be a whole number of epoch seconds");
  if (*ttl <= 0 || !IsLive(*ttl, now)) {
    return Invalid(fmt::format("the row's ttl {} must be later than now, {}", *ttl, now));
  }
  return Done{};
}

Belief Believe(const item::Item& row, std::string_view generation, SeedRows seed_rows,
               EpochSeconds now) {
  std::optional<int64_t> ttl = FindInt(row, kTtl);
  if (!ttl) return Belief::kCorrupt;
  const std::string* written_under = item::FindText(row, kGeneration);
  const bool is_of_the_seed = row.Find(kGeneration) == nullptr;
  bool is_current = is_of_the_seed ? seed_rows == SeedRows::kBelieve
                                   : written_under != nullptr && *written_under == generation;
  bool is_live = IsLive(*ttl, now) && *ttl <= Horizon(now);
  return is_current && is_live ? Belief::kBelieved : Belief::kNot;
}

bool SaysPublic(const item::Item& row) {
  const item::Value* const value = row.Find(kPublic);
  const bool* const is_public = value ? value->As<bool>() : nullptr;
  return is_public != nullptr && *is_public;
}

std::optional<Observation> ObservationIn(const item::Item& row) {
  const std::string* text = item::FindText(row, kState);
  std::optional<EntityState> state = text ? StateOf(*text) : std::nullopt;
  std::optional<int64_t> ttl = FindInt(row, kTtl);
  if (!state || !ttl) return std::nullopt;
  return Observation{
      .state = *state, .verified_at = *ttl - LifeOf(*state), .is_public = SaysPublic(row)};
}

std::optional<int64_t> GenerationIn(const item::Item& row) { return FindInt(row, kGeneration); }

bool MayPredateInvalidation(const Rows& rows, std::string_view id, EpochSeconds observed_at) {
  const auto row = rows.find(GenerationKey(id));
  if (row == rows.end()) return false;
  const std::optional<int64_t> raised_at = FindInt(row->second, kRaisedAt);
  return !raised_at || observed_at <= *raised_at + kMaxClockSkewSeconds;
}

CacheRows::CacheRows(std::string table, tables::Tables* tables, const Clock* clock)
    : table_(std::move(table)), tables_(*tables), clock_(*clock) {}

Status CacheRows::CreateTable() {
  // No throughput is set, so DynamoDB bills by the request and needs no planned capacity.
  return tables::EnsureTable(tables_, {.table = table_, .keys = CacheKeys()}, std::string(kTtl));
}

Result<Rows> CacheRows::Read(const std::vector<std::string>& keys) {
  tables::BatchGetRequest::Part part;
  for (const std::string& key : keys) part.keys.push_back(KeyItem(key));
  tables::BatchGetRequest request;
  request.tables.emplace(table_, std::move(part));
  tables::BatchGetReply reply = TRY(tables_.BatchGet(request));
  if (!reply.unprocessed.empty()) {
    return Error{ErrorCode::kUnavailable, "the store did not return all rows; try again later"};
  }
  Rows rows;
  for (item::Item& row : reply.items[table_]) {
    std::string key = *item::FindText(row, kKey);
    rows.emplace(std::move(key), std::move(row));
  }
  return rows;
}

Result<CacheRows::Written> CacheRows::Write(const item::Item& row) {
  const EpochSeconds now = clock_.NowSeconds();
  TRY(VerifyRow(row, now));
  const std::string* generation = item::FindText(row, kGeneration);
  tables::PutRequest request{
      .table = table_,
      .item = row,
      .condition = std::string(kUnlessNewer),
      .names = {{"#ttl", std::string(kTtl)},
                {"#generation", std::string(kGeneration)},
                {"#verified_at", std::string(kVerifiedAt)}},
      .values = {{":now", Number::FromInt(now)},
                 {":horizon", Number::FromInt(Horizon(now))},
                 {":generation", generation ? *generation : std::string()},
                 {":verified_at", Number::FromInt(FindInt(row, kVerifiedAt).value_or(now))}},
      .return_values = tables::ReturnValues::kAllOld};
  tables::WriteReply reply = TRY(tables_.Put(request).WithContext(*item::FindText(row, kKey)));
  return Written{.applied = reply.applied, .previous = std::move(reply.attributes)};
}

Status CacheRows::Raise(const std::string& id) {
  // Without a condition: raising the generation twice has the same effect as once, so after a lost
  // reply the caller simply tries again.
  TRY(tables_
          .Update({.table = table_,
                   .key = KeyItem(GenerationKey(id)),
                   .update = "ADD #generation :one SET #raised_at = :now",
                   .names = {{"#generation", std::string(kGeneration)},
                             {"#raised_at", std::string(kRaisedAt)}},
                   .values = {{":one", Number::FromInt(1)},
                              {":now", Number::FromInt(clock_.NowSeconds())}}})
          .WithContext(GenerationKey(id)));
  return Done{};
}

}  // namespace tidemark::gate
