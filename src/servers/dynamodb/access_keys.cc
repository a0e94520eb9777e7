#include "servers/dynamodb/access_keys.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sys/stat.h>

#include <fmt/format.h>

#include "base/replace_file.h"
#include "base/sealed.h"
#include "item/attributes.h"
#include "tables/ensure_table.h"
#include "tables/pages.h"

namespace tidemark::dynamodb {

namespace {

constexpr size_t kMaxNameLength = 64;
// How long a revoked key may still work.
constexpr std::chrono::seconds kRefreshAfter(1);
// How long a key works while its row cannot be read.
constexpr std::chrono::seconds kGoodWithoutTables(60);
// When more keys than this are in use, the cache begins again.
constexpr size_t kMaxKnownKeys = 10'000;

constexpr std::string_view kIdPrefix = "TM";
constexpr size_t kIdRandomLength = 18;
constexpr std::string_view kIdCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::string_view kSecretCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

std::string RandomText(std::string_view characters, size_t length, Random& random) {
  std::string text;
  while (text.size() < length) text.push_back(characters[random.Below(characters.size())]);
  return text;
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

Status CheckName(const std::string& name) {
  const bool fits =
      !name.empty() && name.size() <= kMaxNameLength && std::ranges::all_of(name, IsNameCharacter);
  if (fits) return Done{};
  return Invalid(fmt::format(
      "'{}' is no name for an access key: give 1 to {} letters, digits, '.', '-' and '_'", name,
      kMaxNameLength));
}

// 'key revoke' takes a name or an id, so one must not be taken for the other.
Status CheckIsNoId(const std::string& name) {
  const bool is_id =
      name.starts_with(kIdPrefix) && name.size() == kIdPrefix.size() + kIdRandomLength;
  if (!is_id) return Done{};
  return Invalid(fmt::format(
      "'{}' looks like the id of an access key: choose a name that does not begin with {}", name,
      kIdPrefix));
}

// ---- Rows ----

constexpr char kId[] = "id";
constexpr char kName[] = "name";
constexpr char kSecret[] = "secret";
constexpr char kCreatedAt[] = "created_at";
constexpr char kReadOnly[] = "read_only";
constexpr char kTables[] = "tables";
constexpr char kOwnWrites[] = "own_writes";

void SetNames(const char* attribute, const std::set<std::string>& names, item::Item* row) {
  if (names.empty()) return;
  row->Set(attribute, item::StringSet({names.begin(), names.end()}));
}

item::Item ToRow(const AccessKeyEntry& entry, std::string sealed) {
  item::Item row{{kId, entry.id},
                 {kName, entry.name},
                 {kSecret, item::Binary{std::move(sealed)}},
                 {kCreatedAt, item::Number::FromInt(entry.created_at)},
                 {kReadOnly, entry.rights.read_only}};
  SetNames(kTables, entry.rights.tables, &row);
  SetNames(kOwnWrites, entry.rights.own_writes, &row);
  return row;
}

Error Damaged(std::string_view id) {
  return {ErrorCode::kCorrupt,
          fmt::format("the row of the access key '{}' in {} is damaged: revoke the key and create "
                      "another",
                      id, kKeysTable)};
}

// A row whose names of tables cannot be read must not become a key for all tables.
Result<std::set<std::string>> NamesIn(const item::Item& row, const char* attribute) {
  const item::Value* value = row.Find(attribute);
  if (value == nullptr) return std::set<std::string>();
  const auto* names = value->As<item::StringSet>();
  if (names == nullptr || names->empty()) return Damaged(item::TextIn(row, kId));
  return std::set<std::string>(names->members().begin(), names->members().end());
}

Result<AccessKeyEntry> FromRow(const item::Item& row) {
  AccessKeyEntry entry{.id = item::TextIn(row, kId),
                       .name = item::TextIn(row, kName),
                       .created_at = item::IntIn(row, kCreatedAt).value_or(0)};
  const item::Value* read_only = row.Find(kReadOnly);
  if (read_only == nullptr || read_only->As<bool>() == nullptr) return Damaged(entry.id);
  entry.rights.read_only = *read_only->As<bool>();
  entry.rights.tables = TRY(NamesIn(row, kTables));
  entry.rights.own_writes = TRY(NamesIn(row, kOwnWrites));
  return entry;
}

Result<Secret> SecretIn(const item::Item& row, const Secret& seal_key, const std::string& id) {
  const item::Value* value = row.Find(kSecret);
  const auto* sealed = value != nullptr ? value->As<item::Binary>() : nullptr;
  if (sealed == nullptr) return Damaged(id);
  return Unseal(seal_key, sealed->bytes, id)
      .WithContext(fmt::format("the secret of the access key '{}' cannot be read with the file of "
                               "the setting dynamodb.key-file",
                               id));
}

// ---- The file of the key ----

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

Result<Secret> DecodeSealKey(std::string_view text, const std::string& path) {
  const Error damaged{ErrorCode::kCorrupt,
                      fmt::format("the file {} must have {} hexadecimal digits and nothing else: "
                                  "restore it, or delete it and create all access keys again",
                                  path, kSealKeyBytes * 2)};
  if (text.size() != kSealKeyBytes * 2) return damaged;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    const auto high = HexDigit(text[i]);
    const auto low = HexDigit(text[i + 1]);
    if (!high || !low) return damaged;
    bytes.push_back(static_cast<char>(*high * 16 + *low));
  }
  return Secret(std::move(bytes));
}

}  // namespace

Secret AccessKey::SigningKeyFor(const aws::Scope& scope) const {
  const std::lock_guard lock(mutex_);
  if (!(scope == scope_)) {
    signing_key_ = aws::SigningKey(secret_, scope);
    scope_ = scope;
  }
  return signing_key_;
}

Status EnsureKeysTable(tables::Tables& tables) {
  return tables::EnsureTable(tables,
                             {.table = std::string(kKeysTable),
                              .keys = {.partition = {.name = kId, .type = item::Type::kString}}},
                             std::nullopt);
}

Result<std::vector<AccessKeyEntry>> ListKeys(tables::Tables& tables) {
  std::vector<AccessKeyEntry> entries;
  const auto visit = [&](const item::Item& row) -> Result<tables::Paging> {
    auto entry = FromRow(row);
    // One damaged row must not hide the others.
    entries.push_back(entry ? *std::move(entry)
                            : AccessKeyEntry{.id = item::TextIn(row, kId),
                                             .name = item::TextIn(row, kName),
                                             .is_damaged = true});
    return tables::Paging::kContinue;
  };
  TRY(tables::ForEachItem(
      tables, tables::ScanRequest{.table = std::string(kKeysTable), .consistent = true}, visit));
  std::ranges::sort(entries, {}, &AccessKeyEntry::name);
  return entries;
}

Result<std::string> RevokeKey(tables::Tables& tables, const std::string& key) {
  const auto entries = TRY(ListKeys(tables));
  auto found = std::ranges::find(entries, key, &AccessKeyEntry::name);
  if (found == entries.end()) found = std::ranges::find(entries, key, &AccessKeyEntry::id);
  if (found == entries.end()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("there is no access key '{}': see `tidemark key list`", key)};
  }
  TRY(tables.Delete({.table = std::string(kKeysTable), .key = {{kId, found->id}}}));
  return found->id;
}

Result<Secret> ReadSealKey(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) {
      return Error{
          ErrorCode::kNotFound,
          fmt::format("the file {} is missing, and the secrets of the access keys are "
                      "encrypted under the key in it: restore the file, or name it with "
                      "the setting dynamodb.key-file, or revoke all access keys (`tidemark "
                      "key list`, `tidemark key revoke`) and create others",
                      path)};
    }
    return Error{ErrorCode::kDenied,
                 fmt::format("the file {} cannot be read: {}", path, std::strerror(errno))};
  }
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Error{ErrorCode::kDenied,
                 fmt::format("the file {} protects the secrets of all access keys, and others than "
                             "its owner can use it: chmod 600 {}",
                             path, path)};
  }
  std::ifstream file(path);
  std::string text;
  if (!std::getline(file, text)) {
    return Error{ErrorCode::kDenied, fmt::format("the file {} cannot be read", path)};
  }
  return DecodeSealKey(text, path);
}

Result<Secret> CreateSealKey(const std::string& path, Random& random) {
  const Status created = CreateFile(path, random.Hex(kSealKeyBytes) + "\n");
  if (!created && created.error().code != ErrorCode::kInUse) return created.error();
  return ReadSealKey(path);
}

Result<std::unique_ptr<AccessKeys>> AccessKeys::Open(tables::Tables* tables,
                                                     const std::string& path,
                                                     const Runtime& runtime) {
  TRY(EnsureKeysTable(*tables));
  auto seal_key = ReadSealKey(path);
  const bool is_missing = !seal_key && seal_key.error().code == ErrorCode::kNotFound;
  if (is_missing && TRY(ListKeys(*tables)).empty()) {
    seal_key = CreateSealKey(path, runtime.random);
  }
  return std::make_unique<AccessKeys>(tables, TRY(std::move(seal_key)), runtime);
}

AccessKeys::AccessKeys(tables::Tables* tables, Secret seal_key, const Runtime& runtime)
    : tables_(*tables), seal_key_(std::move(seal_key)), runtime_(runtime) {}

Result<NewAccessKey> AccessKeys::Create(const std::string& name, const Rights& rights,
                                        const HandOver& hand_over) {
  TRY(CheckName(name));
  TRY(CheckIsNoId(name));
  const std::lock_guard lock(creating_);
  const auto entries = TRY(ListKeys(tables_));
  if (std::ranges::find(entries, name, &AccessKeyEntry::name) != entries.end()) {
    return Error{ErrorCode::kInUse,
                 fmt::format("the access key '{}' exists already: choose another name, or revoke "
                             "it first",
                             name)};
  }
  NewAccessKey made{
      .id = std::string(kIdPrefix) + RandomText(kIdCharacters, kIdRandomLength, runtime_.random),
      .secret = Secret(RandomText(kSecretCharacters, 40, runtime_.random))};
  const AccessKeyEntry entry{
      .id = made.id, .name = name, .created_at = runtime_.clock.NowSeconds(), .rights = rights};
  if (hand_over) TRY(hand_over(made));
  TRY(tables_.Put(
      {.table = std::string(kKeysTable),
       .item = ToRow(entry, Seal(seal_key_, made.secret.Reveal(), made.id, runtime_.random))}));
  return made;
}

Status AccessKeys::Revoke(const std::string& key) {
  const std::string id = TRY(RevokeKey(tables_, key));
  const std::lock_guard lock(mutex_);
  revoked_.insert(id);
  known_.erase(id);
  return Done{};
}

AccessKeyPtr AccessKeys::Recall(const std::string& id, std::chrono::nanoseconds age) {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(id);
  if (known == known_.end()) return nullptr;
  return runtime_.clock.Monotonic() - known->second.read_at < age ? known->second.key : nullptr;
}

Later<AccessKeyPtr> AccessKeys::Find(const std::string& id) {
  if (AccessKeyPtr known = Recall(id, kRefreshAfter)) return known;
  if (!CheckName(id)) return AccessKeyPtr();  // No id of ours looks like this.
  return flights_.Join(id, [&] {
    tables_
        .Submit(tables::GetRequest{.table = std::string(kKeysTable), .key = {{kId, id}}},
                std::nullopt)
        .Then([this, id](Result<std::optional<item::Item>> row) {
          flights_.Land(id, Refresh(id, std::move(row)));
        });
  });
}

Result<AccessKeyPtr> AccessKeys::Refresh(const std::string& id,
                                         Result<std::optional<item::Item>> row) {
  if (row) return Remember(id, *row);
  AccessKeyPtr known = Recall(id, kGoodWithoutTables);
  if (known == nullptr || row.error().code == ErrorCode::kNotFound) return row.error();
  return known;
}

Result<AccessKeyPtr> AccessKeys::Remember(const std::string& id,
                                          const std::optional<item::Item>& row) {
  if (!row) {
    const std::lock_guard lock(mutex_);
    known_.erase(id);
    return AccessKeyPtr();
  }
  AccessKeyEntry entry = TRY(FromRow(*row));
  Secret secret = TRY(SecretIn(*row, seal_key_, id));
  const auto key = std::make_shared<const AccessKey>(std::move(entry), std::move(secret));
  const std::lock_guard lock(mutex_);
  if (revoked_.contains(id)) return AccessKeyPtr();
  if (known_.size() >= kMaxKnownKeys) known_.clear();
  known_.insert_or_assign(id, Known{.key = key, .read_at = runtime_.clock.Monotonic()});
  return AccessKeyPtr(key);
}

}  // namespace tidemark::dynamodb
