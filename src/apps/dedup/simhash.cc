#include "apps/dedup/simhash.h"

#include <array>
#include <bit>
#include <deque>
#include <string>
#include <utility>

namespace tidemark::dedup {

namespace {

constexpr size_t kShingleWords = 3;
constexpr int kBits = 64;

// FNV-1a, then a mixing step, so that every byte influences every bit.
uint64_t HashOf(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

bool IsWordByte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9');
}
bool IsBeyondAscii(char byte) { return (byte & 0x80) != 0; }
bool IsContinuation(char byte) { return (byte & 0xC0) == 0x80; }

// Removes the next word from the text and returns it; empty at the end.
std::string NextWord(std::string_view* text) {
  size_t begin = 0;
  while (begin < text->size() && !IsWordByte((*text)[begin]) && !IsBeyondAscii((*text)[begin])) {
    ++begin;
  }
  size_t end = begin;
  if (end < text->size() && IsBeyondAscii((*text)[end])) {
    do ++end;
    while (end < text->size() && IsContinuation((*text)[end]));
  } else {
    while (end < text->size() && IsWordByte((*text)[end])) ++end;
  }
  std::string word(text->substr(begin, end - begin));
  for (char& byte : word) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
  }
  text->remove_prefix(end);
  return word;
}

// Each bit of the result is the majority of that bit in all counted hashes.
class BitVotes {
 public:
  void Count(uint64_t hash) {
    for (int bit = 0; bit < kBits; ++bit) {
      votes_[static_cast<size_t>(bit)] += (hash >> bit & 1) != 0 ? 1 : -1;
    }
  }
  uint64_t Result() const {
    uint64_t result = 0;
    for (int bit = 0; bit < kBits; ++bit) {
      if (votes_[static_cast<size_t>(bit)] > 0) result |= uint64_t{1} << bit;
    }
    return result;
  }

 private:
  std::array<int64_t, kBits> votes_ = {};
};

std::string Joined(const std::deque<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined.append(word).push_back(' ');
  return joined;
}

}  // namespace

uint64_t SimHash(std::string_view text) {
  BitVotes votes;
  std::deque<std::string> shingle;
  bool counted = false;
  for (std::string word = NextWord(&text); !word.empty(); word = NextWord(&text)) {
    shingle.push_back(std::move(word));
    if (shingle.size() < kShingleWords) continue;
    votes.Count(HashOf(Joined(shingle)));
    counted = true;
    shingle.pop_front();
  }
  if (!counted && !shingle.empty()) votes.Count(HashOf(Joined(shingle)));
  return votes.Result();
}

int Distance(uint64_t left, uint64_t right) { return std::popcount(left ^ right); }

}  // namespace tidemark::dedup
