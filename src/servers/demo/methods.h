// The methods of the simulated Web API, without HTTP: a name and parameters in, JSON out. It is
// stricter than Slack, which ignores unknown parameters and accepts impossible ids.
//
// It changes nothing. It must not be called while another thread changes the world.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "servers/demo/shapes.h"
#include "servers/demo/workspace.h"

namespace tidemark::demo {

// How the pages of lists are cut. Slack filters after it has cut them, so that they may be short or
// empty although more follow.
struct ListPages {
  size_t largest = 999;     // Pages are never larger, whatever the caller asks for.
  bool with_empty = false;  // Before each page but the first comes an empty one.
};

// Everything that the answers depend on.
struct World {
  Workspace workspace;
  Surroundings surroundings;
  ListPages pages;
  std::set<std::string, std::less<>> scopes;  // Of the bot's token.
};

using Parameters = std::map<std::string, std::string>;

struct MethodAnswer {
  std::string body;
  // What is wrong with the call, if a correct client would never make it.
  std::string fault = {};
};

bool HasMethod(std::string_view method);
// The method must exist.
MethodAnswer CallMethod(std::string_view method, const Parameters& parameters, World& world);

// {"ok":false,"error":"invalid_auth"}
std::string ErrorBody(std::string_view error);

}  // namespace tidemark::demo
