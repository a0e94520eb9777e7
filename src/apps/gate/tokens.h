// Tokens gives the bot token of a team. It only ever reads: nothing that arrives in a request is
// stored as a token.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/secret.h"
#include "slack/ids.h"

namespace tidemark::gate {

struct Credential {
  Secret token;
  // Changes when the token does, and says nothing about it: what was verified with another
  // credential counts as never verified.
  std::string generation;
};

class Tokens {
 public:
  virtual ~Tokens() = default;
  // May be called from any thread.
  virtual std::optional<Credential> Find(const slack::TeamId& team) const = 0;
};

// Those of the settings: one for each named team, and one for all others.
class FixedTokens final : public Tokens {
 public:
  FixedTokens(std::optional<Secret> for_all, std::map<std::string, Secret> by_team);
  std::optional<Credential> Find(const slack::TeamId& team) const override;

 private:
  std::optional<Credential> for_all_;
  std::map<std::string, Credential> by_team_;
};

}  // namespace tidemark::gate
