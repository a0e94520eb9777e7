// The access keys of the DynamoDB port: who has which, and what each may do. They are rows of a
// table, so that many processes share them. The secret of a key is encrypted under a key that is in
// a file and not in the table.
//
//   auto keys = TRY(AccessKeys::Open(&tables, "data/tidemark-key", runtime));
//   NewAccessKey made = TRY(keys->Create("ci", {.read_only = true}));   // Its secret is shown
//   once.
//
//   keys->Find(claim.access_key()).Then([](Result<AccessKeyPtr> key) {…});
//
// May be used from any thread.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aws/signature.h"
#include "base/later.h"
#include "base/result.h"
#include "base/runtime.h"
#include "base/secret.h"
#include "base/shared_flights.h"
#include "servers/dynamodb/rights.h"
#include "tables/tables.h"

namespace tidemark::dynamodb {

struct AccessKeyEntry {
  std::string id;
  std::string name;
  EpochSeconds created_at = 0;
  Rights rights = {};
  bool is_damaged = false;  // Its row cannot be read: the key does not work.
};

// An access key with its secret.
class AccessKey {
 public:
  AccessKey(AccessKeyEntry entry, Secret secret)
      : entry_(std::move(entry)), secret_(std::move(secret)) {}

  const AccessKeyEntry& entry() const { return entry_; }
  // The key that signs the requests of a scope. The last one is kept: clients use one a day.
  Secret SigningKeyFor(const aws::Scope& scope) const;

 private:
  const AccessKeyEntry entry_;
  const Secret secret_;
  mutable std::mutex mutex_;
  mutable aws::Scope scope_;
  mutable Secret signing_key_;
};
using AccessKeyPtr = std::shared_ptr<const AccessKey>;

struct NewAccessKey {
  std::string id;
  Secret secret;
};

// Creates the table of the keys, unless it exists.
Status EnsureKeysTable(tables::Tables& tables);
// In the order of their names. Damaged ones are among them.
Result<std::vector<AccessKeyEntry>> ListKeys(tables::Tables& tables);
// By the name or the id of the key. Every process refuses it within a second. Returns its id.
// kNotFound when there is no such key.
Result<std::string> RevokeKey(tables::Tables& tables, const std::string& key);

// The key under which secrets are encrypted: 64 hexadecimal digits in a file. kNotFound when there
// is no file, kDenied when others can read it, kCorrupt when it has something else in it.
Result<Secret> ReadSealKey(const std::string& path);
// Creates the file, readable only by its owner. If another process has just created it, reads that.
Result<Secret> CreateSealKey(const std::string& path, Random& random);

class AccessKeys {
 public:
  // Reads the file of the seal key. Creates it when it is missing, unless there are access keys: no
  // other seal key can read their secrets. Then kNotFound. The tables outlive this.
  static Result<std::unique_ptr<AccessKeys>> Open(tables::Tables* tables, const std::string& path,
                                                  const Runtime& runtime);
  AccessKeys(tables::Tables* tables, Secret seal_key, const Runtime& runtime);

  // Called with a key before it is stored.
  using HandOver = std::function<Status(const NewAccessKey& made)>;
  // kInvalid when the name has other characters than letters, digits, '.', '-' and '_'; kInUse when
  // there is a key of this name. If `hand_over` fails, no key is created.
  Result<NewAccessKey> Create(const std::string& name, const Rights& rights,
                              const HandOver& hand_over = nullptr);

  // The same as RevokeKey, but this process refuses the key at once.
  Status Revoke(const std::string& key);

  // Null when there is no such key. The row is read at most once a second, and once for all that
  // ask at the same time. While the tables cannot answer, a key is good for another minute.
  Later<AccessKeyPtr> Find(const std::string& id);

 private:
  struct Known {
    AccessKeyPtr key;
    std::chrono::nanoseconds read_at;
  };

  // The key if its row was read less than `age` ago.
  AccessKeyPtr Recall(const std::string& id, std::chrono::nanoseconds age);
  Result<AccessKeyPtr> Refresh(const std::string& id, Result<std::optional<item::Item>> row);
  Result<AccessKeyPtr> Remember(const std::string& id, const std::optional<item::Item>& row);

  tables::Tables& tables_;
  const Secret seal_key_;
  const Runtime runtime_;
  SharedFlights<AccessKeyPtr> flights_;
  std::mutex creating_;  // Between the look for a name and the new key with it.
  std::mutex mutex_;
  std::map<std::string, Known, std::less<>> known_;
  // What was revoked here. A read that began before must not bring such a key back. No id is used
  // twice.
  std::set<std::string> revoked_;
};

}  // namespace tidemark::dynamodb
