// The tokens that callers of the API show. The file keeps a hash of each, never the token, so
// that whoever reads it can call nothing. `tidemark token` writes the file; a server that runs
// notices within a second.
//
//   std::string token = TRY(CreateToken(path, "ci", clock, random));   // shown once
//
//   TokenFile tokens(path, clock);
//   if (!tokens.Authenticate(request.headers.FindAll("Authorization"))) return Unauthorized();
//
// A token is tm_ID_SECRET, the secret 32 random bytes in hexadecimal: guessing is out of reach, so
// a plain SHA-256 keeps it.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"

namespace tidemark::api {

struct TokenEntry {
  std::string id;
  std::string name;
  std::string hash;  // Of the whole token, in hexadecimal.
  EpochSeconds created_at = 0;
};

// Appends a new token; the file is made when it is missing, readable by its owner alone. kInvalid
// when the name is no word of letters, digits, '.', '-' and '_', kInUse when there is one.
Result<std::string> CreateToken(const std::string& path, const std::string& name,
                                const Clock& clock, Random& random);
// In the order of their creation; none when the file is missing. kCorrupt when it is damaged.
Result<std::vector<TokenEntry>> ListTokens(const std::string& path);
// kNotFound when there is none of the name.
Status RevokeToken(const std::string& path, const std::string& name);

// The file as a server sees it. May be used from any thread.
class TokenFile {
 public:
  // The clock outlives this.
  TokenFile(std::string path, const Clock& clock);

  // The name of the token in the Authorization headers: there must be one, of the form
  // "Bearer tm_…". A file that cannot be read lets nobody in.
  std::optional<std::string> Authenticate(const std::vector<std::string_view>& authorization);

 private:
  void RefreshLocked();

  const std::string path_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, TokenEntry, std::less<>> by_id_;
  std::optional<std::chrono::nanoseconds> read_at_;
};

}  // namespace tidemark::api
