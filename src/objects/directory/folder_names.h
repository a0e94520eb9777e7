// The names in a folder of objects. May be called from any thread, beside writers.
#pragma once

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace tidemark::directory {

// Where the process that has the folder open writes objects before it gives them their names.
inline constexpr char kTemporaryFolder[] = ".tidemark/tmp";

struct FolderName {
  std::string text;
  bool is_folder = false;
};

// The files and folders in it, in no order, but for the hidden ones; no links. The path is relative
// to `root`, "" is root itself. A folder that is gone has none.
Result<std::vector<FolderName>> ReadNames(const Descriptor& root, const std::string& path);

}  // namespace tidemark::directory
