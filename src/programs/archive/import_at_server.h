// `tidemark archive import --server`: sends a zip file to a running server, which imports it.
#pragma once

#include "apps/archive/import.h"
#include "base/result.h"
#include "programs/archive/import.h"

namespace tidemark::programs {

// Sends what the server does not have yet, in pieces, and waits for the import. When it is
// interrupted, the same command goes on where it ended.
Result<archive::ImportReport> ImportAtServer(const ImportCommandOptions& options);

}  // namespace tidemark::programs
