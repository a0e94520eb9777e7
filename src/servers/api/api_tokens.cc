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
#include "http/message.h"

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
  return Invalid("a token's name must have 1 to 64 letters, digits, '.', '-' and '_'");
}

constexpr std::string_view kMetricsScope = "metrics";

// A line is: id name hash created_at, and "metrics" if the token is good for nothing else.
std::string ToLine(const TokenEntry& entry) {
  const bool is_limited = entry.scope == TokenScope::kMetrics;
  return fmt::format("{} {} {} {}{}{}\n", entry.id, entry.name, entry.hash, entry.created_at,
                     is_limited ? " " : "", is_limited ? kMetricsScope : "");
}

Result<TokenEntry> ParseLine(const std::string& line) {
  std::istringstream words(line);
  TokenEntry entry;
  std::string scope;
  std::string rest;
  const bool complete =
      static_cast<bool>(words >> entry.id >> entry.name >> entry.hash >> entry.created_at);
  if (words >> scope) entry.scope = TokenScope::kMetrics;
  // A scope that this version does not know must not become a token for everything.
  if (!complete || (!scope.empty() && scope != kMetricsScope) || (words >> rest) ||
      entry.hash.size() != 64) {
    return Error{ErrorCode::kCorrupt, "is not 'id name hash time [metrics]'"};
  }
  return entry;
}

Error CannotWrite(const std::string& path) {
  return {ErrorCode::kDenied,
          fmt::format("the token file {} cannot be written: {}", path, std::strerror(errno))};
}

// A lock on the folder of a file. It is held from reading the file to replacing it, so that two
// commands at the same time do not undo each other's change. The file itself cannot be locked,
// because replacing it gives it a new inode.
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

Result<TokenLines> ReadLines(const std::string& path) {
  std::ifstream file(path);
  if (!file && errno == ENOENT) return TokenLines{};
  if (!file) {
    return Error{ErrorCode::kDenied,
                 fmt::format("the token file {} cannot be read: {}", path, std::strerror(errno))};
  }
  TokenLines lines;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    Result<TokenEntry> entry = ParseLine(line).WithContext(fmt::format("{}:{}", path, number));
    if (entry) {
      lines.entries.push_back(*std::move(entry));
    } else if (lines.problem) {
      lines.problem = std::move(entry).error();
    }
  }
  return lines;
}

}  // namespace

Result<std::vector<TokenEntry>> ListTokens(const std::string& path) {
  TokenLines lines = TRY(ReadLines(path));
  TRY(std::move(lines.problem));
  return std::move(lines.entries);
}

Result<std::string> CreateToken(const std::string& path, const std::string& name,
                                const Clock& clock, Random& random, TokenScope scope) {
  TRY(CheckName(name));
  const LockedFolder folder(path);
  if (!folder.is_locked()) return CannotWrite(path);
  std::vector<TokenEntry> entries = TRY(ListTokens(path));
  if (std::ranges::find(entries, name, &TokenEntry::name) != entries.end()) {
    return Error{ErrorCode::kInUse, fmt::format("the token '{}' exists already: choose another "
                                                "name, or revoke it first",
                                                name)};
  }
  const std::string id = random.Hex(kIdBytes);
  const std::string token = fmt::format("{}{}_{}", kPrefix, id, random.Hex(kSecretBytes));
  entries.push_back({.id = id,
                     .name = name,
                     .hash = ToHex(Sha256(token)),
                     .created_at = clock.NowSeconds(),
                     .scope = scope});
  TRY(WriteAll(path, entries));
  return token;
}

Status RevokeToken(const std::string& path, const std::string& name) {
  const LockedFolder folder(path);
  if (!folder.is_locked()) return CannotWrite(path);
  std::vector<TokenEntry> entries = TRY(ListTokens(path));
  if (std::erase_if(entries, [&](const TokenEntry& entry) { return entry.name == name; }) == 0) {
    return Error{
        ErrorCode::kNotFound,
        fmt::format("there is no token '{}' in {}: 'tidemark token list' lists them", name, path)};
  }
  return WriteAll(path, entries);
}

TokenFile::TokenFile(std::string path, const Clock& clock, const Logger& logger)
    : path_(std::move(path)), clock_(clock), logger_(logger) {}

std::optional<Caller> TokenFile::Authenticate(const std::vector<std::string_view>& authorization) {
  // The name of a scheme has no case (RFC 9110, 11.1).
  constexpr std::string_view kScheme = "Bearer ";
  if (authorization.size() != 1 ||
      !http::EqualIgnoringCase(authorization.front().substr(0, kScheme.size()), kScheme)) {
    return std::nullopt;
  }
  const std::string_view token = authorization.front().substr(kScheme.size());
  if (!token.starts_with(kPrefix) || token.size() > kMaxTokenLength) return std::nullopt;
  const std::string_view id = token.substr(kPrefix.size(), kIdBytes * 2);

  // The id finds the entry, and the hash of the whole token decides, in constant time. So nothing
  // that depends on the secret can be measured.
  const std::lock_guard lock(mutex_);
  RefreshLocked();
  const auto entry = by_id_.find(id);
  if (entry == by_id_.end()) return std::nullopt;
  // Most requests have the same token as the request before. Then the hash is not computed again.
  if (!EqualInConstantTime(last_good_, token)) {
    if (!EqualInConstantTime(entry->second.hash, ToHex(Sha256(token)))) return std::nullopt;
    last_good_ = token;
  }
  return Caller{.name = entry->second.name, .scope = entry->second.scope};
}

// The disk may be slow, so no lock is held meanwhile.
void TokenFile::Refresh() {
  const Result<TokenLines> lines = ReadLines(path_);
  const std::lock_guard lock(mutex_);
  is_refreshed_elsewhere_ = true;
  UseLocked(lines);
}

void TokenFile::RefreshLocked() {
  if (is_refreshed_elsewhere_) return;
  const auto now = clock_.Monotonic();
  if (read_at_ && now - *read_at_ < kRefreshAfter) return;
  read_at_ = now;
  UseLocked(ReadLines(path_));
}

void TokenFile::UseLocked(const Result<TokenLines>& lines) {
  LogOnce(lines ? lines->problem : Status(lines.error()));
  // What cannot be read at this moment, as when the process has no descriptors left, is no reason
  // to forget the tokens.
  if (!lines) return;
  by_id_.clear();
  last_good_.clear();
  for (const TokenEntry& entry : lines->entries) by_id_.emplace(entry.id, entry);
}

void TokenFile::LogOnce(const Status& problem) {
  const std::string message = problem ? std::string() : problem.error().message;
  if (message == logged_problem_) return;
  logged_problem_ = message;
  if (message.empty()) return;
  logger_.Log(LogLevel::kError, "API tokens cannot be read: correct the file",
              {{"error", message}});
}

}  // namespace tidemark::api
