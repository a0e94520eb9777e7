// Building and reading byte strings: big-endian integers, variable-length integers and
// length-prefixed texts. Every stored format consists of these parts.
//
// A Reader takes bytes from the front of a view and does not trust them. When there are too few
// bytes or they do not decode, it fails, and stays failed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark {

void AppendFixed32(uint32_t value, std::string* out);  // Big-endian, so bytes sort like numbers.
void AppendFixed64(uint64_t value, std::string* out);
void AppendVarint(uint64_t value, std::string* out);       // 7 bits a byte, low bits first.
void AppendText(std::string_view text, std::string* out);  // Varint length, then the bytes.

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  // Each returns a zero value once the reader has failed.
  uint8_t Byte();
  uint32_t Fixed32();
  uint64_t Fixed64();
  uint64_t Varint();  // Accepts only the shortest form.
  std::string_view Text();
  std::string_view Take(uint64_t length);

  void Fail() {
    ok_ = false;
    rest_ = {};
  }
  bool ok() const { return ok_; }
  // True when everything was read and nothing failed.
  bool AtEnd() const { return ok_ && rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace tidemark
