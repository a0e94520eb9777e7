// Attempts decides whether a person may try a secret again. A slot is taken before the secret is
// checked, because requests that come at once would otherwise all find a count below the limit.
//
//   attempts.Reserve({.subject = s, .name = n, .attempt_id = id}, &workers)
//       .Then([&](Result<Decision> decision) -> Later<SettleReply> {
//         if (!decision || decision->verdict != Verdict::kPermitted) return Refuse(decision);
//         const bool right = Verify(secret);
//         return attempts.Settle({..., .attempt_id = id, .right = right}, &workers);
//       });
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
// called from any thread. All calls block, except those that return a Later.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/attempts/account_store.h"
#include "apps/attempts/author.h"
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
  // The person's other identifiers. The limits and the ceiling are for all of them together, but a
  // failure is counted once, under the subject: a request that does not name that one does not see
  // it. So every request should name all identifiers that the caller knows.
  std::vector<Subject> also = {};
  // Where the attempt comes from. A source has a limit of its own over all subjects, by the
  // policy's rule for sources. A device that has a lane may use a source that is locked.
  std::optional<Subject> source = std::nullopt;
  Author by = {};
};

struct SettleRequest {
  Subject subject;
  Name name;  // As reserved, like the id. Method and lane are taken from the reservation.
  std::string attempt_id;
  std::string device = {};  // After a success it is a known device.
  std::string method_type = {};
  bool right = false;
  // The length of the lock that this failure may set; nullopt: the policy's.
  std::optional<std::chrono::seconds> lock_length = std::nullopt;
  std::vector<Subject> also = {};  // As reserved.
  Author by = {};
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

struct StandingState {
  AccountState state = AccountState::kBlocked;
  std::string reason = {};
  EpochSeconds since = 0;
};
struct StandingDevice {
  std::string lane = {};
  std::set<std::string> succeeded_at = {};  // The classifiers for which it has a budget of its own.
  EpochSeconds until = 0;
};
// Failures since the last success. At the policy's ceiling they lock.
struct StandingFailures {
  std::string classifier = {};
  std::string lane = {};  // Empty: of everybody without a lane.
  uint64_t failures = 0;
};
// All that is known of a subject.
struct Standing {
  std::vector<Count> counts = {};
  std::vector<Lock> locks = {};  // With the counts that hold a journey.
  std::vector<StandingState> states = {};
  std::vector<StandingDevice> devices = {};
  std::vector<StandingFailures> failures = {};
  // The classifiers that too many failures in a row have locked, in any lane.
  std::set<std::string> at_ceiling = {};
  EmailFraud email_fraud = EmailFraud::kPending;
};

class Account;
class Engine;
struct Action;

class Attempts {
 public:
  // The store outlives this.
  Attempts(Policy policy, AccountStore* store, const Runtime& runtime);
  ~Attempts();

  // Both wait neither for the account nor for the write, so a caller may have many requests in
  // flight. When another request changes the account first, the decision is made again on one of
  // the workers; what depends on several accounts begins there. This outlives the answer.
  Later<Decision> Reserve(ReserveRequest request, WorkerPool* workers);
  Later<SettleReply> Settle(SettleRequest request, WorkerPool* workers);
  // Whether these two return at once, so that a thread that must not block may call them.
  bool BeginsWithoutBlocking() const;
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
  Status ClearJourney(const std::vector<Subject>& subjects, const std::string& journey,
                      const Author& by = {});

  // Plain counters: they count and set no lock.
  Result<uint64_t> Increment(const IncrementRequest& request);
  Result<uint64_t> Get(const Subject& subject, const Name& name);
  // The sum over all methods of the count.
  Result<uint64_t> Sum(const Subject& subject, const Name& name);
  // All counts that are not zero and have not expired.
  Result<std::vector<Count>> GetAll(const Subject& subject);
  Status Reset(const Subject& subject, const Name& name, const Author& by = {});
  Status ResetAll(const Subject& subject, const Author& by = {});

  // Returns the lock that holds. An existing lock keeps its end, unless the new lock is permanent.
  // kInvalid for a lock that no rule asks for, or for the lane of an unknown device. A lock is for
  // the lane of its name only; a state is for all lanes.
  Result<Lock> SetLock(const Subject& subject, const Lock& lock, std::chrono::seconds length,
                       const Author& by = {});
  // Removes the lock and the counts that led to it.
  Status Unlock(const Subject& subject, const Name& name, const Author& by = {});
  // Lifts the subject's locks that rules have set and that `matches` is true for, and the ceiling
  // when that is wanted. Locks that a person has set stay. Returns what was lifted.
  struct Lifting {
    std::function<bool(const Lock&)> matches;
    bool ceiling = false;
    bool sources = false;  // False: nothing of a source is lifted.
  };
  struct Lifted {
    std::vector<Lock> locks = {};
    std::set<std::string> ceilings = {};  // Classifiers.
  };
  Result<Lifted> LiftSetByRules(const Subject& subject, const Lifting& lifting, const Author& by);
  // With the counts that hold a journey (OnLimit::kHold), which Unlock lifts too.
  Result<std::vector<Lock>> Locks(const Subject& subject);

  // The reason is stored, without addresses.
  Status SetState(const Subject& subject, AccountState state, const std::string& reason,
                  const Author& by = {});
  Status ClearState(const Subject& subject, AccountState state, const Author& by = {});
  Result<std::vector<AccountState>> States(const Subject& subject);
  // A denial with a life becomes "allowed" when it ends. An address without a record is pending.
  Status SetEmailFraud(const Subject& email, EmailFraud state,
                       std::optional<std::chrono::seconds> life, const Author& by = {});
  Result<EmailFraud> GetEmailFraud(const Subject& email);
  // Resets the failures in a row, in all lanes.
  Status LiftCeiling(const Subject& subject, const Author& by = {});
  // Adds what is known of one id to another id of the same person, for an address whose key was
  // changed: of each count, lock, state and number of failures the stricter one holds. What was
  // taken over before and cleared since does not come back. Several ids may be taken over into one.
  // Devices are not: their lanes are made from the id.
  Status TakeOver(const Subject& from, const Subject& to, const Author& by = {});
  // All that is known of the subject, as of one moment.
  Result<Standing> GetStanding(const Subject& subject);

  const Policy& policy() const { return policy_; }

 private:
  // The accounts of a person's other identifiers, loaded and with their lanes.
  struct Person;
  // A settled attempt, and what is written after it in other accounts.
  struct Ended;

  Result<Person> LoadOthers(const std::vector<Subject>& also, const Subject& subject,
                            const Action& action, const std::string& device) const;
  Result<Decision> ReserveIn(const ReserveRequest& request, Account* account) const;
  Result<Ended> SettleIn(const SettleRequest& request, Account* account) const;
  Result<Decision> DecideFor(Account account, const ReserveRequest& request) const;
  Later<Decision> BeginReserve(ReserveRequest request, WorkerPool* workers);
  Later<SettleReply> BeginSettle(SettleRequest request, WorkerPool* workers);
  Later<Decision> ReserveSlot(ReserveRequest request, WorkerPool* workers);

  // Those that the policy knows and that are not zero.
  std::vector<Count> KnownCounts(const Account& account) const;

  // ---- Slots of a source ----

  Result<Action> ActionOfSource() const;
  // Empty when the source permits the attempt, and then the request keeps its source only if a slot
  // was taken there.
  Result<std::optional<Decision>> JudgeBySource(Decision of_source, ReserveRequest* request) const;
  Result<Decision> ReserveAtSource(const ReserveRequest& request, Account* account) const;
  Status WithdrawAtSource(const ReserveRequest& request);
  // For a reservation that got no slot; returns its answer.
  Result<Decision> GiveBackAtSource(const ReserveRequest& request, Result<Decision> decision);
  Status SettleAtSource(const SettleRequest& request, const Ended& ended);
  // What a settled attempt changes in other accounts, each in a write of its own. All of it may be
  // repeated: a caller who gets an error asks again with the same attempt id.
  Result<SettleReply> FinishElsewhere(const SettleRequest& request, const Ended& ended);

  const Policy policy_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace tidemark::attempts
