// Checks the signature of a request that came in. A refusal has the exception and the text that
// AWS gives in the same case, and the checks have AWS's order.
//
//   auto claim = ReadClaim(request);                       // Whose signature it claims to be.
//   if (auto refusal = CheckClaim(claim, now)) …           // Its time, its scope, what it covers.
//   if (auto refusal = CheckSignature(claim, request, SigningKey(secret, claim.scope))) …
//
// A signature is in the Authorization header or in the query. Pure functions.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "aws/signature.h"
#include "base/clock.h"
#include "base/secret.h"
#include "http/message.h"

namespace tidemark::aws {

// How far the clock of a client may be from ours.
inline constexpr std::chrono::minutes kClockWindow(15);
// The longest life of a signature in a query.
inline constexpr std::chrono::seconds kMaxExpires = std::chrono::hours(24 * 7);

// No request has more headers. It bounds the work for a list of signed headers that repeats one.
inline constexpr size_t kMaxSignedHeaders = 100;

struct Refusal {
  std::string_view exception;  // "InvalidSignatureException"
  std::string message;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

inline constexpr std::string_view kMissingToken = "MissingAuthenticationTokenException";
inline constexpr std::string_view kIncompleteSignature = "IncompleteSignatureException";
inline constexpr std::string_view kInvalidSignature = "InvalidSignatureException";
inline constexpr std::string_view kUnrecognizedClient = "UnrecognizedClientException";

// What a request says about its signature. Nothing of it is checked.
struct Claim {
  std::string algorithm;
  std::string credential;                   // "AKID/20150830/us-east-1/dynamodb/aws4_request"
  std::vector<std::string> signed_headers;  // In lower case, in the order of the request.
  std::string signature;
  std::string time;  // "20150830T123600Z"
  bool is_in_query = false;
  std::string expires = {};  // Seconds; in a query only. Empty: as long as one in a header.
  bool has_session_token = false;

  // Of the credential.
  std::string_view access_key() const;
};

// A claim with its parts checked.
struct Checked {
  std::string access_key;
  Scope scope;
};

std::variant<Claim, Refusal> ReadClaim(const http::Request& request);
// Any region is accepted: the one in the scope is that of the client.
std::variant<Checked, Refusal> CheckClaim(const Claim& claim, std::string_view service,
                                          EpochSeconds now);
std::optional<Refusal> CheckSignature(const Claim& claim, const Scope& scope,
                                      const http::Request& request, const Secret& signing_key);
// For an access key that nobody has, and for a session token: no key here comes with one.
Refusal UnknownClient();

}  // namespace tidemark::aws
