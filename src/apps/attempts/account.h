// An Account is all that is known of one subject, as of one moment, and what is to change: every
// row of its partition, decoded. Rules work on it and know nothing of tables.
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
inline constexpr std::string_view kLockCount = "LOCK";

// Reserved, and not settled yet.
struct OpenAttempt {
  std::string id;
  EpochSeconds at = 0;
  friend bool operator==(const OpenAttempt&, const OpenAttempt&) = default;
};

struct CountRow {
  Name name;
  uint64_t count = 0;
  EpochSeconds until = 0;
  EpochSeconds last_updated = 0;
  std::vector<OpenAttempt> open = {};
  std::vector<std::string> ids = {};  // Of what was counted, the newest last; bounded.
  std::string notification_type = {};
  std::string method_type = {};

  uint64_t used() const { return count + open.size(); }
  bool Counts(std::string_view id) const;
};

struct LockRow {
  Lock lock;
  int64_t length = 0;  // Seconds; 0 for a permanent one.
  EpochSeconds last_updated = 0;
};

// A state of the account or of an e-mail address; `value` is the seed's intervention_state.
struct StateRow {
  std::string sort_key;
  std::string value;
  std::string reason = {};
  std::optional<EpochSeconds> until = std::nullopt;
  EpochSeconds last_updated = 0;
};

// A device that has succeeded before, with a budget of its own.
struct DeviceRow {
  std::string lane;
  EpochSeconds until = 0;
  uint64_t failures_in_a_row = 0;
};

// The outcome of an attempt, remembered so that settling it again gives the same answer.
struct Settled {
  std::string id;
  bool right = false;
};

// What became of a lock or state, for the audit.
struct AuditEvent {
  std::string what;
  std::string name;
  std::string reason = {};
  uint64_t count = 0;
  uint64_t limit = 0;
};

class Account {
 public:
  // Of the rows of one partition. `skipped` gets the sort keys of those that cannot be read.
  static Account Decode(const Subject& subject, const std::vector<item::Item>& rows,
                        EpochSeconds clock_now, std::vector<std::string>* skipped);

  EpochSeconds now() const { return now_; }

  const CountRow* FindCount(const Name& name) const;
  // The live ones.
  std::vector<const CountRow*> Counts() const;
  // The count itself, and that of each of its methods.
  std::vector<const CountRow*> MethodsOf(const Name& name) const;
  const Lock* FindLock(const Name& name) const;
  std::vector<Lock> Locks() const;
  bool HasState(AccountState state) const;
  const StateRow* FindState(const std::string& sort_key) const;
  bool KnowsDevice(const std::string& lane) const;
  std::optional<Settled> FindSettled(std::string_view id) const;
  uint64_t FailuresInARow(const std::string& lane) const;

  void Set(CountRow row);
  void Set(LockRow row);
  void Set(StateRow row);
  void Set(DeviceRow row);
  void SetFailuresInARow(const std::string& lane, uint64_t failures);
  void Remember(Settled settled);
  void RemoveCount(const Name& name);
  void RemoveLock(const Name& name);
  void RemoveState(const std::string& sort_key);
  void Audit(AuditEvent event) { audit_.push_back(std::move(event)); }

  bool IsChanged() const { return head_changed_ || !touched_.empty(); }
  // One transaction: applied only if nobody wrote since. `version` is new.
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
  void Put(const std::string& sort_key, Row row);
  void Remove(const std::string& sort_key);
  item::Item EncodeHead(const std::string& version) const;
  item::Item Encode(const std::string& sort_key, const Row& row) const;
  tables::PutRequest PutHead(const std::string& table, const std::string& version) const;

  Subject subject_;
  EpochSeconds now_;
  std::optional<std::string> version_;  // nullopt: there is no head row.
  uint64_t failures_in_a_row_ = 0;
  std::vector<Settled> settled_;  // The newest last; bounded.
  std::map<std::string, Row> rows_;
  bool head_changed_ = false;
  std::set<std::string> touched_;
  std::vector<AuditEvent> audit_;
};

// Where states are kept.
std::string StateKey(AccountState state);
inline constexpr std::string_view kFraudBlocked = "EMAIL_FRAUD#STATE#BLOCKED";
inline constexpr std::string_view kFraudAllowed = "EMAIL_FRAUD#STATE#ALLOWED";

}  // namespace tidemark::attempts
