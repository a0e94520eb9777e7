// Checks a whole folder: every row must have the right key and the right content.
#pragma once

#include "base/result.h"
#include "tables/embedded/committer.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::embedded {

// Checks everything as of one moment. Writes may go on in the meantime. See EmbeddedTables::Verify.
Result<VerifyReport> VerifyAll(const Store& store, const Catalog& catalog, Committer* committer,
                               StopFlag stop);

}  // namespace tidemark::embedded
