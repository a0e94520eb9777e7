// The access keys of the DynamoDB port: who has which, and what each may do. They are rows of a
// table, so that many processes share them. The secret of a key is encrypted under a key that is in
// a file and not in the table.
//
//   AccessKeys keys(&tables, TRY(ReadSealKey("tidemark-key", random)), runtime);
//   NewAccessKey made = TRY(keys.Create("ci", {.read_only = true}));   // Its secret is shown once.
//
//   keys.Find(claim.access_key()).Then([](Result<AccessKeyPtr> key) {…});
//
// May be used from any thread.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aws/signature.h"
#include "base/later.h"
#include "base/result.h"
#include "base/runtime.h"
#include "base/secret.h"
#include "servers/dynamodb/rights.h"
#include "tables/tables.h"

namespace tidemark::dynamodb {

struct AccessKeyEntry {
  std::string id;
  std::string name;
  EpochSeconds created_at = 0;
  Rights rights;
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

// The key under which secrets are encrypted: 64 hexadecimal digits in a file. Creates the file,
// readable only by its owner, when it is missing. kDenied when others can read it, kCorrupt when it
// has something else in it.
Result<Secret> ReadSealKey(const std::string& path, Random& random);

class AccessKeys {
 public:
  // The tables outlive this.
  AccessKeys(tables::Tables* tables, Secret seal_key, const Runtime& runtime);

  Status CreateTable();
  // kInvalid when the name has other characters than letters, digits, '.', '-' and '_'; kInUse when
  // there is a key of this name.
  Result<NewAccessKey> Create(const std::string& name, const Rights& rights);
  // In the order of their names.
  Result<std::vector<AccessKeyEntry>> List();
  // kNotFound when there is no key of this name. Other processes refuse it within a second.
  Status Revoke(const std::string& name);

  // Null when there is no such key. The row is read at most once a second.
  Later<AccessKeyPtr> Find(const std::string& id);

 private:
  struct Known {
    AccessKeyPtr key;
    std::chrono::nanoseconds read_at;
  };

  Result<AccessKeyPtr> Remember(const std::string& id, const std::optional<item::Item>& row);

  tables::Tables& tables_;
  const Secret seal_key_;
  const Runtime runtime_;
  std::mutex mutex_;
  std::map<std::string, Known, std::less<>> known_;
};

}  // namespace tidemark::dynamodb
