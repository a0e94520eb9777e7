#include "aws/canonical.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hashing.h"
#include "http/url.h"

namespace tidemark::aws {

namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Without spaces at the ends, and with one space where there are several.
void AppendTrimmed(std::string_view value, std::string* out) {
  const size_t begin = out->size();
  for (const char c : value) {
    const bool is_space = c == ' ' || c == '\t';
    const bool is_first_or_repeated = out->size() == begin || out->back() == ' ';
    if (!is_space) {
      out->push_back(c);
    } else if (!is_first_or_repeated) {
      out->push_back(' ');
    }
  }
  if (out->size() > begin && out->back() == ' ') out->pop_back();
}

// A line for each name; the values of a name that is there several times are joined by commas.
std::optional<std::string> CanonicalHeaders(const http::Headers& headers,
                                            const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text.append(name).push_back(':');
    bool is_there = false;
    for (const http::Header& header : headers) {
      if (!http::EqualIgnoringCase(header.name, name)) continue;
      if (std::exchange(is_there, true)) text.push_back(',');
      AppendTrimmed(header.value, &text);
    }
    if (!is_there) return std::nullopt;
    text.push_back('\n');
  }
  return text;
}

}  // namespace

std::string CanonicalPath(std::string_view path) {
  std::vector<std::string_view> kept;
  for (const std::string_view segment : Split(path, '/')) {
    if (segment.empty() || segment == ".") continue;
    if (segment != "..") {
      kept.push_back(segment);
    } else if (!kept.empty()) {
      kept.pop_back();
    }
  }
  std::string canonical;
  for (const std::string_view segment : kept) {
    canonical.append("/").append(http::PercentEncode(segment));
  }
  if (canonical.empty() || path.ends_with('/')) canonical.push_back('/');
  return canonical;
}

std::optional<std::string> CanonicalQuery(std::string_view query, std::string_view left_out) {
  if (query.empty()) return std::string();
  std::vector<std::pair<std::string, std::string>> parameters;
  for (const std::string_view part : Split(query, '&')) {
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    const auto name = http::PercentDecode(part.substr(0, equals));
    const auto value =
        http::PercentDecode(equals == std::string_view::npos ? "" : part.substr(equals + 1));
    if (!name || !value) return std::nullopt;
    if (!left_out.empty() && *name == left_out) continue;
    parameters.emplace_back(http::PercentEncode(*name), http::PercentEncode(*value));
  }
  std::ranges::sort(parameters);
  std::string canonical;
  for (const auto& [name, value] : parameters) {
    if (!canonical.empty()) canonical.push_back('&');
    canonical.append(name).append("=").append(value);
  }
  return canonical;
}

std::optional<std::string> CanonicalRequest(const Signable& request,
                                            const std::vector<std::string>& signed_headers,
                                            std::string_view left_out_parameter) {
  const auto query = CanonicalQuery(request.query, left_out_parameter);
  const auto headers = CanonicalHeaders(request.headers, signed_headers);
  if (!query || !headers) return std::nullopt;
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", http::ToString(request.method),
                     CanonicalPath(request.path), *query, *headers, fmt::join(signed_headers, ";"),
                     ToHex(Sha256(request.body)));
}

}  // namespace tidemark::aws
