// RedisStore is the old one of the two stores, when that is a Redis. Counts are integers and locks
// are keys, both with a life, under the names that the programs before us used; beside them a hash
// for each subject holds the ids of attempts and all else that those keys have no room for
// (docs/formats/attempts-redis.md).
//
// What the other programs write is honoured: a count that is higher than ours has risen there, one
// that is lower or gone was cleared there, and a lock that we know nothing of holds. Every write is
// one script, applied only if nothing of the subject changed since it was loaded, by whomever.
//
// For one Redis server, or the primary of several; its keys are not made for a cluster. May be
// called from any thread.
#pragma once

#include <string>
#include <vector>

#include "apps/attempts/moving/account_store.h"
#include "apps/attempts/moving/redis/keys.h"
#include "base/clock.h"
#include "redis/client.h"

namespace tidemark::moving {

class RedisStore final : public AccountStore {
 public:
  // The clock outlives this.
  RedisStore(KeyMap keys, redis::ClientOptions options, const Clock* clock)
      : keys_(std::move(keys)), client_(std::move(options)), clock_(*clock) {}

  Result<StoredAccount> Load(const attempts::Subject& subject) override;
  Result<Outcome> Replace(const Replacement& replacement) override;
  Result<PhaseRecord> GetPhase() override;
  Result<bool> SetPhase(const PhaseRecord& record, uint64_t expected_epoch) override;
  Status NoteDrift(uint64_t epoch, EpochSeconds now) override;
  Result<Drift> GetDrift(uint64_t epoch) override;
  Result<SubjectPage> ListSubjects(const std::optional<std::string>& cursor) override;

 private:
  Result<redis::Reply> Ask(const std::vector<std::string>& words);
  std::vector<std::string> WordsFor(const Replacement& replacement) const;

  const KeyMap keys_;
  redis::Client client_;
  const Clock& clock_;
};

}  // namespace tidemark::moving
