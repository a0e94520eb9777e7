#include "aws/signature.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/check.h"
#include "base/hashing.h"
#include "base/rfc3339.h"
#include "http/url.h"

namespace tidemark::aws {

namespace {

// The names of all headers, as a signature lists them.
std::vector<std::string> NamesOf(const http::Headers& headers) {
  std::vector<std::string> names;
  for (const http::Header& header : headers) {
    std::ranges::transform(header.name, std::back_inserter(names.emplace_back()), Lower);
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// The Host header that the client sends: without a port that the scheme implies.
std::string HostOf(const http::UrlParts& parts) {
  const uint16_t implied = parts.scheme == "https" ? 443 : 80;
  return parts.port == implied ? parts.host : fmt::format("{}:{}", parts.host, parts.port);
}

}  // namespace

std::string ToString(const Scope& scope) {
  return fmt::format("{}/{}/{}/{}", scope.date, scope.region, scope.service, kTerminator);
}

std::string BasicTime(EpochSeconds time) {
  return fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::time_t{time}));
}

std::optional<EpochSeconds> ParseBasicTime(std::string_view text) {
  // As "2015-08-30T12:36:00Z".
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  return ParseRfc3339(fmt::format("{}-{}-{}:{}:{}", text.substr(0, 4), text.substr(4, 2),
                                  text.substr(6, 5), text.substr(11, 2), text.substr(13)));
}

Secret SigningKey(const Secret& secret, const Scope& scope) {
  Secret key("AWS4" + std::string(secret.Reveal()));
  for (const std::string_view part : {std::string_view(scope.date), std::string_view(scope.region),
                                      std::string_view(scope.service), kTerminator}) {
    key = Secret(HmacSha256(key, {part}));
  }
  return key;
}

std::string SignatureOf(const Secret& signing_key, const Scope& scope, std::string_view time,
                        std::string_view canonical_request) {
  return ToHex(HmacSha256(signing_key, {kAlgorithm, "\n", time, "\n", ToString(scope), "\n",
                                        ToHex(Sha256(canonical_request))}));
}

std::string AuthorizationFor(const Credentials& credentials, const Scope& scope, EpochSeconds time,
                             const Signable& request) {
  const std::vector<std::string> names = NamesOf(request.headers);
  const auto canonical = CanonicalRequest(request, names);
  CHECK(canonical.has_value());  // Its names are the request's own, and its query is the caller's.
  const std::string signature =
      SignatureOf(SigningKey(credentials.secret, scope), scope, BasicTime(time), *canonical);
  return fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", kAlgorithm,
                     credentials.access_key, ToString(scope), fmt::join(names, ";"), signature);
}

Status Sign(const Credentials& credentials, const std::string& region, const std::string& service,
            EpochSeconds time, http::OutgoingRequest* request) {
  const http::UrlParts parts = TRY(http::SplitUrl(request->url));
  request->url = parts.url;
  std::string_view rest = parts.url;
  rest.remove_prefix(std::min(rest.size(), rest.find("://") + 3));
  rest.remove_prefix(std::min(rest.size(), rest.find_first_of("/?#")));
  rest = rest.substr(0, rest.find('#'));
  const size_t mark = rest.find('?');
  const std::string_view query = mark == std::string_view::npos ? "" : rest.substr(mark + 1);
  if (!CanonicalQuery(query)) return Invalid("the query of the URL is not percent-encoded");

  const std::string basic_time = BasicTime(time);
  request->headers.Set("X-Amz-Date", basic_time);
  if (credentials.session_token) {
    request->headers.Set("X-Amz-Security-Token", std::string(credentials.session_token->Reveal()));
  }
  http::Headers signed_headers = request->headers;
  signed_headers.Set("Host", HostOf(parts));
  const Scope scope{.date = basic_time.substr(0, 8), .region = region, .service = service};
  request->headers.Set("Authorization", AuthorizationFor(credentials, scope, time,
                                                         {.method = request->method,
                                                          .path = rest.substr(0, mark),
                                                          .query = query,
                                                          .headers = signed_headers,
                                                          .body = request->body}));
  return Done{};
}

}  // namespace tidemark::aws
