#include "apps/dedup/deduplicator.h"

#include <deque>
#include <functional>
#include <mutex>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "apps/dedup/memory.h"
#include "apps/dedup/observer.h"
#include "apps/dedup/outage.h"
#include "apps/dedup/pending.h"
#include "apps/dedup/rollout.h"

namespace tidemark::dedup {

namespace {

using Settlement = Memory::Settlement;

constexpr size_t kNonceBytes = 16;
constexpr size_t kMaxPossibleDuplicates = 1000;
// Marks that one call writes back for others, beside those of its own keys: few enough not to be
// felt, and more than come in meanwhile.
constexpr size_t kWrittenBackByACall = 16;

}  // namespace

class Deduplicator::State {
 public:
  State(const DeduplicatorOptions& options, Claims* claims, const Clock* clock, Random* random,
        const Logger* logger, Metrics* metrics)
      : options_(options),
        claims_(*claims),
        clock_(*clock),
        random_(*random),
        observer_(logger, metrics),
        memory_({.life = options.memory_life,
                 .lease = claims->options().lease,
                 .max_rows = options.max_memory,
                 .max_failures = claims->options().max_failures},
                clock),
        pending_(options.max_memory),
        outage_(options.outage, clock) {}

  // nullopt: an effect was refused.
  using Answer = Result<std::optional<ClaimReply>>;
  // How a check is put to the store, and what becomes of a key that is new there and in memory.
  struct Manner {
    std::function<Answer(Claims&, const ClaimRequest&)> ask;
    RowStatus in_store;
    RowStatus in_memory;
  };

  static Answer AskToTake(Claims& claims, const ClaimRequest& request) {
    return TRY(claims.Take(request));
  }
  static Answer AskToMark(Claims& claims, const ClaimRequest& request) {
    return TRY(claims.Mark(request));
  }

  Answer Check(ClaimRequest request, const Manner& manner);
  void TryMarkWith(ClaimRequest request, const Effect& effect, Claims::Granting done);
  Result<SettleOutcome> Settle(Claim* claim, Settlement settlement, std::string_view text = {});

  std::vector<tables::TransactAction> Completion(const Claim& claim) {
    return claims_.Completion(claim);
  }
  void Completed(const Claim& claim) {
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
  Answer Decide(const ClaimRequest& request, const Manner& manner);
  Answer DecideAlone(const ClaimRequest& request, const Manner& manner);
  Result<ClaimReply> DecideInMemory(const ClaimRequest& request, RowStatus status);
  bool Reserve(const std::vector<std::string>& keys);
  void Unreserve(const std::vector<std::string>& keys);
  bool IsStoreCurrent() const;
  void Remember(const ClaimRequest& request, RowStatus status, const ClaimReply& reply);
  Result<SettleOutcome> SettleAway(Claim* claim, const Pending& settled, Error error);
  SettleOutcome SettleInMemory(Claim* claim, Settlement settlement, std::string_view text);
  Result<SettleOutcome> SettleInStore(Claim* claim, Settlement settlement, std::string_view text);

  bool WriteBack(const std::vector<std::string>& keys, std::string_view except_nonce = {});
  Result<SettleOutcome> Bring(const Pending& pending, Claim* granted);
  Pending PendingOf(const Claim& claim);
  void Keep(Pending pending);
  void Report(const std::string& key, std::string reason);

  bool UsesStore(const std::vector<std::string>& keys) const {
    return IsInShare(keys.front(), options_.rollout_percent);
  }
  // Whether the store answered, if only with a refusal. Keeps account of outages.
  template <typename T>
  bool Answered(const Result<T>& reply);

  const DeduplicatorOptions options_;
  Claims& claims_;
  const Clock& clock_;
  Random& random_;
  Observer observer_;

  mutable std::mutex mutex_;  // Never held while the store is asked.
  Memory memory_;
  PendingWrites pending_;
  Outage outage_;
  std::deque<PossibleDuplicate> possible_duplicates_;
  std::unordered_set<std::string> being_checked_;
};

// ---- Checks ----

Deduplicator::State::Answer Deduplicator::State::Check(ClaimRequest request, const Manner& manner) {
  const auto start = clock_.Monotonic();
  // Here and not in the claims: memory and the store must know the claim by the same nonce.
  if (request.nonce.empty()) request.nonce = random_.Hex(kNonceBytes);
  Answer answer = Decide(request, manner);
  if (answer && !*answer) return answer;  // It comes again with another effect, and counts then.
  const std::string_view key = request.keys.empty() ? std::string_view() : request.keys.front();
  observer_.Checked(key, answer ? Result<ClaimReply>(**answer) : answer.error(),
                    clock_.Monotonic() - start);
  return answer;
}

Deduplicator::State::Answer Deduplicator::State::Decide(const ClaimRequest& request,
                                                        const Manner& manner) {
  TRY(VerifyKeys(request.keys));
  if (!UsesStore(request.keys)) {
    const std::lock_guard lock(mutex_);
    return TRY(DecideInMemory(request, manner.in_memory));
  }
  // Of two checks of a key at once one might be answered by the store and the other, which does
  // not reach it, by memory; both would hear that it is new.
  if (!Reserve(request.keys)) {
    return ClaimReply{.outcome = ClaimOutcome::kRunning,
                      .reason = "Another delivery of it is being checked here"};
  }
  Answer answer = DecideAlone(request, manner);
  Unreserve(request.keys);
  return answer;
}

void Deduplicator::State::TryMarkWith(ClaimRequest request, const Effect& effect,
                                      Claims::Granting done) {
  if (!VerifyKeys(request.keys) || !UsesStore(request.keys) || !IsStoreCurrent() ||
      !Reserve(request.keys)) {
    return done(std::nullopt);
  }
  const auto start = clock_.Monotonic();
  if (request.nonce.empty()) request.nonce = random_.Hex(kNonceBytes);
  claims_.TryMarkWith(
      request, effect,
      [this, start, request, done = std::move(done)](std::optional<ClaimReply> reply) {
        if (reply) {
          Remember(request, RowStatus::kDone, *reply);
          observer_.Checked(request.keys.front(), *reply, clock_.Monotonic() - start);
        }
        Unreserve(request.keys);
        done(std::move(reply));
      });
}

// Whether the store is there, and knows all that was decided without it.
bool Deduplicator::State::IsStoreCurrent() const {
  const std::lock_guard lock(mutex_);
  return !outage_.InEffect() && pending_.size() == 0;
}

Deduplicator::State::Answer Deduplicator::State::DecideAlone(const ClaimRequest& request,
                                                             const Manner& manner) {
  if (!in_fallback() && WriteBack(request.keys)) {
    Answer answer = manner.ask(claims_, request);
    if (Answered(answer)) {
      if (answer && *answer) Remember(request, manner.in_store, **answer);
      return answer;
    }
  }
  if (options_.policy == OutagePolicy::kRefuse) {
    return ClaimReply{.outcome = ClaimOutcome::kRefused, .reason = "The store is away"};
  }
  const std::lock_guard lock(mutex_);
  ClaimReply reply = TRY(DecideInMemory(request, manner.in_memory));
  if (!reply.claim) return reply;
  Pending pending{.request = request};
  if (manner.in_memory == RowStatus::kDone) pending.settlement = Settlement::kCompleted;
  Keep(std::move(pending));
  return reply;
}

// False, and nothing is reserved, when one of the keys is.
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
  Pending settled = PendingOf(*claim);
  settled.settlement = settlement;
  settled.text = std::string(text);
  Error error{ErrorCode::kUnavailable, "the store of claims is away"};
  if (!in_fallback() && WriteBack({}, claim->nonce)) {
    Claim granted = *claim;
    Result<SettleOutcome> outcome = Bring(settled, &granted);
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

// A local claim is settled in memory. Of one that the table granted only the table can say whether
// it still stands: what is to become of it is kept, and the caller told that it is not certain.
Result<SettleOutcome> Deduplicator::State::SettleAway(Claim* claim, const Pending& settled,
                                                      Error error) {
  const std::lock_guard lock(mutex_);
  const SettleOutcome outcome = SettleInMemory(claim, *settled.settlement, settled.text);
  if (outcome == SettleOutcome::kSuperseded) return outcome;
  if (settled.settlement != Settlement::kRenewed) Keep(settled);
  if (claim->local) return outcome;
  error.message += "; what became of the claim is written back when it returns";
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

// Writes what memory decided about the keys into the store before it is asked about them, and
// a few others. False when it is away (again).
bool Deduplicator::State::WriteBack(const std::vector<std::string>& keys,
                                    std::string_view except_nonce) {
  std::vector<Pending> chosen;
  {
    const std::lock_guard lock(mutex_);
    chosen = pending_.For(keys, kWrittenBackByACall);
  }
  for (const Pending& pending : chosen) {
    if (pending.request.nonce == except_nonce) continue;
    Claim granted;
    const Result<SettleOutcome> outcome = Bring(pending, &granted);
    if (!Answered(outcome)) return false;
    // What is refused as such would be refused again. Anything else the caller is about to
    // hear about itself.
    if (!outcome && outcome.error().code != ErrorCode::kInvalid) return true;
    const std::lock_guard lock(mutex_);
    const std::string& key = pending.request.keys.front();
    if (!outcome) Report(key, outcome.error().message);
    if (pending.store_claim && outcome && *outcome == SettleOutcome::kSuperseded) {
      Report(key, "superseded: another took it over meanwhile");
    }
    pending_.Remove(pending);
  }
  return true;
}

// Makes the store know the claim, and what became of it. `granted` is set to the claim as the
// store knows it. When a local claim turns out to be another's, that is reported.
Result<SettleOutcome> Deduplicator::State::Bring(const Pending& pending, Claim* granted) {
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

Pending Deduplicator::State::PendingOf(const Claim& claim) {
  const std::lock_guard lock(mutex_);
  if (const Pending* known = pending_.Find(claim.nonce)) return *known;
  Pending pending{.request = {.keys = claim.keys, .nonce = claim.nonce}};
  if (!claim.local) pending.store_claim = claim;
  return pending;
}

void Deduplicator::State::Keep(Pending pending) {
  const std::optional<Pending> dropped = pending_.Set(std::move(pending));
  if (dropped) Report(dropped->request.keys.front(), "not written back: too many were waiting");
}

void Deduplicator::State::Report(const std::string& key, std::string reason) {
  observer_.MaybeDuplicate(key, reason);
  possible_duplicates_.push_back({key, std::move(reason)});
  if (possible_duplicates_.size() > kMaxPossibleDuplicates) possible_duplicates_.pop_front();
}

template <typename T>
bool Deduplicator::State::Answered(const Result<T>& reply) {
  if (!reply) observer_.StoreFailed();
  const bool away = !reply && IsAway(reply.error().code);
  const std::lock_guard lock(mutex_);
  if (away && outage_.Begin()) observer_.OutageBegan(reply.error(), options_.outage);
  if (!away && outage_.End()) observer_.OutageEnded();
  return !away;
}

// ---- The outside ----

Deduplicator::Deduplicator(DeduplicatorOptions options, Claims* claims, const Clock* clock,
                           Random* random, const Logger* logger, Metrics* metrics)
    : state_(std::make_unique<State>(options, claims, clock, random, logger, metrics)) {}

Deduplicator::~Deduplicator() = default;

Result<ClaimReply> Deduplicator::Take(const ClaimRequest& request) {
  return *TRY(state_->Check(request, {.ask = State::AskToTake,
                                      .in_store = RowStatus::kClaimed,
                                      .in_memory = RowStatus::kClaimed}));
}
Result<ClaimReply> Deduplicator::Mark(const ClaimRequest& request) {
  return *TRY(state_->Check(
      request,
      {.ask = State::AskToMark, .in_store = RowStatus::kDone, .in_memory = RowStatus::kDone}));
}
Result<std::optional<ClaimReply>> Deduplicator::MarkWith(const ClaimRequest& request,
                                                         const Effect& effect) {
  return state_->Check(
      request, {.ask = [&](Claims& claims,
                           const ClaimRequest& asked) { return claims.MarkWith(asked, effect); },
                .in_store = RowStatus::kDone,
                .in_memory = RowStatus::kClaimed});
}
void Deduplicator::TryMarkWith(ClaimRequest request, const Effect& effect, Claims::Granting done) {
  state_->TryMarkWith(std::move(request), effect, std::move(done));
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
void Deduplicator::Completed(const Claim& claim) { state_->Completed(claim); }
bool Deduplicator::in_fallback() const { return state_->in_fallback(); }
std::vector<PossibleDuplicate> Deduplicator::PossibleDuplicates() const {
  return state_->possible_duplicates();
}

}  // namespace tidemark::dedup
