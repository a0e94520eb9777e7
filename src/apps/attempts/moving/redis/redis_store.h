// RedisStore is the old store of a move when that is a Redis. Counts are integers and locks are
// marks, each under its own key with an expiry, under the key names of the programs that used this
// Redis before. A hash for each subject holds the whole rows: ids of attempts and everything else
// that the plain keys have no room for (docs/formats/attempts-redis.md).
//
// Those other programs may go on writing the plain keys, and their writes are followed: a count
// that is higher than in our row was raised there, a count that is lower or gone was cleared there,
// and a lock that we did not set holds. From the phase on in which the table decides, what they
// remove or lower changes nothing here: a key may be gone because the Redis needed its memory, and
// that must not lift a lock. Every write of ours is one script, applied only if neither
// our hash nor a plain key of the subject changed since the load.
//
// For one Redis server, or the primary of several. Not for a cluster: a script touches keys of
// several slots. May be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/attempts/moving/migration_store.h"
#include "apps/attempts/moving/redis/keys.h"
#include "base/clock.h"
#include "redis/client.h"

namespace tidemark::moving {

// Whether the Redis may drop keys when its memory is full. While it decides, a dropped lock key
// cannot be told from a lock that another program has lifted.
enum class Eviction { kRefused, kAccepted };

class RedisStore final : public MigrationStore {
 public:
  // The clock outlives this.
  RedisStore(KeyMap keys, redis::ClientOptions options, const Clock* clock,
             Eviction eviction = Eviction::kRefused)
      : keys_(std::move(keys)), client_(std::move(options)), clock_(*clock), eviction_(eviction) {}

  Result<StoredAccount> Load(const attempts::Subject& subject) override;
  Result<ReplaceOutcome> Replace(const Replacement& replacement) override;
  Result<PhaseRecord> GetPhase() override;
  Result<bool> SetPhase(const PhaseRecord& record, uint64_t expected_epoch) override;
  Status NoteDrift(uint64_t epoch, EpochSeconds now) override;
  Result<Drift> GetDrift(uint64_t epoch) override;
  Result<SubjectPage> ListSubjects(const std::optional<std::string>& cursor) override;
  // kInvalid unless the Redis refuses writes when its memory is full, or eviction is accepted.
  Status CheckKeepsRows() override;

 private:
  Result<redis::Reply> Ask(const std::vector<std::string>& words);
  std::vector<std::string> WordsFor(const Replacement& replacement) const;

  const KeyMap keys_;
  redis::Client client_;
  const Clock& clock_;
  const Eviction eviction_;
};

}  // namespace tidemark::moving
