// Replaces a file: the bytes go into a new file beside it ("PATH.new"), which is synced and takes
// its place. Whoever reads, and whoever loses power, has the old file or the new one, whole. Only
// the owner may read it.
//
//   TRY(ReplaceFile("tokens", text));
//
// Of two at the same time one may fail; who has several writers locks.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace tidemark {

// kDenied or kUnavailable, with the system's reason, when it cannot be done: the old file is then
// as it was, unless the disk failed when the new one was already in its place.
Status ReplaceFile(const std::string& path, std::string_view bytes);

}  // namespace tidemark
