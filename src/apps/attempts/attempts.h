// Attempts decides whether a person may try again, and counts so that concurrency cannot get around
// it: a slot is taken before the secret is checked.
//
//   Reservation slot = TRY(attempts.Reserve({.subject = s, .name = n, .attempt_id = id}));
//   if (slot.decision.verdict != Verdict::kPermitted) return Refuse(slot.decision);
//   bool right = Verify(secret);
//   Decision after = TRY(attempts.Settle({..., .attempt_id = id, .right = right}));
//
// In any run, over any number of processes, the verifications started and not succeeded within a
// window are at most the limit. Success gives the slot back, failure books it, a crash keeps it.
// The failure that reaches the limit sets the lock in the same transaction. Attempt ids make every
// call safe to repeat. An Error is "cannot decide" and never means permitted: kUnavailable,
// kUnknown, kCorrupt or kInternal when the store failed, whatever it said; kInvalid when a name or
// an identifier is missing or not known.
//
// Every change of a lock or state is told to the audit, without secrets or addresses.
// May be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "apps/attempts/decision.h"
#include "apps/attempts/names.h"
#include "apps/attempts/policy.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/result.h"
#include "tables/tables.h"

namespace tidemark::attempts {

struct AttemptsOptions {
  std::string table = "authentication-attempts";
  std::chrono::seconds device_life = std::chrono::hours(90 * 24);
};

struct ReserveRequest {
  Subject subject;
  Name name;
  std::string attempt_id = {};  // Chosen by the caller, different for each try of a person.
  // A device that the caller recognised: its lane is its own once it has succeeded.
  std::string device = {};
  // Kept with the count when given. The type of the method chooses the rule, and stands for the
  // method when the name has none.
  std::string notification_type = {};
  std::string method_type = {};
};

struct SettleRequest {
  Subject subject;
  Name name;  // As it was reserved, like the id. Method and lane are those of the reservation.
  std::string attempt_id;
  std::string device = {};  // Known from now on when it is right.
  std::string method_type = {};
  bool right = false;
  // For a lock that this failure sets: another length than the policy's. 0: the policy's.
  std::chrono::seconds lock_length = std::chrono::seconds(0);
};

struct SettleReply {
  bool known = true;  // False: there is no such attempt under way or settled, and nothing changed.
  // How it is recorded. False for what was right: it came after the verification deadline, was
  // booked as a failure by then, and must be refused.
  bool right = false;
  Decision decision = {};  // What the next Reserve would say.
};

struct IncrementRequest {
  Subject subject;
  Name name;
  std::string attempt_id = {};                              // Empty: not safe to repeat.
  std::optional<std::chrono::seconds> life = std::nullopt;  // nullopt: the rule's.
  std::string notification_type = {};
  std::string method_type = {};
};

// What a call that does not wait gives: the reply, or the rest of the work, which may block and is
// to be done on a thread that may. It is given exactly once, on this thread or another; whoever
// gets it must not block.
template <typename Reply>
using Rest = std::function<Result<Reply>()>;
template <typename Reply>
using Outcome = std::variant<Result<Reply>, Rest<Reply>>;
template <typename Reply>
using Later = std::function<void(Outcome<Reply>)>;

class Account;
class Engine;

class Attempts {
 public:
  // All outlive this; logger and metrics may be null.
  Attempts(AttemptsOptions options, Policy policy, tables::Tables* tables, const Clock* clock,
           Random* random, const Logger* logger, Metrics* metrics);
  ~Attempts();

  Status CreateTable();

  Result<Decision> Reserve(const ReserveRequest& request);
  Result<SettleReply> Settle(const SettleRequest& request);
  // The same for a caller with many in flight, who does not wait. This outlives what was begun.
  void Reserve(ReserveRequest request, Later<Decision> done);
  void Settle(SettleRequest request, Later<SettleReply> done);
  // Takes a slot that is never given back, for what has no outcome, such as sending a code. The
  // call that reaches the limit is refused.
  Result<Decision> Spend(const ReserveRequest& request);
  // What Reserve would say, without taking a slot.
  Result<Decision> Decide(const ReserveRequest& request);
  // For a journey that sums several identifiers of one person (subject and pairwise id): any
  // count at its limit refuses. Empty and repeated identifiers count once.
  Result<Decision> DecideJourney(const std::vector<Subject>& subjects, const std::string& journey);
  // When all of it has succeeded: all counts of the journey go, of every identifier, and the locks
  // that the policy lets it lift, with the counts that lead to them. What the counts are is told to
  // the audit before they go. Each identifier is cleared as a whole; on an Error some may be.
  Status ClearJourney(const std::vector<Subject>& subjects, const std::string& journey);

  // The seed's plain forms. They count, and lock nobody.
  Result<uint64_t> Increment(const IncrementRequest& request);
  Result<uint64_t> Get(const Subject& subject, const Name& name);
  // Over all methods of the count.
  Result<uint64_t> Sum(const Subject& subject, const Name& name);
  // The live ones that are not zero, in one query.
  Result<std::vector<Count>> GetAll(const Subject& subject);
  Status Reset(const Subject& subject, const Name& name);
  Status ResetAll(const Subject& subject);

  // An existing lock is never moved: the reply is what holds. It is for one lane, that of the name;
  // a state is for all.
  Result<Lock> SetLock(const Subject& subject, const Lock& lock, std::chrono::seconds length);
  // With the counts that led to the lock.
  Status Unlock(const Subject& subject, const Name& name);
  Result<std::vector<Lock>> Locks(const Subject& subject);

  Status SetState(const Subject& subject, AccountState state, const std::string& reason);
  Status ClearState(const Subject& subject, AccountState state);
  Result<std::vector<AccountState>> States(const Subject& subject);
  // A denial with a life ends in "allowed"; without a record an address is pending.
  Status SetEmailFraud(const Subject& email, EmailFraud state,
                       std::optional<std::chrono::seconds> life);
  Result<EmailFraud> GetEmailFraud(const Subject& email);
  // What the ceiling of failures in a row has locked, by classifier, in whatever lane.
  Result<std::set<std::string>> AtCeiling(const Subject& subject);
  // Lifts it, in all lanes.
  Status LiftCeiling(const Subject& subject);

  const Policy& policy() const { return policy_; }

 private:
  Result<Decision> ReserveIn(const ReserveRequest& request, Account* account) const;
  Result<SettleReply> SettleIn(const SettleRequest& request, Account* account) const;

  const Policy policy_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace tidemark::attempts
