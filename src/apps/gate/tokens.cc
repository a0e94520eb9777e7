#include "apps/gate/tokens.h"

#include <utility>

#include "base/hashing.h"

namespace tidemark::gate {

namespace {

// Enough to tell credentials apart, too little to be of any use to who reads the table.
constexpr size_t kGenerationDigits = 16;

Credential CredentialOf(Secret token) {
  std::string generation = ToHex(Sha256(token.Reveal())).substr(0, kGenerationDigits);
  return {.token = std::move(token), .generation = std::move(generation)};
}

}  // namespace

FixedTokens::FixedTokens(std::optional<Secret> for_all, std::map<std::string, Secret> by_team) {
  if (for_all) for_all_ = CredentialOf(*std::move(for_all));
  for (auto& [team, token] : by_team) by_team_.emplace(team, CredentialOf(std::move(token)));
}

std::optional<Credential> FixedTokens::Find(const slack::TeamId& team) const {
  auto found = by_team_.find(team.text());
  return found == by_team_.end() ? for_all_ : found->second;
}

}  // namespace tidemark::gate
