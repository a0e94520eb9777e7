// The access keys of a server, for its DynamoDB port and for the routes of its API.
//
//   ServedKeys keys(settings, &tables, runtime);
//   dynamodb::AccessKeys* opened = TRY(keys.Open());
//
// May be used from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "base/runtime.h"
#include "servers/api/keys/key_routes.h"
#include "servers/dynamodb/access_keys.h"
#include "tables/tables.h"

namespace tidemark::programs {

// Without the secret.
std::string ToJson(const dynamodb::AccessKeyEntry& entry);

class ServedKeys final : public api::KeyKeeper {
 public:
  // The tables outlive this. The file of the seal key is read when it is needed.
  ServedKeys(std::string seal_key_file, tables::Tables* tables, const Runtime& runtime);

  // The same object at every call: what is revoked here is refused at once where it is used.
  Result<dynamodb::AccessKeys*> Open();

  Result<std::string> List() override;
  Result<std::string> Create(const api::NewKeyRequest& request) override;
  Status Revoke(const std::string& key) override;

 private:
  dynamodb::AccessKeys* Opened();

  const std::string seal_key_file_;
  tables::Tables& tables_;
  const Runtime runtime_;
  std::mutex mutex_;
  std::unique_ptr<dynamodb::AccessKeys> keys_;
};

}  // namespace tidemark::programs
