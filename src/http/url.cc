#include "http/url.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <memory>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/check.h"
#include "http/limits.h"

namespace tidemark::http {

namespace {

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// In a query, unlike in a path, a plus is a space.
std::optional<std::string> DecodeFormText(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return PercentDecode(spaced);
}

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using ParsedUrl = std::unique_ptr<CURLU, FreeUrl>;

std::optional<std::string> Part(const ParsedUrl& url, CURLUPart part, unsigned int flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return std::nullopt;
  std::string copy = text;
  curl_free(text);
  return copy;
}

std::string LowerCase(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// libcurl has already turned other ways to write an IPv4 address, such as 0x7f.1, into four decimal
// numbers.
bool IsIpLiteral(const std::string& host) {
  in_addr address{};
  return host.starts_with('[') || ::inet_pton(AF_INET, host.c_str(), &address) == 1;
}

// Parses the text. A relative text is resolved against the URL that the handle already has.
Status Read(const std::string& text, const ParsedUrl& url) {
  // libcurl reads up to the first zero byte. A text with a zero would be another URL than the one
  // that was checked.
  const bool fits = text.size() <= kMaxUrlBytes && text.find('\0') == std::string::npos;
  const bool is_read = fits && curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  return is_read ? Status(Done{}) : Invalid("This is not a URL.");
}

Result<UrlParts> PartsOf(const ParsedUrl& url) {
  UrlParts parts;
  parts.url = Part(url, CURLUPART_URL).value_or("");
  parts.scheme = LowerCase(Part(url, CURLUPART_SCHEME).value_or(""));
  parts.host = LowerCase(Part(url, CURLUPART_HOST).value_or(""));
  const std::string port = Part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT).value_or("");
  std::from_chars(port.data(), port.data() + port.size(), parts.port);
  if (parts.scheme != "http" && parts.scheme != "https") {
    return Invalid("The URL is not one of http or https.");
  }
  if (parts.host.empty() || parts.port == 0) return Invalid("The URL names no host.");
  parts.has_user_info = Part(url, CURLUPART_USER) || Part(url, CURLUPART_PASSWORD);
  parts.is_ip_literal = IsIpLiteral(parts.host);
  return parts;
}

ParsedUrl NewUrl() {
  ParsedUrl url(curl_url());
  CHECK(url != nullptr);
  return url;
}

}  // namespace

std::string PercentEncode(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c)) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<uint8_t>(c);
    encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return encoded;
}

std::optional<std::string> PercentDecode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const auto high = HexDigit(text[i + 1]);
    const auto low = HexDigit(text[i + 2]);
    if (!high || !low) return std::nullopt;
    decoded += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return decoded;
}

Result<std::map<std::string, std::string>> ParseQuery(std::string_view query) {
  std::map<std::string, std::string> values;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    auto name = DecodeFormText(pair.substr(0, equals));
    auto value = DecodeFormText(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) return Invalid("The query has a '%' without two hexadecimal digits.");
    // Programs differ in which of two equal names they use, so a name may be there only once.
    const auto [at, added] = values.emplace(std::move(*name), std::move(*value));
    if (!added) return Invalid("The query names a parameter more than once: send each once.");
  }
  return values;
}

std::string UrlParts::Origin() const { return fmt::format("{}://{}:{}", scheme, host, port); }

Result<UrlParts> SplitUrl(const std::string& url) {
  const ParsedUrl parsed = NewUrl();
  TRY(Read(url, parsed));
  return PartsOf(parsed);
}

Result<UrlParts> ResolveUrl(const UrlParts& base, const std::string& location) {
  const ParsedUrl parsed = NewUrl();
  TRY(Read(base.url, parsed));
  TRY(Read(location, parsed));
  return PartsOf(parsed);
}

}  // namespace tidemark::http
