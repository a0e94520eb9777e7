// Attempts decides whether a person may try a secret again. A slot is taken before the secret is
// checked, because requests that come at once would otherwise all find a count below the limit.
//
//   Reservation slot = TRY(attempts.Reserve({.subject = s, .name = n, .attempt_id = id}));
//   if (slot.decision.verdict != Verdict::kPermitted) return Refuse(slot.decision);
//   bool right = Verify(secret);
//   Decision after = TRY(attempts.Settle({..., .attempt_id = id, .right = right}));
//
// Over any number of threads and processes, no more verifications are started in a window than the
// limit allows, apart from those that succeed. A success gives the slot back, a failure counts it,
// and the slot of a process that crashed counts as a failure after a while. The failure that
// reaches the limit sets the lock in the same write.
//
// Every call may be repeated with the same attempt id and then gives the same answer. An Error
// means "cannot decide" and never "permitted": kUnavailable, kUnknown, kCorrupt or kInternal when
// the store failed; kInvalid when a name or an identifier is missing or unknown.
//
// Every change of a lock or state is written to the audit log, without secrets or addresses. May be
// called from any thread. All calls block, except the two that return a Later.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/attempts/account_store.h"
#include "apps/attempts/decision.h"
#include "apps/attempts/names.h"
#include "apps/attempts/policy.h"
#include "base/later.h"
#include "base/result.h"
#include "base/runtime.h"
#include "base/worker_pool.h"

namespace tidemark::attempts {

struct ReserveRequest {
  Subject subject;
  Name name;
  std::string attempt_id = {};  // Chosen by the caller, a new one for each try of a person.
  // A device that the caller recognised. Once it has succeeded, it has counts and locks of its own.
  std::string device = {};
  // Stored with the count when given. The type of the method chooses the rule, and is used as the
  // method when the name has none.
  std::string notification_type = {};
  std::string method_type = {};
};

struct SettleRequest {
  Subject subject;
  Name name;  // As reserved, like the id. Method and lane are taken from the reservation.
  std::string attempt_id;
  std::string device = {};  // After a success it is a known device.
  std::string method_type = {};
  bool right = false;
  // The length of the lock that this failure may set; 0: the policy's.
  std::chrono::seconds lock_length = std::chrono::seconds(0);
};

struct SettleReply {
  bool known = true;  // False: there is no such attempt, open or settled, and nothing changed.
  // As recorded. It is false for a right answer that came after the verification deadline: by then
  // the attempt was booked as a failure, and the person must be refused.
  bool right = false;
  Decision decision = {};  // What the next Reserve would decide.
};

struct IncrementRequest {
  Subject subject;
  Name name;
  std::string attempt_id = {};                              // Empty: a repeat counts again.
  std::optional<std::chrono::seconds> life = std::nullopt;  // nullopt: the rule's.
  std::string notification_type = {};
  std::string method_type = {};
};

class Account;
class Engine;

class Attempts {
 public:
  // The store outlives this.
  Attempts(Policy policy, AccountStore* store, const Runtime& runtime);
  ~Attempts();

  Result<Decision> Reserve(const ReserveRequest& request);
  Result<SettleReply> Settle(const SettleRequest& request);
  // The same for a caller with many requests in flight. They read the account on the calling thread
  // and do not wait for the write. When another request changes the account first, the decision is
  // made again on one of the workers. This outlives the answer.
  Later<Decision> Reserve(ReserveRequest request, WorkerPool* workers);
  Later<SettleReply> Settle(SettleRequest request, WorkerPool* workers);
  // Takes a slot that is never given back, for actions that are neither right nor wrong, such as
  // sending a code. The call that reaches the limit is refused.
  Result<Decision> Spend(const ReserveRequest& request);
  // What Reserve would decide, without taking a slot.
  Result<Decision> Decide(const ReserveRequest& request);
  // The same for a caller that does not block. This outlives the answer.
  Later<Decision> SubmitDecide(ReserveRequest request);
  // For a person with several identifiers (subject and pairwise id): adds up their counts, and
  // refuses when any sum is at its limit. Repeated identifiers count once.
  Result<Decision> DecideJourney(const std::vector<Subject>& subjects, const std::string& journey);
  // Called when the whole journey has succeeded. Removes all counts of the journey, of every
  // identifier, and the locks that the journey lifts by the policy, with the counts that lead to
  // them. The audit log gets the counts before they are removed. Each identifier is cleared as a
  // whole; after an Error some of them may be.
  Status ClearJourney(const std::vector<Subject>& subjects, const std::string& journey);

  // Plain counters: they count and set no lock.
  Result<uint64_t> Increment(const IncrementRequest& request);
  Result<uint64_t> Get(const Subject& subject, const Name& name);
  // The sum over all methods of the count.
  Result<uint64_t> Sum(const Subject& subject, const Name& name);
  // All counts that are not zero and have not expired.
  Result<std::vector<Count>> GetAll(const Subject& subject);
  Status Reset(const Subject& subject, const Name& name);
  Status ResetAll(const Subject& subject);

  // Returns the lock that holds. An existing lock keeps its end, unless the new lock is permanent.
  // kInvalid for a lock that no rule asks for, or for the lane of an unknown device. A lock is for
  // the lane of its name only; a state is for all lanes.
  Result<Lock> SetLock(const Subject& subject, const Lock& lock, std::chrono::seconds length);
  // Removes the lock and the counts that led to it.
  Status Unlock(const Subject& subject, const Name& name);
  // With the counts that hold a journey (OnLimit::kHold), which Unlock lifts too.
  Result<std::vector<Lock>> Locks(const Subject& subject);

  Status SetState(const Subject& subject, AccountState state, const std::string& reason);
  Status ClearState(const Subject& subject, AccountState state);
  Result<std::vector<AccountState>> States(const Subject& subject);
  // A denial with a life becomes "allowed" when it ends. An address without a record is pending.
  Status SetEmailFraud(const Subject& email, EmailFraud state,
                       std::optional<std::chrono::seconds> life);
  Result<EmailFraud> GetEmailFraud(const Subject& email);
  // The classifiers that too many failures in a row have locked, in any lane.
  Result<std::set<std::string>> AtCeiling(const Subject& subject);
  // Resets the failures in a row, in all lanes.
  Status LiftCeiling(const Subject& subject);

  const Policy& policy() const { return policy_; }

 private:
  Result<Decision> ReserveIn(const ReserveRequest& request, Account* account) const;
  Result<SettleReply> SettleIn(const SettleRequest& request, Account* account) const;
  Result<Decision> DecideFor(Account account, const ReserveRequest& request) const;

  const Policy policy_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace tidemark::attempts
