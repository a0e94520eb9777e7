// Where commands about documents get their answers: from a server, or from the data folder with the
// objects beside it.
#pragma once

#include <memory>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/data_folder.h"

namespace tidemark::programs {

// Makes the cache's table when the folder has none. Also who reads may write: the cache is filled.
// kNotFound when there is no folder, unless with Use::kCreate.
Result<std::unique_ptr<ApiSource>> OpenDocumentsSource(const SourceOptions& options, Use use);

}  // namespace tidemark::programs
