// Files that hold a bot token: a plain one, as the setting slack.bot-token names it, and the pair
// of an app with Slack's token rotation, as slack.token-file names it:
//
//   {"access_token": "xoxe.xoxb-…", "refresh_token": "xoxe-…", "expires_at": 1700000000}
//
// A pair is replaced whole and durably, so that at every moment the file holds a refresh token.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"

namespace tidemark::slack {

// Says when a file may have changed. Belongs to one thread at a time.
class FileWatch {
 public:
  // The clock outlives this. The first look finds a change.
  FileWatch(std::string path, const Clock* clock);

  // True when the file is another than at the last change: by its inode, size or time. It is
  // looked at no more than once a second; a file that is not there has not changed.
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

// The file's text without line ends behind it. kNotFound when it cannot be read, kInvalid when it
// is empty or no token can look so.
Result<Secret> ReadToken(const std::string& path);

struct TokenPair {
  Secret access_token;
  Secret refresh_token;
  EpochSeconds expires_at = 0;  // 0: not known.
};

// kNotFound when it cannot be read, kInvalid when it is no pair, or others than its owner may read
// it.
Result<TokenPair> ReadTokenPair(const std::string& path);

// Replaces the file: a success is on disk, and before it the old one was. kUnavailable when the
// disk refuses; the old one is there then.
Status WriteTokenPair(const std::string& path, const TokenPair& pair);

// Whoever has the lock of a pair's file is the one to refresh it.
class TokenFileLock {
 public:
  // nullopt when another process has it; kUnavailable when its file, PATH.lock, cannot be made.
  static Result<std::optional<TokenFileLock>> Take(const std::string& path);
  TokenFileLock(TokenFileLock&& other) noexcept;
  TokenFileLock& operator=(TokenFileLock&&) = delete;
  ~TokenFileLock();

 private:
  explicit TokenFileLock(int file) : file_(file) {}
  int file_;
};

}  // namespace tidemark::slack
