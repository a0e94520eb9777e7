#include "servers/api/byte_range.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace tidemark::api {

namespace {

// Digits alone; nullopt also when the number does not fit.
std::optional<uint64_t> ParseOffset(std::string_view text) {
  uint64_t offset = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, offset);
  return error == std::errc() && stopped == end ? std::optional(offset) : std::nullopt;
}

ByteRange PartOf(uint64_t first, uint64_t size, uint64_t file_size) {
  if (first >= file_size || size == 0) return {.kind = ByteRange::Kind::kUnsatisfiable};
  return {
      .kind = ByteRange::Kind::kPart, .first = first, .size = std::min(size, file_size - first)};
}

}  // namespace

ByteRange ParseByteRange(std::string_view header, uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return {};
  header.remove_prefix(kUnit.size());
  const size_t dash = header.find('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view last_text = header.substr(dash + 1);
  const auto first = ParseOffset(header.substr(0, dash));
  const auto last = ParseOffset(last_text);
  if (dash == 0) {
    if (!last) return {};
    const uint64_t suffix = std::min(*last, size);
    return PartOf(size - suffix, suffix, size);
  }
  if (!first || (!last && !last_text.empty()) || (last && *last < *first)) return {};
  // The last byte's own place counts; the end of the file bounds it in any case.
  const uint64_t end = last ? std::min(*last, size) : size;
  return PartOf(*first, end < *first ? 0 : end - *first + 1, size);
}

}  // namespace tidemark::api
