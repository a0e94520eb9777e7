#include "apps/dedup/memory.h"

#include <utility>

namespace tidemark::dedup {

namespace {

// The row after the claim was settled.
Row Settled(Row row, Memory::Settlement settlement, std::string_view text, uint32_t max_failures) {
  switch (settlement) {
    case Memory::Settlement::kRenewed:
      break;
    case Memory::Settlement::kCompleted:
      row.status = RowStatus::kDone;
      row.result = std::string(text);
      break;
    case Memory::Settlement::kReleased:
      row.status = RowStatus::kReleased;
      break;
    case Memory::Settlement::kFailed:
      // A repeated call counts as one failure: the row is no longer claimed then.
      if (row.status == RowStatus::kClaimed) ++row.failures;
      row.status = row.failures < max_failures ? RowStatus::kReleased : RowStatus::kFailed;
      row.failure = std::string(text);
      break;
  }
  return row;
}

// Whether an earlier copy of the same call has settled the row.
bool IsAlreadySettled(const Row& row, Memory::Settlement settlement) {
  switch (settlement) {
    case Memory::Settlement::kRenewed:
      return false;
    case Memory::Settlement::kCompleted:
      return row.status == RowStatus::kDone;
    case Memory::Settlement::kReleased:
      return row.status == RowStatus::kReleased;
    case Memory::Settlement::kFailed:
      return row.status == RowStatus::kReleased || row.status == RowStatus::kFailed;
  }
  return false;
}

}  // namespace

// No skew: all claims here are of this process and use one clock.
Result<ClaimReply> Memory::Take(const ClaimRequest& request, RowStatus status) {
  const Terms terms{.window = options_.life, .lease = options_.lease, .skew = {}};
  const ClaimAttempt attempt = TRY(PrepareAttempt(request, status, terms, clock_.NowSeconds()));
  Found found;
  for (const std::string& key : attempt.keys) {
    const Row* row = Find(key);
    found.push_back(row ? std::optional(*row) : std::nullopt);
  }
  if (auto answer = AnswerOf(attempt, found)) return *std::move(answer);
  for (size_t i = 0; i < attempt.keys.size(); ++i) Store(RowFor(attempt, i, found));
  return Granted(attempt, RowFor(attempt, 0, found));
}

// Two passes: first all keys are checked, then all are changed. A claim is settled under all its
// keys or under none.
SettleOutcome Memory::Settle(const Claim& claim, Settlement settlement, std::string_view text) {
  for (const std::string& key : claim.keys) {
    const Row* row = Find(key);
    if (!row) continue;
    const bool open = row->status == RowStatus::kClaimed || IsAlreadySettled(*row, settlement);
    if (!IsHeldBy(*row, claim) || !open) return SettleOutcome::kSuperseded;
  }
  for (const std::string& key : claim.keys) {
    const Row* known = Find(key);
    Row row = known ? *known
                    : Row{.key = key,
                          .status = RowStatus::kClaimed,
                          .owner = claim.nonce,
                          .generation = claim.generation};
    row.lease_until = claim.lease_until;
    row.expires = Expires();
    Store(Settled(std::move(row), settlement, text, options_.max_failures));
  }
  return SettleOutcome::kSettled;
}

void Memory::RememberClaim(const Claim& claim) {
  for (const std::string& key : claim.keys) {
    Store({.key = key,
           .status = RowStatus::kClaimed,
           .owner = claim.nonce,
           .generation = claim.generation,
           .lease_until = claim.lease_until,
           .expires = Expires()});
  }
}

// Only done and failed are final. A claim of another process may end at any time, so it is not
// remembered.
void Memory::RememberOutcome(const std::vector<std::string>& keys, const ClaimReply& reply) {
  const bool done = reply.outcome == ClaimOutcome::kDone;
  if (!done && reply.outcome != ClaimOutcome::kFailed) return;
  for (const std::string& key : keys) {
    Store({.key = key,
           .status = done ? RowStatus::kDone : RowStatus::kFailed,
           .expires = Expires(),
           .result = reply.result});
  }
}

const Row* Memory::Find(const std::string& key) const {
  const auto found = rows_.find(key);
  if (found == rows_.end()) return nullptr;
  return IsExpired(found->second.row, clock_.NowSeconds()) ? nullptr : &found->second.row;
}

// The row becomes the newest one. The oldest rows are dropped when they expired or are too many.
void Memory::Store(Row row) {
  Forget(row.key);
  oldest_first_.push_back(row.key);
  const std::string key = row.key;
  rows_.emplace(key, Entry{std::move(row), std::prev(oldest_first_.end())});
  while (!oldest_first_.empty() &&
         (rows_.size() > options_.max_rows || !Find(oldest_first_.front()))) {
    // A copy, because Forget destroys the name in the list.
    Forget(std::string(oldest_first_.front()));
  }
}

void Memory::Forget(const std::string& key) {
  const auto found = rows_.find(key);
  if (found == rows_.end()) return;
  oldest_first_.erase(found->second.place);
  rows_.erase(found);
}

}  // namespace tidemark::dedup
