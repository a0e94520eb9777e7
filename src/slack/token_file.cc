#include "slack/token_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/json.h"
#include "base/replace_file.h"

namespace tidemark::slack {

namespace {

// Every event asks for the token. Without this pause each one would cost a call of the file system.
constexpr std::chrono::seconds kBetweenLooks(1);
// Much more than a pair of tokens. The path may be wrong and name a file that is huge or, like a
// device, has no end; only so much of it is read.
constexpr size_t kMaxFileBytes = 64 << 10;

Error Unreadable(const std::string& path) {
  return {ErrorCode::kNotFound,
          fmt::format("the file {} cannot be read: {}", path, std::strerror(errno))};
}

Error Unlockable(const std::string& path) {
  return {ErrorCode::kUnavailable,
          fmt::format("the lock file {} cannot be locked: {}; allow the program to write in that "
                      "folder",
                      path, std::strerror(errno))};
}

Result<std::string> ReadAll(const Descriptor& file, const std::string& path) {
  std::string text(kMaxFileBytes, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + size, text.size() - size);
    if (count < 0) return Unreadable(path);
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  text.resize(size);
  return text;
}

// A token becomes a part of a header of a request. A line break in it would begin another header.
bool IsToken(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

std::string Encode(const TokenPair& pair) {
  std::string text;
  JsonWriter writer(&text);
  writer.BeginObject();
  writer.Key("access_token");
  writer.String(pair.access_token.Reveal());
  writer.Key("refresh_token");
  writer.String(pair.refresh_token.Reveal());
  writer.Key("expires_at");
  writer.Int(pair.expires_at);
  writer.EndObject();
  return text + "\n";
}

}  // namespace

FileWatch::FileWatch(std::string path, const Clock* clock)
    : path_(std::move(path)), clock_(*clock) {}

// The inode is compared because a file is usually replaced by renaming a new one over it. The new
// file may have the same size and, on a file system with coarse times, the same time.
//
// What was seen is noted before the caller reads the file. If somebody writes it in between, it
// looks different again at the next look, and is read once more. The other order would miss that.
bool FileWatch::HasChanged() {
  const auto now = clock_.Monotonic();
  if (looked_at_ && now - *looked_at_ < kBetweenLooks) return false;
  looked_at_ = now;
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) return false;
  const Look look{.inode = status.st_ino,
                  .size = status.st_size,
                  .seconds = status.st_mtim.tv_sec,
                  .nanoseconds = status.st_mtim.tv_nsec};
  if (seen_ == look) return false;
  seen_ = look;
  return true;
}

Result<Secret> ReadToken(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return Unreadable(path);
  std::string text = TRY(ReadAll(file, path));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (!IsToken(text)) return Invalid(fmt::format("the file {} does not contain a token", path));
  return Secret(std::move(text));
}

Result<TokenPair> ReadTokenPair(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // Asks about the open file and not about the path, which may name another file a moment later.
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) return Unreadable(path);
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Invalid(
        fmt::format("other users may read the tokens in {}: run chmod 600 {}", path, path));
  }
  const std::string text = TRY(ReadAll(file, path));
  const auto document = JsonDocument::Parse(text);
  // The parser's message is left out: it may quote the file, and with it a token.
  if (!document) return Invalid(fmt::format("the file {} is not JSON", path));
  std::string access = TextIn(document->root(), "access_token");
  std::string refresh = TextIn(document->root(), "refresh_token");
  if (!IsToken(access) || !IsToken(refresh)) {
    return Invalid(
        fmt::format("the file {} must have the strings access_token and refresh_token", path));
  }
  return TokenPair{.access_token = Secret(std::move(access)),
                   .refresh_token = Secret(std::move(refresh)),
                   .expires_at = IntegerIn(document->root(), "expires_at")};
}

Status WriteTokenPair(const std::string& path, const TokenPair& pair) {
  return ReplaceFile(path, Encode(pair));
}

// The lock is on a file of its own. A lock belongs to an inode, and a refresh replaces the token
// file by a new one: a process that opened it before would lock the old file, beside another
// process that locks the new one. The lock file is never deleted, for the same reason. The system
// gives the lock up when the process dies.
Result<std::optional<TokenFileLock>> TokenFileLock::Take(const std::string& path) {
  const std::string name = path + ".lock";
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return Unlockable(name);
  TokenFileLock lock(file);
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return std::optional(std::move(lock));
  if (errno != EWOULDBLOCK) return Unlockable(name);
  return std::optional<TokenFileLock>();
}

TokenFileLock::TokenFileLock(TokenFileLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)) {}

TokenFileLock::~TokenFileLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace tidemark::slack
