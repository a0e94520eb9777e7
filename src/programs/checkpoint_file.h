// Where a run that was interrupted goes on, in a file.
//
//   std::string checkpoint = TRY(ReadCheckpoint(path));
//   TRY(WriteCheckpoint(path, checkpoint));
#pragma once

#include <string>

#include "base/result.h"

namespace tidemark::programs {

// Empty when there is no file.
Result<std::string> ReadCheckpoint(const std::string& path);
// In the place of what was there, as a whole.
Status WriteCheckpoint(const std::string& path, const std::string& checkpoint);
// The run is finished.
Status RemoveCheckpoint(const std::string& path);

}  // namespace tidemark::programs
