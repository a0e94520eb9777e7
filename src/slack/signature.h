// Slack's request signature, version 0: whether a request was made by somebody who knows the
// signing secret, within the last five minutes by our clock and in no future either.
//
//   SignatureCheck check = verifier.Verify(request, clock.NowSeconds());
//   if (check.verdict != SignatureVerdict::kValid) return Refuse();
//
// The hash is taken over the timestamp's text and the body's bytes as received. Every active
// secret is tried, without stopping early, and compared in constant time. Nothing of the body
// is looked at. A Verifier never changes and may be used from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/secret.h"

namespace tidemark::slack {

inline constexpr EpochSeconds kSignatureWindowSeconds = 300;
inline constexpr std::string_view kTimestampHeader = "X-Slack-Request-Timestamp";
inline constexpr std::string_view kSignatureHeader = "X-Slack-Signature";

// A secret and when it counts: from not_before on, until before not_after. An empty one never does.
struct SigningSecret {
  std::string id;
  Secret value;
  std::optional<EpochSeconds> not_before = std::nullopt;
  std::optional<EpochSeconds> not_after = std::nullopt;
};

// Every value of the two headers, so that a repeated one is seen, and the body as received.
struct SignedRequest {
  std::vector<std::string_view> timestamps;
  std::vector<std::string_view> signatures;
  std::string_view body;
};

enum class SignatureVerdict {
  kValid,
  kMissingHeader,
  kRepeatedHeader,
  kBadTimestamp,  // Not decimal digits alone, or too many.
  kStale,         // More than 300 s old.
  kFuture,        // More than 300 s ahead.
  kBadSignature,  // Not "v0=" and 64 lower-case hexadecimal digits.
  kMismatch,      // No active secret made it.
  kNoSecret,      // There is no active secret to try.
};

// "missing_header": for the audit record, never for the reply.
std::string_view ToString(SignatureVerdict verdict);

struct SignatureCheck {
  SignatureVerdict verdict = SignatureVerdict::kMissingHeader;
  std::string secret_id = {};  // Of the secret that made it, when valid.
};

class SignatureVerifier {
 public:
  explicit SignatureVerifier(std::vector<SigningSecret> secrets) : secrets_(std::move(secrets)) {}

  SignatureCheck Verify(const SignedRequest& request, EpochSeconds now) const;

 private:
  std::vector<SigningSecret> secrets_;
};

// The value of X-Slack-Signature that Slack would send.
std::string Sign(const Secret& secret, std::string_view timestamp, std::string_view body);

}  // namespace tidemark::slack
