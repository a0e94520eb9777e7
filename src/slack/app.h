// The scopes and event subscriptions that the Slack app needs. The app's manifest is made from
// them, and `tidemark doctor` compares a token's scopes with them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tidemark::slack {

struct Scope {
  std::string_view name;
  std::string_view why;
};

// Exactly the scopes that this program uses.
std::span<const Scope> RequiredScopes();

// The manifest from which Slack creates the app, as indented JSON. `url` is the address under which
// Slack reaches the server: "https://tidemark.example.com".
std::string AppManifest(std::string_view url);

}  // namespace tidemark::slack
