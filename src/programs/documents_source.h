// Where commands about documents get their answers: from a server, or from the data folder with the
// objects beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/data_folder.h"

namespace tidemark::programs {

// Makes the cache's table when the folder has none. Also who reads may write: the cache is filled.
// kNotFound when there is no folder, unless with Use::kCreate.
Result<std::unique_ptr<ApiSource>> OpenDocumentsSource(const SourceOptions& options, Use use);

// For what goes over all documents: in the folder at another rate, and without a line in the log
// for each of them, unless log.level asks for more than usual.
struct DocumentsUpkeep {
  std::optional<int64_t> rate = std::nullopt;  // Instead of documents.rate.
};
Result<std::unique_ptr<ApiSource>> OpenDocumentsSource(const SourceOptions& options,
                                                       const DocumentsUpkeep& upkeep);

}  // namespace tidemark::programs
