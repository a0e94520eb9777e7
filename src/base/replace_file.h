// Replaces a file. The bytes are written into a new file beside it ("PATH.new"), which is synced
// and renamed. A reader, and a machine after a power cut, has either the whole old file or the
// whole new one. Only the owner may read it.
//
//   TRY(ReplaceFile("tokens", text));
//
// When two calls run at the same time, one may fail. Callers with several writers need a lock.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark {

// kDenied or kUnavailable, with the system's reason, when it fails. Then the old file is unchanged,
// unless the disk failed after the rename.
Status ReplaceFile(const std::string& path, std::string_view bytes);
// The same for a file that must not exist yet: kInUse when it does. Of several processes that call
// it at the same time, one creates the file.
Status CreateFile(const std::string& path, std::string_view bytes);

}  // namespace tidemark
