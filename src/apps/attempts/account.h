// An Account is all that is known of one subject at one moment, and what is to change: all rows of
// the subject, decoded (docs/formats/attempts.md). Rules work on it and know nothing of stores.
//
//   Account account = Account::Decode(subject, rows, clock.NowSeconds(), &skipped);
//   Decision decision = Reserve(policy, action, id, &account);      // rules.h
//   if (account.IsChanged()) store.Write(account.ChangeTo(new_version));
//
// Expired rows are absent, whether the sweeper has deleted them or not. Time never goes back for a
// subject: the head row remembers the latest time at which anything was decided. But a time that is
// further ahead than clocks differ came from a broken clock and is forgotten. A row that cannot
// be read is left out, and its sort key is reported.
//
// A value; one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/attempts/account_store.h"
#include "apps/attempts/decision.h"
#include "apps/attempts/names.h"
#include "base/clock.h"
#include "item/value.h"

namespace tidemark::attempts {

// How many attempts of one subject may be open at once, over all counts.
inline constexpr size_t kMaxOpen = 64;
// A time further ahead of our clock than this was seen by a broken clock. One jump must not move
// the locks of a subject for ever.
inline constexpr EpochSeconds kMaxLeadSeconds = 86'400;

// An attempt that is reserved and not settled yet. It is kept in the head row and not in the row of
// its count: the count may expire while the attempt is open, and its slot must not expire with it.
struct OpenAttempt {
  std::string id;
  EpochSeconds at = 0;
  Name name;
  std::string notification_type = {};
  std::string method_type = {};
  // The text of the source that the attempt came from, where it has a slot too; empty: none.
  std::string source = {};
};

// How an attempt ended. It is remembered so that a repeated call gets the same answer.
struct Settled {
  std::string id;
  Name name;  // Journey, count and classifier; method and lane are empty.
  bool right = false;
  bool reached = false;  // This attempt reached the limit.
  // As in OpenAttempt. The slot there is settled by a write of its own; a call that is repeated
  // because that write did not happen must find it.
  std::string source = {};
  EpochSeconds at = 0;  // Set when it is remembered.
};

struct CountRow {
  Name name;
  uint64_t count = 0;
  EpochSeconds until = 0;
  EpochSeconds last_updated = 0;
  std::vector<std::string> ids = {};  // Of the attempts counted, the newest last; at most 128.
  std::string notification_type = {};
  std::string method_type = {};

  // The count right after this id was counted; nullopt when the id is not in the list.
  std::optional<uint64_t> CountAt(std::string_view id) const;
};

// Who set a lock. Only a rule's lock may be lifted with those of many other people.
enum class SetBy { kUnknown, kRule, kPerson };

struct LockRow {
  Lock lock;
  SetBy set_by = SetBy::kUnknown;  // Unknown: an earlier or another program wrote the row.
  int64_t length = 0;              // Seconds; 0 for a permanent lock.
  EpochSeconds last_updated = 0;
  // Of the attempt that set the lock.
  std::string notification_type = {};
  std::string method_type = {};
};

// A state of the account or of an e-mail address; `value` is the attribute intervention_state.
struct StateRow {
  std::string sort_key;
  std::string value;
  std::string reason = {};
  std::optional<EpochSeconds> until = std::nullopt;
  EpochSeconds last_updated = 0;
};

// Failures since the last success, by classifier: a right password must not reset the failures at
// guessing codes.
using FailuresInARow = std::map<std::string, uint64_t, std::less<>>;

// A device that has succeeded before. It has counts and locks of its own: its lane. The lane is for
// the classifiers at which the device has succeeded; for all others it shares the common counts.
struct DeviceRow {
  std::string lane;
  std::set<std::string> succeeded_at = {};
  EpochSeconds until = 0;
  FailuresInARow failures_in_a_row = {};
};

// Another id of the same person, as it was when its rows were taken over.
struct TakenOver {
  std::string version = {};  // The version of its head; empty if it had none.
  EpochSeconds at = 0;
};
// Stands for every other id. No subject has this text.
inline constexpr std::string_view kAnyId = "*";

// A change of a lock, a state or a count, for the audit log.
struct AuditEvent {
  std::string what;
  // Logged before the write, for a value that the write destroys; empty: nothing is logged then.
  std::string ahead = {};
  std::string name;
  std::string reason = {};
  uint64_t count = 0;
  uint64_t limit = 0;  // 0: no limit was reached.
};

class Account {
 public:
  // From all rows of the subject. `skipped` gets the sort keys of rows that cannot be read.
  static Account Decode(const Subject& subject, const std::vector<item::Item>& rows,
                        EpochSeconds clock_now, std::vector<std::string>* skipped);

  const Subject& subject() const { return subject_; }
  EpochSeconds now() const { return now_; }
  // How far the time that was seen last is ahead of our clock; 0 when it is not too far ahead.
  int64_t excessive_lead() const { return excessive_lead_; }
  // From now on everything is judged and changed as at this time, until it is set again. For
  // attempts whose end is booked later than it happened.
  void SetNow(EpochSeconds now) { now_ = now; }
  // When a lock that is set now begins: the time rounded up to a second, so that no lock is shorter
  // than its length. The fraction is that of the clock with which the account was loaded.
  EpochSeconds lock_start() const { return now_ == loaded_at_ ? now_ + rounding_ : now_; }
  void SetFraction(std::chrono::milliseconds of_second) { rounding_ = of_second.count() > 0; }
  // Of the head row as loaded; nullopt when there is none.
  const std::optional<std::string>& version() const { return version_; }
  // Neither a head row nor any row that has not expired. A state without an end outlives the head.
  bool IsEmpty() const;

  // ---- Rows that exist and have not expired ----

  const CountRow* FindCount(const Name& name) const;
  std::vector<const CountRow*> Counts() const;
  // The count without a method, and the count of each method.
  std::vector<const CountRow*> MethodsOf(const Name& name) const;
  const std::vector<OpenAttempt>& open() const { return open_; }
  // By id, journey, count and classifier, in any lane and by any method.
  const OpenAttempt* FindOpen(std::string_view id, const Name& name) const;
  const Settled* FindSettled(std::string_view id, const Name& name) const;
  const Lock* FindLock(const Name& name) const;
  const LockRow* FindLockRow(const Name& name) const;
  std::vector<Lock> Locks() const;
  bool HasState(AccountState state) const;
  const StateRow* FindState(const std::string& sort_key) const;
  // Whether the device has succeeded at this classifier. A right password says nothing about who
  // holds the second factor.
  bool KnowsDevice(const std::string& lane, const std::string& classifier) const;
  // Whether the device has succeeded at anything.
  bool HasLane(const std::string& lane) const { return FindDevice(lane) != nullptr; }
  std::vector<const DeviceRow*> Devices() const { return FindAll<DeviceRow>(); }
  // Failures in a row of everybody without a lane.
  const FailuresInARow& failures_in_a_row() const { return failures_in_a_row_; }
  // Failures in a row of the name's lane and classifier.
  uint64_t FailuresOf(const Name& name) const;
  // The classifiers with at least so many failures in a row, in any lane.
  std::set<std::string> ClassifiersAt(uint64_t failures) const;

  // ---- Changes ----

  void Set(CountRow row);
  void Set(LockRow row);
  void Set(StateRow row);
  void Open(OpenAttempt attempt);
  // Removes the open attempt and remembers how it ended.
  void Close(const Settled& settled);
  // Removes the open attempt as if it had never been reserved.
  void Withdraw(std::string_view id, const Name& name);
  void Remember(Settled settled);
  void RememberDevice(const std::string& lane, const std::string& classifier, EpochSeconds until);
  void SetFailures(const Name& name, uint64_t failures);
  // In all lanes, for all classifiers; false when there were none.
  bool ForgetFailures();
  // In all lanes; false when there were none.
  bool ForgetFailuresOf(const std::string& classifier);
  void RemoveCount(const Name& name);
  void RemoveLock(const Name& name);
  void RemoveState(const std::string& sort_key);
  // Adds the rows of another id of the same person. If both ids have a row for the same thing, the
  // stricter one holds. Rows of devices are not added, because their lanes are made from the id.
  // Rows that were added by an earlier call are not added again, because they may have been cleared
  // here since then. Rows that were written there later are added. False when there was nothing
  // new.
  bool TakeOver(const Account& from);
  void Audit(AuditEvent event) { audit_.push_back(std::move(event)); }
  // The change is applied only if this other account still has the version that it was loaded with.
  void Require(const Account& other) {
    required_.push_back({.subject = other.subject_, .version = other.version_});
  }

  bool IsChanged() const { return head_changed_ || !touched_.empty(); }
  // All changes as one write. `version` is the new version of the head row.
  AccountChange ChangeTo(const std::string& version) const;
  const std::vector<AuditEvent>& audit() const { return audit_; }

 private:
  using Row = std::variant<CountRow, LockRow, StateRow, DeviceRow>;

  Account(Subject subject, EpochSeconds now)
      : subject_(std::move(subject)), now_(now), loaded_at_(now) {}
  void DecodeHead(const item::Item& row);
  bool DecodeRow(const std::string& sort_key, const item::Item& row);
  bool IsLive(const Row& row) const;
  template <typename T>
  const T* Find(const std::string& sort_key) const;
  // In the order of their sort keys.
  template <typename T>
  std::vector<const T*> FindAll() const;
  const DeviceRow* FindDevice(const std::string& lane) const;
  void Put(const std::string& sort_key, Row row);
  void Remove(const std::string& sort_key);
  // When the last of what the head guards ends: its rows and its open attempts. nullopt: a row has
  // no end, failures in a row are remembered, or what was cleared would be taken over again.
  std::optional<EpochSeconds> GuardedUntil() const;
  item::Item EncodeHead(const std::string& version) const;
  item::Item Encode(const std::string& sort_key, const Row& row) const;

  Subject subject_;
  EpochSeconds now_;
  EpochSeconds loaded_at_;  // `now` before the first SetNow.
  EpochSeconds rounding_ = 0;
  int64_t excessive_lead_ = 0;
  std::optional<std::string> version_;
  EpochSeconds seen_at_ = 0;                     // Of the head row as loaded; 0: there is none.
  std::map<std::string, TakenOver> taken_over_;  // By the other id of the same person.
  EpochSeconds loaded_end_ = 0;                  // Of the head row; 0: it had none.
  FailuresInARow failures_in_a_row_;
  std::vector<OpenAttempt> open_;
  std::vector<Settled> settled_;  // The newest last.
  std::map<std::string, Row> rows_;
  bool head_changed_ = false;
  std::set<std::string> touched_;
  std::vector<AuditEvent> audit_;
  std::vector<RequiredVersion> required_;
};

// The ttl of a head row that is written now and guards other rows until then; nullopt: for longer
// than a year. It is rounded up to a day, so that most writes leave it as it is. The store keeps
// items in the order of their ttl too, and a change costs two rows there.
EpochSeconds EndOfHead(EpochSeconds now, std::optional<EpochSeconds> guarded_until);

// The sort keys of devices begin with this.
inline constexpr std::string_view kDevicePrefix = "DEVICE#KNOWN#";
// The sort keys of states.
const std::string& StateKey(AccountState state);
inline constexpr std::string_view kFraudBlocked = "EMAIL_FRAUD#STATE#BLOCKED";
inline constexpr std::string_view kFraudAllowed = "EMAIL_FRAUD#STATE#ALLOWED";

}  // namespace tidemark::attempts
