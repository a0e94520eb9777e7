// What the Slack app must be allowed to do and told of: one table each, from which the app's
// manifest is made and against which `tidemark doctor` compares a token.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tidemark::slack {

struct Scope {
  std::string_view name;
  std::string_view why;
};

// Every scope that something here uses, and no other.
std::span<const Scope> RequiredScopes();
// The events that the app subscribes to.
std::span<const std::string_view> SubscribedEvents();

// The manifest to make the app from, as JSON for people. `url` is where Slack reaches the server,
// "https://tidemark.example.com".
std::string AppManifest(std::string_view url);

}  // namespace tidemark::slack
