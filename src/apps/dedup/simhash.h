// SimHash: a 64-bit fingerprint of a text that changes little when the text does.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::dedup {

// Over runs of three words, lower and upper case alike. A word is a run of ASCII letters and
// digits; every character beyond ASCII is a word of its own, as CJK texts have no spaces.
// Zero when the text has no word.
uint64_t SimHash(std::string_view text);

// The number of bits in which they differ.
int Distance(uint64_t left, uint64_t right);

}  // namespace tidemark::dedup
