#include "base/shown_text.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace tidemark {

namespace {

size_t LengthByFirstByte(unsigned char byte) {
  if (byte < 0xC0) return 1;
  if (byte < 0xE0) return 2;
  return byte < 0xF0 ? 3 : 4;
}

// Of a character of two or three bytes.
char32_t CodePointOf(std::string_view character) {
  char32_t point =
      static_cast<unsigned char>(character[0]) & (character.size() == 2 ? 0x1FU : 0xFU);
  for (const char byte : character.substr(1)) {
    point = point << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return point;
}

template <typename Replace>
std::string ReplaceDisplayChanges(std::string_view text, Replace replace) {
  std::string safe;
  while (!text.empty()) {
    const std::string_view character = FirstCharacter(text);
    text.remove_prefix(character.size());
    if (ChangesDisplay(character)) {
      replace(character, &safe);
    } else {
      safe += character;
    }
  }
  return safe;
}

}  // namespace

std::string_view FirstCharacter(std::string_view text) {
  const size_t length = LengthByFirstByte(static_cast<unsigned char>(text.front()));
  const std::string_view character = text.substr(0, length);
  const bool is_whole =
      character.size() == length && std::ranges::all_of(character.substr(1), [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
      });
  return is_whole ? character : text.substr(0, 1);
}

bool ChangesDisplay(std::string_view character) {
  if (character.size() == 1) {
    const auto byte = static_cast<unsigned char>(character.front());
    return byte < 0x20 || byte >= 0x7F;  // A byte from 0x80 on is not UTF-8 when it is alone.
  }
  if (character.size() == 4) return false;
  const char32_t point = CodePointOf(character);
  const auto is_in = [&](char32_t first, char32_t last) { return point >= first && point <= last; };
  return is_in(0x80, 0x9F) || point == 0x061C || is_in(0x200E, 0x200F) || is_in(0x2028, 0x202E) ||
         is_in(0x2066, 0x2069);
}

std::string WithoutDisplayChanges(std::string_view text) {
  return ReplaceDisplayChanges(text, [](std::string_view, std::string* safe) { *safe += ' '; });
}

std::string EscapeDisplayChanges(std::string_view json) {
  return ReplaceDisplayChanges(json, [](std::string_view character, std::string* safe) {
    // JSON has control characters of one byte only between values, as line breaks.
    if (character.size() == 1) {
      *safe += character;
    } else {
      *safe += fmt::format("\\u{:04x}", static_cast<uint32_t>(CodePointOf(character)));
    }
  });
}

}  // namespace tidemark
