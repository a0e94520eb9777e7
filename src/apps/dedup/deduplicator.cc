#include "apps/dedup/deduplicator.h"

#include <deque>
#include <functional>
#include <mutex>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "apps/dedup/claim_rules.h"
#include "apps/dedup/memory.h"
#include "apps/dedup/observer.h"
#include "apps/dedup/outage.h"
#include "base/bytes.h"
#include "base/hashing.h"

namespace tidemark::dedup {

namespace {

using Settlement = Memory::Settlement;

constexpr size_t kMaxPossibleDuplicates = 1000;
// How many pending writes a call writes back in addition to those of its own keys: few enough that
// the caller does not notice, and more than the one that the call may add itself, so that the queue
// shrinks.
constexpr size_t kWrittenBackByACall = 16;

// Whether the key belongs to the rollout share. The same key gives the same answer in every
// process, and a key in a share is also in every larger share.
bool IsInShare(std::string_view key, uint32_t percent) {
  if (percent >= 100) return true;
  const std::string hash = Sha256(key);
  return Reader(hash).Fixed64() % 100 < percent;
}

}  // namespace

class Deduplicator::State {
 public:
  State(const DeduplicatorOptions& options, Claims* claims, const Runtime& runtime)
      : options_(options),
        claims_(*claims),
        clock_(runtime.clock),
        random_(runtime.random),
        observer_(claims->options().table, runtime.logger, runtime.metrics),
        memory_({.life = options.memory_life,
                 .lease = claims->options().lease,
                 .max_rows = options.max_memory,
                 .max_failures = claims->options().max_failures},
                &clock_),
        pending_(options.max_memory),
        outage_(options.outage, &clock_) {}

  // The status is what a new key gets: kClaimed to take it, kDone to mark it. The time of the check
  // counts from `start`.
  Result<ClaimReply> Check(ClaimRequest request, RowStatus status, std::chrono::nanoseconds start);
  Result<ClaimReply> Check(ClaimRequest request, RowStatus status) {
    return Check(std::move(request), status, clock_.Monotonic());
  }
  Later<std::optional<ClaimReply>> TryMarkWith(ClaimRequest request, const Effect& effect) {
    return Try(Own(std::move(request)), RowStatus::kDone,
               [&](const ClaimRequest& own) { return claims_.TryMarkWith(own, effect); });
  }
  Later<ClaimReply> Begin(ClaimRequest request, RowStatus status, WorkerPool* workers);
  bool BeginsWithoutBlocking() const { return claims_.TriesWithoutBlocking(); }
  Result<SettleOutcome> Settle(Claim* claim, Settlement settlement, std::string_view text = {});

  std::vector<tables::TransactAction> Completion(const Claim& claim) {
    return claims_.Completion(claim);
  }
  void NoteCompletion(const Claim& claim) {
    const std::lock_guard lock(mutex_);
    memory_.Settle(claim, Settlement::kCompleted);
  }
  bool in_fallback() const {
    const std::lock_guard lock(mutex_);
    return outage_.InEffect();
  }
  std::vector<PossibleDuplicate> possible_duplicates() const {
    const std::lock_guard lock(mutex_);
    return {possible_duplicates_.begin(), possible_duplicates_.end()};
  }

 private:
  // A request with its nonce. The callbacks of a try share it.
  using OwnRequest = std::shared_ptr<const ClaimRequest>;
  OwnRequest Own(ClaimRequest request);
  template <typename Ask>
  Later<std::optional<ClaimReply>> Try(OwnRequest request, RowStatus status, const Ask& ask);
  Result<ClaimReply> Decide(const ClaimRequest& request, RowStatus status);
  Result<ClaimReply> DecideAlone(const ClaimRequest& request, RowStatus status);
  Result<ClaimReply> DecideInMemory(const ClaimRequest& request, RowStatus status);
  bool Reserve(const std::vector<std::string>& keys);
  void Unreserve(const std::vector<std::string>& keys);
  bool IsStoreCurrent() const;
  void Remember(const ClaimRequest& request, RowStatus status, const ClaimReply& reply);
  Result<SettleOutcome> SettleAway(Claim* claim, const PendingWrite& settled, Error error);
  SettleOutcome SettleInMemory(Claim* claim, Settlement settlement, std::string_view text);
  Result<SettleOutcome> SettleInStore(Claim* claim, Settlement settlement, std::string_view text);

  bool WriteBack(const std::vector<std::string>& keys, std::string_view except_nonce = {});
  Result<SettleOutcome> WriteToStore(const PendingWrite& pending, Claim* granted);
  PendingWrite PendingOf(const Claim& claim);
  void Keep(PendingWrite pending);
  void Report(const std::string& key, std::string reason);

  bool UsesStore(const std::vector<std::string>& keys) const {
    return IsInShare(keys.front(), options_.rollout_percent);
  }
  // Whether the store answered; an error that is the store's decision is an answer too. Starts and
  // ends outages.
  template <typename T>
  bool Answered(const Result<T>& reply);

  const DeduplicatorOptions options_;
  Claims& claims_;
  const Clock& clock_;
  Random& random_;
  Observer observer_;

  mutable std::mutex mutex_;  // Guards the members below. Never held during a call of the store.
  Memory memory_;
  PendingWrites pending_;
  Outage outage_;
  std::deque<PossibleDuplicate> possible_duplicates_;
  std::unordered_set<std::string> being_checked_;
};

// ---- Checks ----

Result<ClaimReply> Deduplicator::State::Check(ClaimRequest request, RowStatus status,
                                              std::chrono::nanoseconds start) {
  // The nonce is chosen here and not in Claims: memory and the store must know the claim by the
  // same one.
  if (request.nonce.empty()) request.nonce = random_.Hex(kNonceBytes);
  Result<ClaimReply> answer = Decide(request, status);
  const std::string_view key = request.keys.empty() ? std::string_view() : request.keys.front();
  observer_.RecordCheck(key, answer, clock_.Monotonic() - start);
  return answer;
}

Result<ClaimReply> Deduplicator::State::Decide(const ClaimRequest& request, RowStatus status) {
  TRY(VerifyKeys(request.keys));
  if (!UsesStore(request.keys)) {
    const std::lock_guard lock(mutex_);
    return DecideInMemory(request, status);
  }
  // One check of a key at a time. Otherwise the store could answer the first one, while the second
  // one does not reach it and is answered by memory: both would get "new".
  if (!Reserve(request.keys)) {
    return ClaimReply{.outcome = ClaimOutcome::kRunning,
                      .reason = "Another delivery of the event is being checked in this process"};
  }
  Result<ClaimReply> answer = DecideAlone(request, status);
  Unreserve(request.keys);
  return answer;
}

// The usual case must not block. So it does not write back what memory decided, and does not let
// memory decide: Check does both. The keys stay reserved until the answer is there.
template <typename Ask>
Later<std::optional<ClaimReply>> Deduplicator::State::Try(OwnRequest request, RowStatus status,
                                                          const Ask& ask) {
  if (!VerifyKeys(request->keys) || !UsesStore(request->keys) || !IsStoreCurrent() ||
      !Reserve(request->keys)) {
    return std::optional<ClaimReply>();
  }
  const auto start = clock_.Monotonic();
  Later<std::optional<ClaimReply>> asked = ask(*request);
  return std::move(asked).Then(
      [this, start, status, request = std::move(request)](Result<std::optional<ClaimReply>> reply) {
        // An outage begins when the store did not answer. So Check, which the caller calls next,
        // does not make the same retries again: memory decides.
        if (!reply) Answered(reply);
        // Remembered before the keys are free again. Otherwise a second delivery that cannot reach
        // the store would find neither, and memory would call the event new.
        if (reply && *reply) {
          Answered(reply);
          Remember(*request, status, **reply);
          observer_.RecordCheck(request->keys.front(), **reply, clock_.Monotonic() - start);
        }
        Unreserve(request->keys);
        return reply ? *std::move(reply) : std::nullopt;
      });
}

// The nonce tells a second look that a write of the try whose reply was lost is this request's own.
Deduplicator::State::OwnRequest Deduplicator::State::Own(ClaimRequest request) {
  if (request.nonce.empty()) request.nonce = random_.Hex(kNonceBytes);
  return std::make_shared<const ClaimRequest>(std::move(request));
}

Later<ClaimReply> Deduplicator::State::Begin(ClaimRequest given, RowStatus status,
                                             WorkerPool* workers) {
  const OwnRequest request = Own(std::move(given));
  const auto start = clock_.Monotonic();
  return Try(request, status, [&](const ClaimRequest& own) { return claims_.TryTake(own, status); })
      .Then([this, request, status, start,
             workers](Result<std::optional<ClaimReply>> reply) -> Later<ClaimReply> {
        if (reply && *reply) return **std::move(reply);
        return workers->Run(
            [this, request, status, start] { return Check(*request, status, start); });
      });
}

// Whether the store is there and knows everything that was decided without it.
bool Deduplicator::State::IsStoreCurrent() const {
  const std::lock_guard lock(mutex_);
  return !outage_.InEffect() && pending_.size() == 0;
}

// The store decides when it is there. Only when it does not answer does memory decide, and what it
// decides is kept to be written back.
Result<ClaimReply> Deduplicator::State::DecideAlone(const ClaimRequest& request, RowStatus status) {
  // What memory decided about these keys in an outage is written first. Otherwise the store would
  // call the same event new again.
  if (!in_fallback() && WriteBack(request.keys)) {
    Result<ClaimReply> answer =
        status == RowStatus::kDone ? claims_.Mark(request) : claims_.Take(request);
    if (Answered(answer)) {
      if (answer) Remember(request, status, *answer);
      return answer;
    }
  }
  if (options_.policy == OutagePolicy::kRefuse) {
    return ClaimReply{.outcome = ClaimOutcome::kRefused, .reason = "The store is not available"};
  }
  const std::lock_guard lock(mutex_);
  ClaimReply reply = TRY(DecideInMemory(request, status));
  if (!reply.claim) return reply;
  PendingWrite pending{.request = request};
  if (status == RowStatus::kDone) pending.settlement = Settlement::kCompleted;
  Keep(std::move(pending));
  return reply;
}

// False when one of the keys is already reserved; then nothing is reserved.
bool Deduplicator::State::Reserve(const std::vector<std::string>& keys) {
  const std::lock_guard lock(mutex_);
  for (const std::string& key : keys) {
    if (being_checked_.contains(key)) return false;
  }
  being_checked_.insert(keys.begin(), keys.end());
  return true;
}

void Deduplicator::State::Unreserve(const std::vector<std::string>& keys) {
  const std::lock_guard lock(mutex_);
  for (const std::string& key : keys) being_checked_.erase(key);
}

Result<ClaimReply> Deduplicator::State::DecideInMemory(const ClaimRequest& request,
                                                       RowStatus status) {
  ClaimReply reply = TRY(memory_.Take(request, status));
  reply.fallback = true;
  if (reply.claim) {
    reply.claim->local = true;
  } else {
    reply.reason = "In-memory duplicate check";
  }
  return reply;
}

void Deduplicator::State::Remember(const ClaimRequest& request, RowStatus status,
                                   const ClaimReply& reply) {
  const std::lock_guard lock(mutex_);
  if (!reply.claim) return memory_.RememberOutcome(request.keys, reply);
  if (status == RowStatus::kClaimed) return memory_.RememberClaim(*reply.claim);
  memory_.RememberOutcome(reply.claim->keys, {.outcome = ClaimOutcome::kDone});
}

// ---- Settling ----

Result<SettleOutcome> Deduplicator::State::Settle(Claim* claim, Settlement settlement,
                                                  std::string_view text) {
  TRY(VerifyKeys(claim->keys));
  if (!UsesStore(claim->keys)) {
    const std::lock_guard lock(mutex_);
    return SettleInMemory(claim, settlement, text);
  }
  PendingWrite settled = PendingOf(*claim);
  settled.settlement = settlement;
  settled.text = std::string(text);
  Error error{ErrorCode::kUnavailable, "the store of claims is not available"};
  if (!in_fallback() && WriteBack({}, claim->nonce)) {
    Claim granted = *claim;
    Result<SettleOutcome> outcome = WriteToStore(settled, &granted);
    if (Answered(outcome)) {
      const std::lock_guard lock(mutex_);
      if (!outcome) return outcome;
      pending_.Remove(settled);
      *claim = granted;
      if (*outcome == SettleOutcome::kSettled) memory_.Settle(granted, settlement, text);
      return outcome;
    }
    error = outcome.error();
  }
  return SettleAway(claim, settled, std::move(error));
}

// Settles while the store is unavailable. A local claim is settled in memory. For a claim that the
// store granted, only the store knows whether it still holds: the settlement is kept for later, and
// the caller gets an error that says so.
Result<SettleOutcome> Deduplicator::State::SettleAway(Claim* claim, const PendingWrite& settled,
                                                      Error error) {
  const std::lock_guard lock(mutex_);
  const SettleOutcome outcome = SettleInMemory(claim, *settled.settlement, settled.text);
  if (outcome == SettleOutcome::kSuperseded) return outcome;
  if (settled.settlement != Settlement::kRenewed) Keep(settled);
  if (claim->local) return outcome;
  error.message += "; the end of the claim is written when the store is back";
  return error;
}

SettleOutcome Deduplicator::State::SettleInMemory(Claim* claim, Settlement settlement,
                                                  std::string_view text) {
  Claim renewed = *claim;
  if (settlement == Settlement::kRenewed) {
    renewed.lease_until = clock_.NowSeconds() + claims_.options().lease.count();
  }
  const SettleOutcome outcome = memory_.Settle(renewed, settlement, text);
  if (outcome == SettleOutcome::kSettled && claim->local) *claim = renewed;
  return outcome;
}

Result<SettleOutcome> Deduplicator::State::SettleInStore(Claim* claim, Settlement settlement,
                                                         std::string_view text) {
  switch (settlement) {
    case Settlement::kRenewed:
      return claims_.Renew(claim);
    case Settlement::kCompleted:
      return claims_.Complete(*claim, text);
    case Settlement::kReleased:
      return claims_.Release(*claim);
    case Settlement::kFailed:
      return claims_.Fail(*claim, text);
  }
  return SettleOutcome::kSuperseded;
}

// ---- Writing back ----

// Before the store is asked about the keys, it must know what memory decided about them. Writes
// that, and a few others. False when the store is unavailable (again).
bool Deduplicator::State::WriteBack(const std::vector<std::string>& keys,
                                    std::string_view except_nonce) {
  std::vector<PendingWrite> chosen;
  {
    const std::lock_guard lock(mutex_);
    chosen = pending_.For(keys, kWrittenBackByACall);
  }
  for (const PendingWrite& pending : chosen) {
    if (pending.request.nonce == except_nonce) continue;
    Claim granted;
    const Result<SettleOutcome> outcome = WriteToStore(pending, &granted);
    if (!Answered(outcome)) return false;
    // kInvalid would come again every time: report it and drop the write. Any other error the
    // caller's own request is about to get as well.
    if (!outcome && outcome.error().code != ErrorCode::kInvalid) return true;
    const std::lock_guard lock(mutex_);
    const std::string& key = pending.request.keys.front();
    if (!outcome) Report(key, outcome.error().message);
    if (pending.store_claim && outcome && *outcome == SettleOutcome::kSuperseded) {
      Report(key, "superseded: another process took it over");
    }
    pending_.Remove(pending);
  }
  return true;
}

// Writes a claim and its settlement into the store. `granted` is set to the claim as the store has
// it. When the store has a claim of another process instead, that is reported as a possible
// duplicate.
Result<SettleOutcome> Deduplicator::State::WriteToStore(const PendingWrite& pending,
                                                        Claim* granted) {
  if (pending.store_claim) {
    *granted = *pending.store_claim;
  } else {
    const ClaimReply reply = TRY(claims_.Take(pending.request));
    const std::lock_guard lock(mutex_);
    if (!reply.claim && reply.own) return SettleOutcome::kSettled;
    if (!reply.claim) {
      Report(pending.request.keys.front(),
             fmt::format("{}: {}", ToString(reply.outcome), reply.reason));
      memory_.RememberOutcome(pending.request.keys, reply);
      return SettleOutcome::kSuperseded;
    }
    *granted = *reply.claim;
    memory_.RememberClaim(*granted);
  }
  if (!pending.settlement) return SettleOutcome::kSettled;
  return SettleInStore(granted, *pending.settlement, pending.text);
}

PendingWrite Deduplicator::State::PendingOf(const Claim& claim) {
  const std::lock_guard lock(mutex_);
  if (const PendingWrite* known = pending_.Find(claim.nonce)) return *known;
  PendingWrite pending{.request = {.keys = claim.keys, .nonce = claim.nonce}};
  if (!claim.local) pending.store_claim = claim;
  return pending;
}

void Deduplicator::State::Keep(PendingWrite pending) {
  const std::optional<PendingWrite> dropped = pending_.Set(std::move(pending));
  if (dropped)
    Report(dropped->request.keys.front(), "not written back: too many writes were pending");
}

void Deduplicator::State::Report(const std::string& key, std::string reason) {
  observer_.RecordPossibleDuplicate(key, reason);
  possible_duplicates_.push_back({key, std::move(reason)});
  if (possible_duplicates_.size() > kMaxPossibleDuplicates) possible_duplicates_.pop_front();
}

template <typename T>
bool Deduplicator::State::Answered(const Result<T>& reply) {
  if (!reply) observer_.RecordStoreError();
  const bool away = !reply && tables::IsAway(reply.error().code);
  const std::lock_guard lock(mutex_);
  if (away && outage_.Begin()) observer_.RecordOutage(reply.error(), options_.outage);
  if (!away && outage_.End()) observer_.RecordRecovery();
  return !away;
}

// ---- The outside ----

Deduplicator::Deduplicator(DeduplicatorOptions options, Claims* claims, const Runtime& runtime)
    : state_(std::make_unique<State>(options, claims, runtime)) {}

Deduplicator::~Deduplicator() = default;

Result<ClaimReply> Deduplicator::Take(const ClaimRequest& request) {
  return state_->Check(request, RowStatus::kClaimed);
}
Later<ClaimReply> Deduplicator::Take(ClaimRequest request, WorkerPool* workers) {
  return state_->Begin(std::move(request), RowStatus::kClaimed, workers);
}
Later<ClaimReply> Deduplicator::Mark(ClaimRequest request, WorkerPool* workers) {
  return state_->Begin(std::move(request), RowStatus::kDone, workers);
}
bool Deduplicator::BeginsWithoutBlocking() const { return state_->BeginsWithoutBlocking(); }
Later<std::optional<ClaimReply>> Deduplicator::TryMarkWith(ClaimRequest request,
                                                           const Effect& effect) {
  return state_->TryMarkWith(std::move(request), effect);
}
Result<SettleOutcome> Deduplicator::Renew(Claim* claim) {
  return state_->Settle(claim, Settlement::kRenewed);
}
Result<SettleOutcome> Deduplicator::Complete(const Claim& claim, std::string_view result) {
  TRY(VerifyResult(result));
  Claim copy = claim;
  return state_->Settle(&copy, Settlement::kCompleted, result);
}
Result<SettleOutcome> Deduplicator::Release(const Claim& claim) {
  Claim copy = claim;
  return state_->Settle(&copy, Settlement::kReleased);
}
Result<SettleOutcome> Deduplicator::Fail(const Claim& claim, std::string_view why) {
  Claim copy = claim;
  return state_->Settle(&copy, Settlement::kFailed, why);
}
std::vector<tables::TransactAction> Deduplicator::Completion(const Claim& claim) {
  return state_->Completion(claim);
}
void Deduplicator::NoteCompletion(const Claim& claim) { state_->NoteCompletion(claim); }
bool Deduplicator::in_fallback() const { return state_->in_fallback(); }
std::vector<PossibleDuplicate> Deduplicator::PossibleDuplicates() const {
  return state_->possible_duplicates();
}

}  // namespace tidemark::dedup
