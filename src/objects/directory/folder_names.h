// Reads the names in a folder of objects. Any thread may call this, also while others write.
#pragma once

#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"

namespace tidemark::directory {

// The folder in which a put writes its file before the rename.
inline constexpr char kTemporaryFolder[] = ".tidemark/tmp";

struct FolderName {
  std::string text;
  bool is_folder = false;
};

// The files and folders in the folder, in no order, without links and hidden names. The path is
// relative to `root`; "" is root itself. A folder that does not exist has none.
Result<std::vector<FolderName>> ReadNames(const Descriptor& root, const std::string& path);

}  // namespace tidemark::directory
