#include "slack/signature.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/hashing.h"

namespace tidemark::slack {

namespace {

constexpr std::string_view kVersion = "v0";
constexpr std::string_view kPrefix = "v0=";
constexpr size_t kDigestDigits = 64;
// Enough for the next thirty thousand years, and too short to overflow an int64_t.
constexpr size_t kMaxTimestampDigits = 12;

bool IsLowerHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f'); }

std::optional<EpochSeconds> ParseTimestamp(std::string_view text) {
  if (text.empty() || text.size() > kMaxTimestampDigits) return std::nullopt;
  // from_chars would accept a minus sign.
  if (!std::all_of(text.begin(), text.end(), IsDigit)) return std::nullopt;
  EpochSeconds seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return seconds;
}

bool IsSignature(std::string_view text) {
  if (!text.starts_with(kPrefix)) return false;
  text.remove_prefix(kPrefix.size());
  return text.size() == kDigestDigits && std::all_of(text.begin(), text.end(), IsLowerHex);
}

bool IsActive(const SigningSecret& secret, EpochSeconds now) {
  // Anybody can sign with an empty secret. A setting that was left blank must not accept that.
  if (secret.value.empty()) return false;
  if (secret.not_before && now < *secret.not_before) return false;
  return !secret.not_after || now < *secret.not_after;
}

// The checks that need no secret; nullopt when they pass. They come first because they are cheap.
std::optional<SignatureVerdict> CheckHeaders(const SignedRequest& request, EpochSeconds now) {
  if (request.timestamps.empty() || request.signatures.empty()) {
    return SignatureVerdict::kMissingHeader;
  }
  if (request.timestamps.size() > 1 || request.signatures.size() > 1) {
    return SignatureVerdict::kRepeatedHeader;
  }
  const auto timestamp = ParseTimestamp(request.timestamps.front());
  if (!timestamp) return SignatureVerdict::kBadTimestamp;
  if (now - *timestamp > kSignatureWindowSeconds) return SignatureVerdict::kStale;
  if (*timestamp - now > kSignatureWindowSeconds) return SignatureVerdict::kFuture;
  if (!IsSignature(request.signatures.front())) return SignatureVerdict::kBadSignature;
  return std::nullopt;
}

}  // namespace

std::string_view ToString(SignatureVerdict verdict) {
  switch (verdict) {
    case SignatureVerdict::kValid:
      return "valid";
    case SignatureVerdict::kMissingHeader:
      return "missing_header";
    case SignatureVerdict::kRepeatedHeader:
      return "repeated_header";
    case SignatureVerdict::kBadTimestamp:
      return "bad_timestamp";
    case SignatureVerdict::kStale:
      return "stale";
    case SignatureVerdict::kFuture:
      return "future";
    case SignatureVerdict::kBadSignature:
      return "bad_signature";
    case SignatureVerdict::kMismatch:
      return "mismatch";
    case SignatureVerdict::kNoSecret:
      return "no_secret";
  }
  return "";
}

std::string Sign(const Secret& secret, std::string_view timestamp, std::string_view body) {
  return std::string(kPrefix) + ToHex(HmacSha256(secret, {kVersion, ":", timestamp, ":", body}));
}

SignatureCheck SignatureVerifier::Verify(const SignedRequest& request, EpochSeconds now) const {
  if (const auto refusal = CheckHeaders(request, now)) return {.verdict = *refusal};
  SignatureCheck check{.verdict = SignatureVerdict::kNoSecret};
  for (const SigningSecret& secret : secrets_) {
    if (!IsActive(secret, now)) continue;
    const std::string expected = Sign(secret.value, request.timestamps.front(), request.body);
    const bool equal = EqualInConstantTime(expected, request.signatures.front());
    // The loop continues after a match, so that its duration does not reveal which secret matched.
    if (equal) {
      check = {.verdict = SignatureVerdict::kValid, .secret_id = secret.id};
    } else if (check.verdict == SignatureVerdict::kNoSecret) {
      check.verdict = SignatureVerdict::kMismatch;
    }
  }
  return check;
}

}  // namespace tidemark::slack
