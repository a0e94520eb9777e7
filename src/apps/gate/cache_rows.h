// The rows of the existence cache: their keys, their content, when they may be used, and how they
// are read and written. The row of a triple has the seed's layout;
// docs/decisions/0011-existence-rows.md says what was added and why.
//
//   T1#U1#C1          ttl, verified_at, generation         all three exist and are active
//   entity#user#U1    ttl, verified_at, generation, state  what Slack said about one of them
//                     public: true                           also, in both, if the channel is
//                     public
//   generation#U1     generation, a number, without ttl    how often it was invalidated
//                     raised_at                              and when last
//
// CacheRows may be used from any thread. It makes no decision about an event; it only says what is
// stored.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "item/value.h"
#include "slack/directory.h"
#include "tables/tables.h"

namespace tidemark::gate {

enum class EntityState { kActive, kInactive, kAbsent };

// What Slack said about one team, user or channel, and when it was asked.
struct Observation {
  EntityState state = EntityState::kAbsent;
  EpochSeconds verified_at = 0;
  bool is_public = false;  // Of a channel: Slack said that it is public.
};

std::string EntityKey(const slack::Lookup& entity);
std::string GenerationKey(std::string_view id);

struct Verification {
  EpochSeconds verified_at = 0;
  bool in_public_channel = false;
};
item::Item TripleRow(const std::string& key, const std::string& generation,
                     const Verification& verification);
item::Item EntityRow(const slack::Lookup& entity, const std::string& generation,
                     const Observation& observation);

// kInvalid unless the row has a ttl that is a whole number and later than now.
Status VerifyRow(const item::Item& row, EpochSeconds now);

enum class Belief {
  kBelieved,  // The row may be used.
  kNot,       // It has expired, its ttl is too far in the future, or its generation is not current.
  kCorrupt,   // Its ttl is missing or not a whole number.
};
// Whether a row without a generation is used. The seed's own program writes such rows. It cannot
// void them, so they are used only while nothing that they are about was ever invalidated.
enum class SeedRows { kBelieve, kIgnore };
Belief Believe(const item::Item& row, std::string_view generation, SeedRows seed_rows,
               EpochSeconds now);

// Whether the row of a triple or of a channel says that the channel is public.
bool SaysPublic(const item::Item& row);
// What the row of an entity says, whether or not it may be used. nullopt when it has no valid state
// or ttl.
std::optional<Observation> ObservationIn(const item::Item& row);
// The number in the row of a generation. nullopt when it is not a whole number.
std::optional<int64_t> GenerationIn(const item::Item& row);

using Rows = std::map<std::string, item::Item>;  // By cache_key.

// Whether an observation of this time may be from before the last invalidation of the id, because
// it is older or nearly as old, or because the row does not say when that was. An observation that
// was not made under a known generation must not be used then.
bool MayPredateInvalidation(const Rows& rows, std::string_view id, EpochSeconds observed_at);

class CacheRows {
 public:
  // Tables and clock outlive this.
  CacheRows(std::string table, tables::Tables* tables, const Clock* clock);

  // Creates the table unless it exists. kInvalid when it exists with other keys.
  Status CreateTable();

  // The rows that exist, of these keys. Fails when one row could not be read: an unread generation
  // must not be taken for an absent one, because it may have been raised.
  Result<Rows> Read(const std::vector<std::string>& keys);

  struct Written {
    bool applied = false;                               // False: the stored row is newer.
    std::optional<item::Item> previous = std::nullopt;  // The row that was replaced.
  };
  // Writes a row that VerifyRow accepts. Does not replace a live row of the same generation with a
  // later verified_at.
  Result<Written> Write(const item::Item& row);

  // Raises the generation of a team, user or channel.
  Status Raise(const std::string& id);

 private:
  const std::string table_;
  tables::Tables& tables_;
  const Clock& clock_;
};

}  // namespace tidemark::gate
