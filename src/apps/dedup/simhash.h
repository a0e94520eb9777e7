// SimHash: a 64-bit fingerprint of a text that changes little when the text does.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::dedup {

// Computed over all groups of three consecutive words, ignoring case. A word is a run of ASCII
// letters and digits. Every other character outside of ASCII is a word of its own, because Chinese
// and Japanese texts have no spaces. Zero when the text has no word.
uint64_t SimHash(std::string_view text);

// The number of bits in which they differ.
int Distance(uint64_t left, uint64_t right);

}  // namespace tidemark::dedup
