// The checks that every implementation of Objects makes before it does anything. Any thread may
// call them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "objects/objects.h"

namespace tidemark::objects {

// Fails with kInvalid if the key is empty, too long, not UTF-8, or has "." or ".." between slashes.
Status ValidateKey(std::string_view key);
// Checks the key, the content type, the metadata and the conditions.
Status Validate(const PutRequest& request);
// Checks that the limit is at least 1 and at most kMaxPage.
Status Validate(const ListRequest& request);

}  // namespace tidemark::objects
