// The access keys of the DynamoDB port, for operators of a server that serves:
//
//   GET    /api/v1/keys         all keys, without their secrets
//   POST   /api/v1/keys         {"name":"ci","read_only":true,"tables":["orders"]}
//   DELETE /api/v1/keys/{key}   by its name or its id; it is refused from then on
//
// A key that may change Tidemark's own tables is not made here. A token of the API must not become
// such a key: the routes of the API do not change these tables either.
#pragma once

#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"

namespace tidemark::api {

struct NewKeyRequest {
  std::string name;
  bool read_only = false;
  std::vector<std::string> tables = {};  // Empty: all.
};

// The port is a server of its own, which this one does not know. `programs` connects them. Any
// thread may call it, and it may block.
class KeyKeeper {
 public:
  virtual ~KeyKeeper() = default;
  // JSON: {"keys":[…]}, in the order of their names.
  virtual Result<std::string> List() = 0;
  // JSON: {"id":…,"secret":…}. kInvalid for a name that cannot be used, kInUse for one that is.
  virtual Result<std::string> Create(const NewKeyRequest& request) = 0;
  // kNotFound when there is no such key.
  virtual Status Revoke(const std::string& key) = 0;
};

// All outlive the router. If the keeper is null, every request is refused.
// Keys that are made or revoked are in the audit lines of the log.
void AddKeyRoutes(http::Router* router, KeyKeeper* keeper, TokenFile* tokens, const Logger& logger);

}  // namespace tidemark::api
