// Which share of the keys a change applies to while it is rolled out.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::dedup {

// Whether the key is in the share. The same key gives the same answer in every process; a key in
// a share is in every larger one.
bool IsInShare(std::string_view key, uint32_t percent);

}  // namespace tidemark::dedup
