#include "base/base64.h"

#include <array>
#include <cstdint>

namespace tidemark {

namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr uint8_t kForeign = 64;

constexpr std::array<uint8_t, 256> kSextets = [] {
  std::array<uint8_t, 256> sextets{};
  sextets.fill(kForeign);
  for (uint8_t i = 0; i < kAlphabet.size(); ++i) sextets[static_cast<uint8_t>(kAlphabet[i])] = i;
  return sextets;
}();

uint32_t Sextet(char digit) { return kSextets[static_cast<uint8_t>(digit)]; }

// Up to three bytes, the missing ones zero, in the low 24 bits.
uint32_t PackBytes(std::string_view bytes) {
  uint32_t bits = 0;
  for (size_t i = 0; i < 3; ++i) {
    bits = bits << 8 | (i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0);
  }
  return bits;
}

void AppendDigits(uint32_t bits, size_t count, std::string* out) {
  for (size_t i = 0; i < count; ++i) *out += kAlphabet[bits >> (18 - 6 * i) & 63];
}

void AppendBytes(uint32_t bits, size_t count, std::string* out) {
  for (size_t i = 0; i < count; ++i) *out += static_cast<char>(bits >> (16 - 8 * i));
}

size_t CountPadding(std::string_view text) {
  if (text.ends_with("==")) return 2;
  return text.ends_with('=') ? 1 : 0;
}

}  // namespace

void AppendBase64(std::string_view bytes, std::string* out) {
  out->reserve(out->size() + (bytes.size() + 2) / 3 * 4);
  for (; bytes.size() >= 3; bytes.remove_prefix(3)) AppendDigits(PackBytes(bytes), 4, out);
  if (bytes.empty()) return;
  AppendDigits(PackBytes(bytes), bytes.size() + 1, out);
  out->append(3 - bytes.size(), '=');
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  AppendBase64(bytes, &text);
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t padding = CountPadding(text);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t at = 0; at < text.size(); at += 4) {
    const size_t missing = at + 4 == text.size() ? padding : 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < 4 - missing; ++i) {
      const uint32_t sextet = Sextet(text[at + i]);
      if (sextet == kForeign) return std::nullopt;
      bits |= sextet << (18 - 6 * i);
    }
    AppendBytes(bits, 3 - missing, &bytes);
    // The last digits have bits that no byte uses. If they are not zero, another text would decode
    // to the same bytes.
    const uint32_t spare_bits = (1u << (8 * missing)) - 1;
    if ((bits & spare_bits) != 0) return std::nullopt;
  }
  return bytes;
}

}  // namespace tidemark
