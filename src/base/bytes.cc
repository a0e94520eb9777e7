#include "base/bytes.h"

namespace tidemark {

namespace {

void AppendBigEndian(uint64_t value, int width_bytes, std::string* out) {
  for (int shift = (width_bytes - 1) * 8; shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(value >> shift));
  }
}

uint64_t FromBigEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return value;
}

}  // namespace

void AppendFixed32(uint32_t value, std::string* out) { AppendBigEndian(value, 4, out); }
void AppendFixed64(uint64_t value, std::string* out) { AppendBigEndian(value, 8, out); }

void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendText(std::string_view text, std::string* out) {
  AppendVarint(text.size(), out);
  out->append(text);
}

std::string_view Reader::Take(uint64_t length) {
  if (length > rest_.size()) {
    Fail();
    return {};
  }
  std::string_view taken = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return taken;
}

uint8_t Reader::Byte() {
  std::string_view taken = Take(1);
  return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
}

uint32_t Reader::Fixed32() { return static_cast<uint32_t>(FromBigEndian(Take(4))); }
uint64_t Reader::Fixed64() { return FromBigEndian(Take(8)); }

uint64_t Reader::Varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = Byte();
    // The tenth byte has room for one bit.
    const bool overflows = shift == 63 && byte > 1;
    // A zero at the end could be left out. Every number has one encoding, so that equal values have
    // equal bytes.
    const bool padded = shift > 0 && byte == 0;
    if (!ok_ || overflows || padded) break;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  Fail();
  return 0;
}

std::string_view Reader::Text() { return Take(Varint()); }

}  // namespace tidemark
