// What the methods of the pretend Web API answer, without HTTP: a name and parameters in, JSON
// out. Stricter than Slack, which ignores parameters that it does not know and answers anything to
// ids that cannot be.
//
// Changes nothing. One thread at a time with what changes the world.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "servers/demo/shapes.h"
#include "servers/demo/workspace.h"

namespace tidemark::demo {

// Everything that answers depend on.
struct World {
  Workspace workspace;
  Surroundings surroundings;
  std::set<std::string, std::less<>> scopes;  // Of the bot's token.
};

using Parameters = std::map<std::string, std::string>;

struct MethodAnswer {
  std::string body;
  // When the call should never have been made like this: what is wrong with it.
  std::string fault = {};
};

bool HasMethod(std::string_view method);
// Of a method that there is.
MethodAnswer CallMethod(std::string_view method, const Parameters& parameters, World& world);

// {"ok":false,"error":"invalid_auth"}
std::string ErrorBody(std::string_view error);

}  // namespace tidemark::demo
