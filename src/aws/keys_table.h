// The table of the access keys with which programs sign requests. No server lets callers use it.
#pragma once

#include <string_view>

namespace tidemark::aws {

inline constexpr std::string_view kKeysTable = "tidemark-access-keys";

}  // namespace tidemark::aws
