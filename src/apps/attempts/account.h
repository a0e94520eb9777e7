// An Account is all that is known of one subject, as of one moment, and what is to change: every
// row of its partition, decoded (docs/formats/attempts.md). Rules work on it and know nothing of
// tables.
//
// What has expired is not there, swept or not. Time never goes back for a subject: the head row
// remembers the latest moment in which anything was decided. A row that cannot be read is left
// out, and named.
//
// A value; one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apps/attempts/decision.h"
#include "apps/attempts/names.h"
#include "base/clock.h"
#include "base/result.h"
#include "item/value.h"
#include "tables/requests.h"

namespace tidemark::attempts {

inline constexpr std::string_view kPartitionAttribute = "subject_id";
inline constexpr std::string_view kSortAttribute = "sk";
// Attempts that one subject may have under way at once, over all counts.
inline constexpr size_t kMaxOpen = 64;

// Reserved, and not settled yet. It is kept in the head row and not with its count, whose life
// may end before it does.
struct OpenAttempt {
  std::string id;
  EpochSeconds at = 0;
  Name name;
  std::string notification_type = {};
  std::string method_type = {};
};

// How an attempt ended, remembered so that doing it again gives the same answer.
struct Settled {
  std::string id;
  Name name;  // Its journey, count and classifier.
  bool right = false;
  bool reached = false;  // It was the one that reached the limit.
};

struct CountRow {
  Name name;
  uint64_t count = 0;
  EpochSeconds until = 0;
  EpochSeconds last_updated = 0;
  std::vector<std::string> ids = {};  // Of what was counted, the newest last; bounded.
  std::string notification_type = {};
  std::string method_type = {};

  // What the count was when this id was counted; nullopt when it was not, or long ago.
  std::optional<uint64_t> CountAt(std::string_view id) const;
};

struct LockRow {
  Lock lock;
  int64_t length = 0;  // Seconds; 0 for a permanent one.
  EpochSeconds last_updated = 0;
  // Of the attempt that set it.
  std::string notification_type = {};
  std::string method_type = {};
};

// A state of the account or of an e-mail address; `value` is the seed's intervention_state.
struct StateRow {
  std::string sort_key;
  std::string value;
  std::string reason = {};
  std::optional<EpochSeconds> until = std::nullopt;
  EpochSeconds last_updated = 0;
};

// Failures with no success between them, by classifier: being right about one secret says nothing
// about another.
using FailuresInARow = std::map<std::string, uint64_t, std::less<>>;

// A device that has succeeded before, with a budget of its own.
struct DeviceRow {
  std::string lane;
  EpochSeconds until = 0;
  FailuresInARow failures_in_a_row = {};
};

// What became of a lock, a state or a count, for the audit.
struct AuditEvent {
  std::string what;
  // Told before it is done, for what nobody could look up afterwards; empty: nothing is.
  std::string ahead = {};
  std::string name;
  std::string reason = {};
  uint64_t count = 0;
  uint64_t limit = 0;  // 0: no limit was reached.
};

class Account {
 public:
  // Of the rows of one partition. `skipped` gets the sort keys of those that cannot be read.
  static Account Decode(const Subject& subject, const std::vector<item::Item>& rows,
                        EpochSeconds clock_now, std::vector<std::string>* skipped);

  const Subject& subject() const { return subject_; }
  EpochSeconds now() const { return now_; }
  // Of the head row; nullopt when there is none.
  const std::optional<std::string>& version() const { return version_; }

  // ---- What is there, and live ----

  const CountRow* FindCount(const Name& name) const;
  std::vector<const CountRow*> Counts() const;
  // The count itself, and that of each of its methods.
  std::vector<const CountRow*> MethodsOf(const Name& name) const;
  const std::vector<OpenAttempt>& open() const { return open_; }
  // In whatever lane, and by whatever method.
  const OpenAttempt* FindOpen(std::string_view id, const Name& name) const;
  const Settled* FindSettled(std::string_view id, const Name& name) const;
  const Lock* FindLock(const Name& name) const;
  std::vector<Lock> Locks() const;
  bool HasState(AccountState state) const;
  const StateRow* FindState(const std::string& sort_key) const;
  bool KnowsDevice(const std::string& lane) const;
  // Of the name's lane and classifier.
  uint64_t FailuresOf(const Name& name) const;
  // The classifiers with so many failures in a row or more, in whatever lane.
  std::set<std::string> ClassifiersAt(uint64_t failures) const;

  // ---- Changes ----

  void Set(CountRow row);
  void Set(LockRow row);
  void Set(StateRow row);
  void Open(OpenAttempt attempt);
  // The attempt is over; what it was is remembered.
  void Close(const Settled& settled);
  void Remember(Settled settled);
  void RememberDevice(const std::string& lane, EpochSeconds until);
  void SetFailures(const Name& name, uint64_t failures);
  // Of all lanes and classifiers; false when there were none.
  bool ForgetFailures();
  void RemoveCount(const Name& name);
  void RemoveLock(const Name& name);
  void RemoveState(const std::string& sort_key);
  void Audit(AuditEvent event) { audit_.push_back(std::move(event)); }

  bool IsChanged() const { return head_changed_ || !touched_.empty(); }
  // To be written as one: applied only if nobody wrote since. `version` is new.
  std::vector<tables::TransactAction> Writes(const std::string& table,
                                             const std::string& version) const;
  const std::vector<AuditEvent>& audit() const { return audit_; }

 private:
  using Row = std::variant<CountRow, LockRow, StateRow, DeviceRow>;

  Account(Subject subject, EpochSeconds now) : subject_(std::move(subject)), now_(now) {}
  void DecodeHead(const item::Item& row);
  bool DecodeRow(const std::string& sort_key, const item::Item& row);
  bool IsLive(const Row& row) const;
  template <typename T>
  const T* Find(const std::string& sort_key) const;
  // In the order of their keys.
  template <typename T>
  std::vector<const T*> FindAll() const;
  const DeviceRow* FindDevice(const std::string& lane) const;
  void Put(const std::string& sort_key, Row row);
  void Remove(const std::string& sort_key);
  std::optional<EpochSeconds> EndOfAll() const;
  item::Item EncodeHead(const std::string& version) const;
  item::Item Encode(const std::string& sort_key, const Row& row) const;
  tables::PutRequest PutHead(const std::string& table, const std::string& version) const;

  Subject subject_;
  EpochSeconds now_;
  std::optional<std::string> version_;
  FailuresInARow failures_in_a_row_;
  std::vector<OpenAttempt> open_;
  std::vector<Settled> settled_;  // The newest last; bounded.
  std::map<std::string, Row> rows_;
  bool head_changed_ = false;
  std::set<std::string> touched_;
  std::vector<AuditEvent> audit_;
};

// Where states are kept.
const std::string& StateKey(AccountState state);
inline constexpr std::string_view kFraudBlocked = "EMAIL_FRAUD#STATE#BLOCKED";
inline constexpr std::string_view kFraudAllowed = "EMAIL_FRAUD#STATE#ALLOWED";

}  // namespace tidemark::attempts
