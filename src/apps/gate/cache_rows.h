// The rows of the existence cache: how they are named, made, believed, read and written. The
// shape of a triple's row is the seed's; docs/decisions/0011-existence-rows.md says what was added
// and why.
//
//   T1#U1#C1          ttl, verified_at, generation         all three exist and are active
//   entity#user#U1    ttl, verified_at, generation, state  what Slack said about one of them
//   generation#U1     generation, a number, without ttl    how often it was invalidated
//
// CacheRows may be used from any thread. It never decides anything: it says what is stored.
#pragma once

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

// Slack's word on one team, user or channel, and when it was asked.
struct Observation {
  EntityState state = EntityState::kAbsent;
  EpochSeconds verified_at = 0;
};

std::string EntityKey(const slack::Lookup& entity);
std::string GenerationKey(std::string_view id);

item::Item TripleRow(const std::string& key, const std::string& generation,
                     EpochSeconds verified_at);
item::Item EntityRow(const slack::Lookup& entity, const std::string& generation,
                     const Observation& observation);

// kInvalid unless the row has a ttl that is a whole number of seconds after now.
Status VerifyRow(const item::Item& row, EpochSeconds now);

enum class Belief {
  kBelieved,
  kNot,      // It has expired, is from too far in the future, or of another generation.
  kCorrupt,  // It has no ttl, or one that is no time.
};
Belief Believe(const item::Item& row, std::string_view generation, EpochSeconds now);

// What an entity's row says, whether or not it is believed; nullopt when it says nothing of use.
std::optional<Observation> ObservationIn(const item::Item& row);
// The number of a generation's row; nullopt when it is none.
std::optional<int64_t> GenerationIn(const item::Item& row);

using Rows = std::map<std::string, item::Item>;  // By cache_key.

class CacheRows {
 public:
  // Tables and clock outlive this.
  CacheRows(std::string table, tables::Tables* tables, const Clock* clock);

  // Makes the table unless it is there. kInvalid when there is one with other keys.
  Status CreateTable();

  // Those of the rows that are there. Fails when one of them could not be read: a generation
  // that is not known must not be taken for none.
  Result<Rows> Read(const std::vector<std::string>& keys);

  struct Written {
    bool applied = false;                               // False: what is stored is newer.
    std::optional<item::Item> previous = std::nullopt;  // What it replaced.
  };
  // Writes a row that VerifyRow accepts, unless a live one of its generation is there that was
  // observed later.
  Result<Written> Write(const item::Item& row);

  // Raises the generation of a team, user or channel.
  Status Raise(const std::string& id);

 private:
  const std::string table_;
  tables::Tables& tables_;
  const Clock& clock_;
};

}  // namespace tidemark::gate
