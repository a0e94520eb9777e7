// The request signature. The input has header values and a body, separated by newlines. It never
// crashes the verifier, and is valid only if the secret signed exactly this text within the window.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "slack/signature.h"

namespace {

using tidemark::EpochSeconds;
using tidemark::Secret;
using tidemark::slack::SignatureCheck;
using tidemark::slack::SignatureVerdict;
using tidemark::slack::SignatureVerifier;
using tidemark::slack::SignedRequest;

constexpr EpochSeconds kNow = 1'700'000'000;

Secret Key() { return Secret(std::string("a key for the fuzzer")); }

const SignatureVerifier& Verifier() {
  static const SignatureVerifier verifier = [] {
    std::vector<tidemark::slack::SigningSecret> secrets;
    secrets.push_back({.id = "fuzz", .value = Key()});
    return SignatureVerifier(std::move(secrets));
  }();
  return verifier;
}

std::string_view TakeLine(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return line;
}

// Values are separated by '|'. An empty line means that the header is missing.
std::vector<std::string_view> Values(std::string_view line) {
  std::vector<std::string_view> values;
  while (!line.empty()) {
    const size_t end = line.find('|');
    values.push_back(line.substr(0, end));
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  return values;
}

bool IsReallySigned(const SignedRequest& request) {
  if (request.timestamps.size() != 1 || request.signatures.size() != 1) return false;
  const std::string_view timestamp = request.timestamps.front();
  const EpochSeconds time = std::strtoll(std::string(timestamp).c_str(), nullptr, 10);
  return std::llabs(kNow - time) <= 300 &&
         request.signatures.front() == tidemark::slack::Sign(Key(), timestamp, request.body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  SignedRequest request;
  request.timestamps = Values(TakeLine(&text));
  request.signatures = Values(TakeLine(&text));
  request.body = text;
  const SignatureCheck check = Verifier().Verify(request, kNow);
  const bool valid = check.verdict == SignatureVerdict::kValid;
  CHECK(valid == (check.secret_id == "fuzz"));
  if (valid) CHECK(IsReallySigned(request));

  // The fuzzer cannot make signatures, so the body is signed here. Then any body must be valid.
  const std::string signature = tidemark::slack::Sign(Key(), "1700000300", text);
  request.timestamps = {"1700000300"};
  request.signatures = {signature};
  CHECK(Verifier().Verify(request, kNow).verdict == SignatureVerdict::kValid);
  return 0;
}
