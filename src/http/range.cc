#include "http/range.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace tidemark::http {

namespace {

constexpr std::string_view kUnit = "bytes=";

// A number of more than 64 bits is after the end of every body.
std::optional<uint64_t> ParsePosition(std::string_view text) {
  const bool is_number =
      !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return std::nullopt;
  uint64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() ? number : std::numeric_limits<uint64_t>::max();
}

Range Part(uint64_t first, uint64_t end, uint64_t total) {
  if (first >= total || end == first) return {.kind = Range::Kind::kUnsatisfiable};
  return {.kind = Range::Kind::kPart, .offset = first, .size = std::min(end, total) - first};
}

// "a-b", "a-" or "-n"; nullopt for anything else.
std::optional<Range> ParseSpecifier(std::string_view text, uint64_t total) {
  const size_t hyphen = text.find('-');
  if (hyphen == std::string_view::npos) return std::nullopt;
  const std::string_view left = text.substr(0, hyphen);
  const std::string_view right = text.substr(hyphen + 1);
  const auto last = ParsePosition(right);
  if (left.empty()) {
    if (!last) return std::nullopt;
    return Part(total - std::min(*last, total), total, total);
  }
  const auto first = ParsePosition(left);
  if (!first || (!last && !right.empty()) || (last && *last < *first)) return std::nullopt;
  // `last` may be the largest 64-bit number, so adding 1 to it could overflow.
  const bool to_end = !last || *last >= total;
  return Part(*first, to_end ? std::max(total, *first) : *last + 1, total);
}

bool IsOfAnother(const Request& request, std::string_view etag) {
  const auto condition = request.headers.Find("If-Range");
  return condition && *condition != fmt::format("\"{}\"", etag);
}

}  // namespace

Range FindRange(const Request& request, uint64_t total, std::string_view etag) {
  const Range whole{.offset = 0, .size = total};
  const std::vector<std::string_view> headers = request.headers.FindAll("Range");
  if (request.method != Method::kGet || headers.size() != 1 || IsOfAnother(request, etag)) {
    return whole;
  }
  if (!EqualIgnoringCase(headers[0].substr(0, kUnit.size()), kUnit)) return whole;
  return ParseSpecifier(headers[0].substr(kUnit.size()), total).value_or(whole);
}

std::string ContentRange(const Range& range, uint64_t total) {
  if (range.kind == Range::Kind::kUnsatisfiable) return fmt::format("bytes */{}", total);
  return fmt::format("bytes {}-{}/{}", range.offset, range.offset + range.size - 1, total);
}

}  // namespace tidemark::http
