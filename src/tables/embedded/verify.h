// Checks a whole folder: that every row is where and what it must be.
#pragma once

#include "base/result.h"
#include "tables/embedded/committer.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::embedded {

// Looks at everything as of one moment; writes go on meanwhile.
Result<VerifyReport> VerifyAll(const Store& store, const Catalog& catalog, Committer* committer);

}  // namespace tidemark::embedded
