// Where the commands of attempts get their answers: from a server, or from the data folder and,
// while attempts move from an old store, that store.
#pragma once

#include <memory>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/data_folder.h"

namespace tidemark::programs {

// kNotFound when the folder has no attempts.
Result<std::unique_ptr<ApiSource>> OpenAttemptsSource(const SourceOptions& options, Use use);

}  // namespace tidemark::programs
