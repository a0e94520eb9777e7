// Verifies Slack's request signature, version 0: the sender knows the signing secret, and the
// request's timestamp differs from our clock by at most five minutes.
//
//   SignatureCheck check = verifier.Verify(request, clock.NowSeconds());
//   if (check.verdict != SignatureVerdict::kValid) return Refuse();
//
// The HMAC covers the text of the timestamp and the bytes of the body exactly as received. All
// active secrets are tried, and each comparison takes constant time. The body is not parsed. A
// SignatureVerifier is immutable and may be used from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/secret.h"

namespace tidemark::slack {

inline constexpr EpochSeconds kSignatureWindowSeconds = 300;
inline constexpr std::string_view kTimestampHeader = "X-Slack-Request-Timestamp";
inline constexpr std::string_view kSignatureHeader = "X-Slack-Signature";

// A secret that is active while not_before <= now < not_after. An empty secret is never active.
struct SigningSecret {
  std::string id;
  Secret value;
  std::optional<EpochSeconds> not_before = std::nullopt;
  std::optional<EpochSeconds> not_after = std::nullopt;
};

// All values of the two headers, because a repeated header is refused, and the body as received.
struct SignedRequest {
  std::vector<std::string_view> timestamps;
  std::vector<std::string_view> signatures;
  std::string_view body;
};

enum class SignatureVerdict {
  kValid,
  kMissingHeader,
  kRepeatedHeader,
  kBadTimestamp,  // Something other than decimal digits, or too many of them.
  kStale,         // More than 300 s old.
  kFuture,        // More than 300 s ahead of our clock.
  kBadSignature,  // Not "v0=" and 64 lower-case hexadecimal digits.
  kMismatch,      // No active secret gives this signature.
  kNoSecret,      // No secret is active.
};

// "missing_header": for the audit log. A reply never says why the request was refused.
std::string_view ToString(SignatureVerdict verdict);

struct SignatureCheck {
  SignatureVerdict verdict = SignatureVerdict::kMissingHeader;
  std::string secret_id = {};  // The secret that made the signature, when valid.
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
