// Files that contain a bot token. The setting slack.bot-token may name a file with only the token.
// The setting slack.token-file names the file of an app that uses Slack's token rotation:
//
//   {"access_token": "xoxe.xoxb-…", "refresh_token": "xoxe-…", "expires_at": 1700000000}
//
// A pair is replaced atomically and synced to disk, so the file has a valid refresh token even
// after a crash. Functions may be called from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"

namespace tidemark::slack {

// Notices when a file may have changed. Not thread-safe.
class FileWatch {
 public:
  // The clock outlives this. The first call of HasChanged returns true if the file exists.
  FileWatch(std::string path, const Clock* clock);

  // True when the inode, size or modification time differ from those at the last change. Looks at
  // the file at most once a second. A file that does not exist has not changed.
  bool HasChanged();

  const std::string& path() const { return path_; }

 private:
  struct Look {
    uint64_t inode = 0;
    int64_t size = 0;
    int64_t seconds = 0;
    int64_t nanoseconds = 0;
    friend bool operator==(const Look&, const Look&) = default;
  };

  const std::string path_;
  const Clock& clock_;
  std::optional<std::chrono::nanoseconds> looked_at_;
  std::optional<Look> seen_;
};

// The file's text without the line ends at its end. kNotFound when the file cannot be read,
// kInvalid when it is empty or contains spaces or bytes that are not printable ASCII.
Result<Secret> ReadToken(const std::string& path);

struct TokenPair {
  Secret access_token;
  Secret refresh_token;
  EpochSeconds expires_at = 0;  // 0: not known.
};

// kNotFound when the file cannot be read; kInvalid when it is not such a JSON object, or when users
// other than its owner may read it.
Result<TokenPair> ReadTokenPair(const std::string& path);

// Replaces the file. After success the new pair is on disk. kUnavailable when writing fails; then
// the file still has the old pair.
Status WriteTokenPair(const std::string& path, const TokenPair& pair);

// A lock between processes that share a token file: only the process that holds it may refresh.
class TokenFileLock {
 public:
  // nullopt when another process has the lock; kUnavailable when the lock file, PATH.lock, cannot
  // be created.
  static Result<std::optional<TokenFileLock>> Take(const std::string& path);
  TokenFileLock(TokenFileLock&& other) noexcept;
  TokenFileLock& operator=(TokenFileLock&&) = delete;
  ~TokenFileLock();

 private:
  explicit TokenFileLock(int file) : file_(file) {}
  int file_;
};

}  // namespace tidemark::slack
