// Signature Version 4: how AWS's clients sign their requests.
//
//   const Scope scope{.date = "20150830", .region = "us-east-1", .service = "dynamodb"};
//   request.headers.Set("X-Amz-Date", BasicTime(now));
//   request.headers.Set("Authorization", AuthorizationFor(credentials, scope, now, signable));
//
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "aws/canonical.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/secret.h"
#include "http/client.h"

namespace tidemark::aws {

inline constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
inline constexpr std::string_view kTerminator = "aws4_request";

struct Credentials {
  std::string access_key;
  Secret secret;
  std::optional<Secret> session_token = std::nullopt;
};

// What a signature is good for: one day, one region, one service.
struct Scope {
  std::string date;  // "20150830"
  std::string region;
  std::string service;
  friend bool operator==(const Scope&, const Scope&) = default;
};
// "20150830/us-east-1/dynamodb/aws4_request"
std::string ToString(const Scope& scope);

// "20150830T123600Z", which AWS calls ISO 8601's basic format.
std::string BasicTime(EpochSeconds time);
std::optional<EpochSeconds> ParseBasicTime(std::string_view text);

// The key that signs all requests of a scope. It costs four HMACs; keep it.
Secret SigningKey(const Secret& secret, const Scope& scope);

// The signature, in hexadecimal. `time` is a BasicTime.
std::string SignatureOf(const Secret& signing_key, const Scope& scope, std::string_view time,
                        std::string_view canonical_request);

// The value of the Authorization header. All headers of the request are signed: it needs a Host and
// an X-Amz-Date with this time.
std::string AuthorizationFor(const Credentials& credentials, const Scope& scope, EpochSeconds time,
                             const Signable& request);

// Adds X-Amz-Date, X-Amz-Security-Token and Authorization to a request. kInvalid when its URL is
// not one.
Status Sign(const Credentials& credentials, const std::string& region, const std::string& service,
            EpochSeconds time, http::OutgoingRequest* request);

}  // namespace tidemark::aws
