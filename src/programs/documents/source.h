// Where the commands of documents get their answers: from a server, or from the data folder and the
// objects in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/data_folder.h"

namespace tidemark::programs {

// Makes the cache's table when the folder has none. A read may write too, because it fills the
// cache. kNotFound when there is no folder, unless with Use::kCreate.
Result<std::unique_ptr<ApiSource>> OpenDocumentsSource(const SourceOptions& options, Use use);

// The same for a range: the cache is compared with the objects first, because other programs may
// have changed objects since the last run.
Result<std::unique_ptr<ApiSource>> OpenComparedDocumentsSource(const SourceOptions& options);

// For runs over all documents. In the data folder they may have their own rate, and do not log a
// line for each document unless log.level is debug.
struct DocumentsUpkeep {
  std::optional<int64_t> rate = std::nullopt;  // Instead of documents.rate.
};
Result<std::unique_ptr<ApiSource>> OpenDocumentsSource(const SourceOptions& options,
                                                       const DocumentsUpkeep& upkeep);

}  // namespace tidemark::programs
