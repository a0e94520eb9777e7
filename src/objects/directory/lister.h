// Lists the objects of a folder in the order of their keys. It reads the folders that may hold keys
// of the page, and no others. May be called from any thread, beside writers.
#pragma once

#include "base/descriptor.h"
#include "base/result.h"
#include "objects/objects.h"

namespace tidemark::directory {

Result<objects::ListReply> ListObjects(const Descriptor& root, const objects::ListRequest& request);

}  // namespace tidemark::directory
