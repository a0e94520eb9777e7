// The canonical form of a request: the text that AWS's Signature Version 4 signs. A request has
// one such text, however its query and its headers are ordered and written. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace tidemark::aws {

// A view of the parts of a request that a signature covers.
struct Signable {
  http::Method method = http::Method::kPost;
  std::string_view path;   // As sent, percent-encoded; empty means "/".
  std::string_view query;  // As sent, without the '?'.
  const http::Headers& headers;
  std::string_view body;
};

// "/a/../b//c d" → "/b/c%20d". What is percent-encoded already is encoded once more: all services
// of AWS except S3 do so.
std::string CanonicalPath(std::string_view path);

// The parameters, sorted and encoded in one way, without the parameter `left_out`. nullopt when one
// does not decode.
std::optional<std::string> CanonicalQuery(std::string_view query, std::string_view left_out = {});

// The canonical request. `signed_headers` are names in lower case, sorted. nullopt when one of them
// is not in the request, or the query does not decode.
std::optional<std::string> CanonicalRequest(const Signable& request,
                                            const std::vector<std::string>& signed_headers,
                                            std::string_view left_out_parameter = {});

}  // namespace tidemark::aws
