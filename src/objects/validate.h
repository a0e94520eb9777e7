// What every implementation of Objects refuses alike, before it does anything. May be called from
// any thread.
#pragma once

#include <string_view>

#include "base/result.h"
#include "objects/objects.h"

namespace tidemark::objects {

// kInvalid when it is empty, too long, not UTF-8, or has "." or ".." between slashes.
Status ValidateKey(std::string_view key);
// The key, the content type, the metadata, the conditions.
Status Validate(const PutRequest& request);
// The limit is at least 1 and at most kMaxPage.
Status Validate(const ListRequest& request);

}  // namespace tidemark::objects
