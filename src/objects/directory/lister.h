// Lists the objects of a folder in the order of their keys. It reads only the folders that may
// contain keys of the page. Any thread may call it, also while others write.
#pragma once

#include "base/descriptor.h"
#include "base/result.h"
#include "objects/objects.h"

namespace tidemark::directory {

Result<objects::ListReply> ListObjects(const Descriptor& root, const objects::ListRequest& request);

}  // namespace tidemark::directory
