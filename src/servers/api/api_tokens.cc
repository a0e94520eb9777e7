#include "servers/api/api_tokens.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/hashing.h"
#include "base/replace_file.h"

namespace tidemark::api {

namespace {

constexpr std::string_view kPrefix = "tm_";
constexpr size_t kIdBytes = 6;
constexpr size_t kSecretBytes = 32;
constexpr size_t kMaxNameLength = 64;
constexpr size_t kMaxTokenLength = 128;
// How long a revoked token may still work.
constexpr std::chrono::seconds kRefreshAfter(1);

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

Status CheckName(const std::string& name) {
  if (!name.empty() && name.size() <= kMaxNameLength &&
      std::ranges::all_of(name, IsNameCharacter)) {
    return Done{};
  }
  return Invalid("a token's name is a word of up to 64 letters, digits, '.', '-' and '_'");
}

// A line is: id name hash created_at.
std::string ToLine(const TokenEntry& entry) {
  return fmt::format("{} {} {} {}\n", entry.id, entry.name, entry.hash, entry.created_at);
}

Result<TokenEntry> ParseLine(const std::string& line) {
  std::istringstream words(line);
  TokenEntry entry;
  std::string rest;
  const bool complete =
      static_cast<bool>(words >> entry.id >> entry.name >> entry.hash >> entry.created_at);
  if (!complete || (words >> rest) || entry.hash.size() != 64) {
    return Error{ErrorCode::kCorrupt, "is not 'id name hash time'"};
  }
  return entry;
}

Error CannotWrite(const std::string& path) {
  return {ErrorCode::kDenied,
          fmt::format("{}: cannot write this file of tokens: {}", path, std::strerror(errno))};
}

// The folder of a file, locked from reading the file to writing it: of two commands at the same
// time neither undoes what the other did.
class LockedFolder {
 public:
  explicit LockedFolder(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    descriptor_ = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    is_locked_ = descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX) == 0;
  }
  ~LockedFolder() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  LockedFolder(const LockedFolder&) = delete;
  LockedFolder& operator=(const LockedFolder&) = delete;

  bool is_locked() const { return is_locked_; }

 private:
  int descriptor_ = -1;
  bool is_locked_ = false;
};

Status WriteAll(const std::string& path, const std::vector<TokenEntry>& entries) {
  std::string text;
  for (const TokenEntry& entry : entries) text += ToLine(entry);
  return ReplaceFile(path, text);
}

}  // namespace

Result<std::vector<TokenEntry>> ListTokens(const std::string& path) {
  std::ifstream file(path);
  if (!file && errno == ENOENT) return std::vector<TokenEntry>();
  if (!file) {
    return Error{ErrorCode::kDenied, fmt::format("{}: cannot read this file of tokens: {}", path,
                                                 std::strerror(errno))};
  }
  std::vector<TokenEntry> entries;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    entries.push_back(TRY(ParseLine(line).WithContext(fmt::format("{}:{}", path, number))));
  }
  return entries;
}

Result<std::string> CreateToken(const std::string& path, const std::string& name,
                                const Clock& clock, Random& random) {
  TRY(CheckName(name));
  const LockedFolder folder(path);
  if (!folder.is_locked()) return CannotWrite(path);
  std::vector<TokenEntry> entries = TRY(ListTokens(path));
  if (std::ranges::find(entries, name, &TokenEntry::name) != entries.end()) {
    return Error{ErrorCode::kInUse, fmt::format("there is a token '{}' already: pick another name, "
                                                "or revoke it first",
                                                name)};
  }
  const std::string id = random.Hex(kIdBytes);
  const std::string token = fmt::format("{}{}_{}", kPrefix, id, random.Hex(kSecretBytes));
  entries.push_back(
      {.id = id, .name = name, .hash = ToHex(Sha256(token)), .created_at = clock.NowSeconds()});
  TRY(WriteAll(path, entries));
  return token;
}

Status RevokeToken(const std::string& path, const std::string& name) {
  const LockedFolder folder(path);
  if (!folder.is_locked()) return CannotWrite(path);
  std::vector<TokenEntry> entries = TRY(ListTokens(path));
  if (std::erase_if(entries, [&](const TokenEntry& entry) { return entry.name == name; }) == 0) {
    return Error{ErrorCode::kNotFound, fmt::format("there is no token '{}' in {}", name, path)};
  }
  return WriteAll(path, entries);
}

TokenFile::TokenFile(std::string path, const Clock& clock)
    : path_(std::move(path)), clock_(clock) {}

std::optional<std::string> TokenFile::Authenticate(
    const std::vector<std::string_view>& authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  if (authorization.size() != 1 || !authorization.front().starts_with(kScheme)) {
    return std::nullopt;
  }
  const std::string_view token = authorization.front().substr(kScheme.size());
  if (!token.starts_with(kPrefix) || token.size() > kMaxTokenLength) return std::nullopt;
  const std::string_view id = token.substr(kPrefix.size(), kIdBytes * 2);

  const std::lock_guard lock(mutex_);
  RefreshLocked();
  const auto entry = by_id_.find(id);
  if (entry == by_id_.end()) return std::nullopt;
  if (!EqualInConstantTime(entry->second.hash, ToHex(Sha256(token)))) return std::nullopt;
  return entry->second.name;
}

void TokenFile::RefreshLocked() {
  const auto now = clock_.Monotonic();
  if (read_at_ && now - *read_at_ < kRefreshAfter) return;
  read_at_ = now;
  by_id_.clear();
  const auto entries = ListTokens(path_);
  if (!entries) return;
  for (const TokenEntry& entry : *entries) by_id_.emplace(entry.id, entry);
}

}  // namespace tidemark::api
