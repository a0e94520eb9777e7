// Signatures of requests as strangers write them: the Authorization header or the query, and the
// canonical form of the request around it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "aws/claim.h"

using namespace tidemark;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t middle = text.find('\n');
  http::Request request{.method = http::Method::kPost, .path = "/"};
  request.headers = {{"Host", "localhost"},
                     {"X-Amz-Date", "20231114T221320Z"},
                     {"X-Amz-Target", "DynamoDB_20120810.ListTables"}};
  // With a line end: the query and the path; without: the header.
  if (middle == std::string_view::npos) {
    request.headers.Add("Authorization", std::string(text));
  } else {
    request.query = text.substr(0, middle);
    request.path = text.substr(middle + 1);
  }
  const auto read = aws::ReadClaim(request);
  const auto* claim = std::get_if<aws::Claim>(&read);
  if (claim == nullptr) return 0;
  const auto checked = aws::CheckClaim(*claim, "dynamodb", 1'700'000'000);
  if (const auto* who = std::get_if<aws::Checked>(&checked)) {
    const auto key = aws::SigningKey(Secret("secret"), who->scope);
    (void)aws::CheckSignature(*claim, who->scope, request, key).has_value();
  }
  return 0;
}
