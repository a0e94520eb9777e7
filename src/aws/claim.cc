#include "aws/claim.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/hashing.h"
#include "http/url.h"

namespace tidemark::aws {

namespace {

constexpr std::string_view kSignatureParameter = "X-Amz-Signature";

Refusal Incomplete(std::string message) { return {kIncompleteSignature, std::move(message)}; }
Refusal NotValid(std::string message) { return {kInvalidSignature, std::move(message)}; }

std::vector<std::string> SplitHeaderNames(std::string_view text) {
  std::vector<std::string> names(1);
  for (const char c : text) {
    if (c == ';') {
      names.emplace_back();
    } else {
      names.back().push_back(Lower(c));
    }
  }
  return names;
}

using Parameters = std::map<std::string, std::string, std::less<>>;

std::string ValueOf(const Parameters& parameters, std::string_view name) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string() : found->second;
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// "Credential=…, SignedHeaders=…,Signature=…": after the algorithm, with commas or spaces between.
std::variant<Parameters, Refusal> ParametersOfHeader(std::string_view header) {
  Parameters parameters;
  std::string_view rest = header.substr(std::min(header.find(' '), header.size()));
  while (true) {
    const size_t begin = rest.find_first_not_of(", \t");
    if (begin == std::string_view::npos) return parameters;
    rest.remove_prefix(begin);
    const std::string_view pair = rest.substr(0, rest.find_first_of(", \t"));
    rest.remove_prefix(pair.size());
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) {
      return Incomplete(fmt::format(
          "'{}' not a valid key=value pair (missing equal-sign) in Authorization header: '{}'.",
          pair, header));
    }
    parameters.insert_or_assign(std::string(pair.substr(0, equals)),
                                std::string(pair.substr(equals + 1)));
  }
}

std::variant<Claim, Refusal> ReadHeader(const http::Request& request, std::string_view header) {
  auto read = ParametersOfHeader(header);
  if (const auto* refusal = std::get_if<Refusal>(&read)) return *refusal;
  const auto& parameters = std::get<Parameters>(read);
  std::string missing;
  for (const std::string_view name : {"Credential", "Signature", "SignedHeaders"}) {
    if (!parameters.contains(name)) {
      missing += fmt::format("Authorization header requires '{}' parameter. ", name);
    }
  }
  auto time = request.headers.Find("X-Amz-Date");
  if (!time) time = request.headers.Find("Date");
  if (!time) {
    missing +=
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ";
  }
  if (!missing.empty()) return Incomplete(fmt::format("{}Authorization={}", missing, header));
  return Claim{.algorithm = std::string(header.substr(0, header.find(' '))),
               .credential = ValueOf(parameters, "Credential"),
               .signed_headers = SplitHeaderNames(ValueOf(parameters, "SignedHeaders")),
               .signature = ValueOf(parameters, "Signature"),
               .time = std::string(*time),
               .has_session_token = request.headers.Find("X-Amz-Security-Token").has_value()};
}

std::variant<Claim, Refusal> ReadQuery(const Parameters& parameters) {
  std::string missing;
  for (const std::string_view name :
       {std::string_view("X-Amz-Algorithm"), std::string_view("X-Amz-Credential"),
        kSignatureParameter, std::string_view("X-Amz-SignedHeaders"),
        std::string_view("X-Amz-Date")}) {
    if (ValueOf(parameters, name).empty()) {
      missing += fmt::format("AWS query-string parameters must include '{}'. ", name);
    }
  }
  if (!missing.empty()) return Incomplete(missing + "Re-examine the query-string parameters.");
  return Claim{.algorithm = ValueOf(parameters, "X-Amz-Algorithm"),
               .credential = ValueOf(parameters, "X-Amz-Credential"),
               .signed_headers = SplitHeaderNames(ValueOf(parameters, "X-Amz-SignedHeaders")),
               .signature = ValueOf(parameters, kSignatureParameter),
               .time = ValueOf(parameters, "X-Amz-Date"),
               .is_in_query = true,
               .expires = ValueOf(parameters, "X-Amz-Expires"),
               .has_session_token = parameters.contains("X-Amz-Security-Token")};
}

// A query that does not parse, as one that repeats a name, has no signature that could be checked.
Parameters ParametersOfQuery(const std::string& query) {
  auto parsed = http::ParseQuery(query);
  if (!parsed) return {};
  return {parsed->begin(), parsed->end()};
}

std::optional<Refusal> CheckTime(const Claim& claim, EpochSeconds now) {
  const auto time = ParseBasicTime(claim.time);
  if (!time) {
    return Incomplete(
        fmt::format("Date must be in ISO-8601 'basic format'. Got '{}'. See "
                    "http://en.wikipedia.org/wiki/ISO_8601",
                    claim.time));
  }
  constexpr EpochSeconds kWindow = std::chrono::seconds(kClockWindow).count();
  EpochSeconds life = kWindow;
  if (!claim.expires.empty()) {
    const char* end = claim.expires.data() + claim.expires.size();
    const auto [stopped, error] = std::from_chars(claim.expires.data(), end, life);
    if (error != std::errc() || stopped != end || life < 1 || life > kMaxExpires.count()) {
      return Incomplete(
          fmt::format("X-Amz-Expires must be a number of seconds from 1 to {}, not "
                      "'{}'.",
                      kMaxExpires.count(), claim.expires));
    }
  }
  if (*time < now - life) {
    return NotValid(fmt::format("Signature expired: {} is now earlier than {} ({} - {} min.)",
                                claim.time, BasicTime(now - life), BasicTime(now), life / 60));
  }
  if (*time > now + kWindow) {
    return NotValid(
        fmt::format("Signature not yet current: {} is still later than {} ({} + {} "
                    "min.)",
                    claim.time, BasicTime(now + kWindow), BasicTime(now), kWindow / 60));
  }
  return std::nullopt;
}

bool Signs(const Claim& claim, std::string_view header) {
  return std::ranges::find(claim.signed_headers, header) != claim.signed_headers.end();
}

std::optional<Refusal> CheckCoverage(const Claim& claim) {
  if (!Signs(claim, "host")) {
    return NotValid("'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.");
  }
  // Without it a request that was signed to read could be sent again to delete.
  if (!Signs(claim, "x-amz-target")) {
    return NotValid("'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.");
  }
  return std::nullopt;
}

using CredentialParts = std::array<std::string, 5>;

// nullopt unless there are exactly five. Slashes at the end are ignored.
std::optional<CredentialParts> SplitCredential(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  CredentialParts parts;
  size_t count = 0;
  while (true) {
    if (count == parts.size()) return std::nullopt;
    const size_t end = text.find('/');
    parts[count++] = text.substr(0, end);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return count == parts.size() ? std::optional(std::move(parts)) : std::nullopt;
}

std::string ScopeProblems(const CredentialParts& parts, std::string_view service,
                          const Claim& claim) {
  std::string problems;
  if (parts[2].empty()) problems += "Credential should be scoped to a valid region, not ''. ";
  if (parts[3] != service) {
    problems += fmt::format("Credential should be scoped to correct service: '{}'. ", service);
  }
  if (parts[4] != kTerminator) {
    problems += fmt::format("Credential should be scoped with a valid terminator: '{}', not '{}'. ",
                            kTerminator, parts[4]);
  }
  const std::string date = claim.time.substr(0, 8);
  if (parts[1] != date) {
    problems += fmt::format(
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from "
        "HTTP: '{}' != '{}', from '{}'.",
        parts[1], date, claim.time);
  }
  return problems;
}

bool IsSignatureOf(const Claim& claim, const Scope& scope, const http::Request& request,
                   const Secret& signing_key) {
  if (claim.signed_headers.size() > kMaxSignedHeaders) return false;
  const auto canonical =
      CanonicalRequest({.method = request.method,
                        .path = request.path,
                        .query = request.query,
                        .headers = request.headers,
                        .body = request.body},
                       claim.signed_headers, claim.is_in_query ? kSignatureParameter : "");
  return canonical && EqualInConstantTime(SignatureOf(signing_key, scope, claim.time, *canonical),
                                          claim.signature);
}

}  // namespace

std::string_view Claim::access_key() const {
  return std::string_view(credential).substr(0, credential.find('/'));
}

std::variant<Claim, Refusal> ReadClaim(const http::Request& request) {
  const auto headers = request.headers.FindAll("Authorization");
  const Parameters query = request.query.empty() ? Parameters() : ParametersOfQuery(request.query);
  const bool is_in_query = query.contains("X-Amz-Algorithm");
  if (!headers.empty() && is_in_query) {
    return NotValid(
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP "
        "header.");
  }
  if (is_in_query) return ReadQuery(query);
  const std::string_view header = headers.size() == 1 ? Trimmed(headers.front()) : "";
  if (header.starts_with("AWS4-")) return ReadHeader(request, header);
  return Refusal{kMissingToken, "Request is missing Authentication Token"};
}

std::variant<Checked, Refusal> CheckClaim(const Claim& claim, std::string_view service,
                                          EpochSeconds now) {
  if (auto refusal = CheckTime(claim, now)) return *std::move(refusal);
  if (auto refusal = CheckCoverage(claim)) return *std::move(refusal);
  if (claim.algorithm != kAlgorithm) {
    return Incomplete(fmt::format("Unsupported AWS 'algorithm': '{}' (only {} for now). ",
                                  claim.algorithm, kAlgorithm));
  }
  auto parts = SplitCredential(claim.credential);
  if (!parts) {
    return Incomplete(
        fmt::format("Credential must have exactly 5 slash-delimited elements, e.g. "
                    "keyid/date/region/service/term, got '{}'",
                    claim.credential));
  }
  std::string problems = ScopeProblems(*parts, service, claim);
  if (!problems.empty()) return NotValid(std::move(problems));
  return Checked{.access_key = std::move((*parts)[0]),
                 .scope = {.date = std::move((*parts)[1]),
                           .region = std::move((*parts)[2]),
                           .service = std::move((*parts)[3])}};
}

std::optional<Refusal> CheckSignature(const Claim& claim, const Scope& scope,
                                      const http::Request& request, const Secret& signing_key) {
  if (!IsSignatureOf(claim, scope, request, signing_key)) {
    return NotValid(
        "The request signature we calculated does not match the signature you provided. Check "
        "your AWS Secret Access Key and signing method. Consult the service documentation for "
        "details.");
  }
  if (claim.has_session_token) return UnknownClient();
  return std::nullopt;
}

Refusal UnknownClient() {
  return {kUnrecognizedClient, "The security token included in the request is invalid."};
}

}  // namespace tidemark::aws
