#include "programs/key/served_keys.h"

#include <set>
#include <string_view>
#include <utility>

#include "base/json.h"

namespace tidemark::programs {

namespace {

void WriteNames(std::string_view member, const std::set<std::string>& names, JsonWriter* writer) {
  writer->Key(member);
  writer->BeginArray();
  for (const std::string& name : names) writer->String(name);
  writer->EndArray();
}

}  // namespace

std::string ToJson(const dynamodb::AccessKeyEntry& entry) {
  std::string line;
  JsonWriter writer(&line);
  writer.BeginObject();
  writer.Key("name");
  writer.String(entry.name);
  writer.Key("id");
  writer.String(entry.id);
  writer.Key("created_at");
  writer.Int(entry.created_at);
  writer.Key("read_only");
  writer.Bool(entry.rights.read_only);
  WriteNames("tables", entry.rights.tables, &writer);
  WriteNames("writes", entry.rights.own_writes, &writer);
  if (entry.is_damaged) {
    writer.Key("damaged");
    writer.Bool(true);
  }
  writer.EndObject();
  return line;
}

ServedKeys::ServedKeys(std::string seal_key_file, tables::Tables* tables, const Runtime& runtime)
    : seal_key_file_(std::move(seal_key_file)), tables_(*tables), runtime_(runtime) {}

Result<dynamodb::AccessKeys*> ServedKeys::Open() {
  const std::lock_guard lock(mutex_);
  if (keys_ == nullptr) {
    keys_ = TRY(dynamodb::AccessKeys::Open(&tables_, seal_key_file_, runtime_));
  }
  return keys_.get();
}

dynamodb::AccessKeys* ServedKeys::Opened() {
  const std::lock_guard lock(mutex_);
  return keys_.get();
}

Result<std::string> ServedKeys::List() {
  TRY(dynamodb::EnsureKeysTable(tables_));
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject();
  writer.Key("keys");
  writer.BeginArray();
  for (const auto& entry : TRY(dynamodb::ListKeys(tables_))) writer.Raw(ToJson(entry));
  writer.EndArray();
  writer.EndObject();
  return body;
}

Result<std::string> ServedKeys::Create(const api::NewKeyRequest& request) {
  dynamodb::AccessKeys* const keys = TRY(Open());
  const auto made =
      TRY(keys->Create(request.name, {.read_only = request.read_only,
                                      .tables = {request.tables.begin(), request.tables.end()}}));
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject();
  writer.Key("id");
  writer.String(made.id);
  writer.Key("secret");
  writer.String(made.secret.Reveal());
  writer.EndObject();
  return body;
}

// It does not need the seal key: a key whose secret nobody can read may be revoked too.
Status ServedKeys::Revoke(const std::string& key) {
  TRY(dynamodb::EnsureKeysTable(tables_));
  if (dynamodb::AccessKeys* const keys = Opened()) return keys->Revoke(key);
  TRY(dynamodb::RevokeKey(tables_, key));
  return Done{};
}

}  // namespace tidemark::programs
