// The tokens of the API. The file keeps a hash of each token and never the token itself, so reading
// the file does not help an attacker. `tidemark token` writes the file; a running server notices
// the change within a second.
//
//   std::string token = TRY(CreateToken(path, "ci", clock, random));   // shown once
//
//   TokenFile tokens(path, clock, logger);
//   if (!tokens.Authenticate(request.headers.FindAll("Authorization"))) return Unauthorized();
//
// A token is tm_ID_SECRET. The secret is 32 random bytes in hexadecimal. It is too long to guess,
// so a plain SHA-256 protects it; a slow password hash is not needed.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/result.h"

namespace tidemark::api {

// What a token is good for. Prometheus needs the metrics and nothing else.
enum class TokenScope { kEverything, kMetrics };

struct TokenEntry {
  std::string id;
  std::string name;
  std::string hash;  // SHA-256 of the whole token, in hexadecimal.
  EpochSeconds created_at = 0;
  TokenScope scope = TokenScope::kEverything;
};

// Who makes a request: the name of the token, and what it is good for.
struct Caller {
  std::string name;
  TokenScope scope = TokenScope::kEverything;
  friend bool operator==(const Caller&, const Caller&) = default;
};

// Appends a new token and returns it. Creates the file if it is missing, readable only by its
// owner. kInvalid when the name has other characters than letters, digits, '.', '-' and '_'; kInUse
// when there is a token of this name.
Result<std::string> CreateToken(const std::string& path, const std::string& name,
                                const Clock& clock, Random& random,
                                TokenScope scope = TokenScope::kEverything);
// In the order of creation. Empty when the file is missing. kCorrupt when it is damaged.
Result<std::vector<TokenEntry>> ListTokens(const std::string& path);
// kNotFound when there is no token of this name.
Status RevokeToken(const std::string& path, const std::string& name);

// The lines of the file.
struct TokenLines {
  std::vector<TokenEntry> entries;
  Status problem = Done{};  // Of the first line that cannot be read.
};

// The file as a server sees it. May be used from any thread.
class TokenFile {
 public:
  // Both outlive this.
  TokenFile(std::string path, const Clock& clock, const Logger& logger);

  // The caller whose token is in the Authorization header. nullopt unless there is exactly one
  // header, of the form "Bearer tm_…", with a known token. A line of the file that is damaged is
  // left out, and the other tokens are good. When the file exists but cannot be read, the tokens of
  // the last reading are good. Both are logged when they begin.
  //
  // Reads the file if the last reading is a second old, unless another thread does that.
  std::optional<Caller> Authenticate(const std::vector<std::string_view>& authorization);

  // Reads the file now. From the first call on, Authenticate does not read it any more: call this
  // again every second, on a thread that may wait for the disk.
  void Refresh();

 private:
  void RefreshLocked();
  void UseLocked(const Result<TokenLines>& lines);
  void LogOnce(const Status& problem);

  const std::string path_;
  const Clock& clock_;
  const Logger& logger_;
  std::mutex mutex_;
  std::string logged_problem_;  // So that it is logged once, and not every second.
  std::map<std::string, TokenEntry, std::less<>> by_id_;
  bool is_refreshed_elsewhere_ = false;
  std::optional<std::chrono::nanoseconds> read_at_;
  std::string last_good_;  // The last valid token since the file was read; may be empty.
};

}  // namespace tidemark::api
