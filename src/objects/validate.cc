#include "objects/validate.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"

namespace tidemark::objects {

namespace {

// The limit of S3, so that an object that is accepted here is accepted there too.
constexpr size_t kMaxMetadataBytes = 2048;
constexpr size_t kMaxMetadataNames = 256;
constexpr size_t kMaxContentTypeBytes = 255;

// Programs that use keys as paths would resolve such a part and read another object.
bool HasDotPart(std::string_view key) {
  for (size_t start = 0; start <= key.size();) {
    const size_t end = std::min(key.find('/', start), key.size());
    const std::string_view part = key.substr(start, end - start);
    if (part == "." || part == "..") return true;
    start = end + 1;
  }
  return false;
}

bool IsPrintable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

bool IsMetadataName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

Status ValidateMetadata(const Metadata& metadata) {
  if (metadata.size() > kMaxMetadataNames) {
    return Invalid(fmt::format("the metadata has {} names; at most {} are allowed", metadata.size(),
                               kMaxMetadataNames));
  }
  size_t bytes = 0;
  for (const auto& [name, value] : metadata) {
    if (!IsMetadataName(name)) {
      return Invalid(
          fmt::format("the metadata name '{}' is empty, or has other characters than a-z, 0-9, "
                      "'-', '_' and '.'",
                      name));
    }
    if (!IsPrintable(value)) {
      return Invalid(
          fmt::format("the value of the metadata '{}' is not printable ASCII: encode it", name));
    }
    bytes += name.size() + value.size();
  }
  if (bytes <= kMaxMetadataBytes) return Done();
  return Invalid(fmt::format("the metadata has {} bytes, names included; at most {} are allowed",
                             bytes, kMaxMetadataBytes));
}

}  // namespace

Status ValidateKey(std::string_view key) {
  if (key.empty()) return Invalid("the object's key is empty");
  if (key.size() > kMaxKeyBytes) {
    return Invalid(fmt::format("the object's key has {} bytes; at most {} are allowed", key.size(),
                               kMaxKeyBytes));
  }
  if (!IsUtf8(key)) return Invalid("the object's key is not UTF-8");
  if (HasDotPart(key)) return Invalid("the object's key has '.' or '..' between slashes");
  return Done();
}

Status Validate(const PutRequest& request) {
  TRY(ValidateKey(request.key));
  if (request.if_absent && request.if_match) {
    return Invalid(
        "a put can require that the object is absent, or that it has an ETag, but not both");
  }
  if (!request.bytes.empty() && !request.file.empty()) {
    return Invalid("a put needs bytes or a file, not both");
  }
  if (!IsPrintable(request.content_type) || request.content_type.size() > kMaxContentTypeBytes) {
    return Invalid(
        fmt::format("the content type must have at most {} characters, all printable ASCII",
                    kMaxContentTypeBytes));
  }
  return ValidateMetadata(request.metadata);
}

Status Validate(const ListRequest& request) {
  if (request.limit >= 1 && request.limit <= kMaxPage) return Done();
  return Invalid(fmt::format("a page of {} objects was requested; a page has 1 to {}",
                             request.limit, kMaxPage));
}

}  // namespace tidemark::objects
