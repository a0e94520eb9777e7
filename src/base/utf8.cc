#include "base/utf8.h"

#include <algorithm>
#include <cstdint>

#include <simdjson.h>

namespace tidemark {

namespace {

// The length of the sequence that begins with this byte; 0 when no sequence does.
size_t SequenceLength(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

bool IsHiddenControl(std::string_view character) {
  if (character.size() == 1) return character[0] == 0x7f;
  return character[0] == '\xc2' && static_cast<uint8_t>(character[1]) < 0xa0;
}

// The length of the first character if it may be shown; otherwise 0.
size_t ShownLength(std::string_view text) {
  const std::string_view character = text.substr(0, SequenceLength(static_cast<uint8_t>(text[0])));
  if (character.empty() || !IsUtf8(character) || IsHiddenControl(character)) return 0;
  return character.size();
}

}  // namespace

bool IsUtf8(std::string_view text) { return simdjson::validate_utf8(text); }

std::string Shown(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const size_t length = ShownLength(text);
    shown.append(length == 0 ? "\xef\xbf\xbd" : text.substr(0, length));
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return shown;
}

}  // namespace tidemark
