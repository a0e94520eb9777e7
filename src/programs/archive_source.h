// Where the archive's reading commands get their answers, and where in it things are.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/api_source.h"

namespace tidemark::programs {

struct ArchiveSourceOptions : SourceOptions {
  std::optional<std::string> team = std::nullopt;  // --team
};

// The server, if the options name one, and else the archive in the folder.
Result<std::unique_ptr<ApiSource>> OpenArchiveSource(const ArchiveSourceOptions& options);

// The team that --team names, or else the only one. "/api/v1/teams/T0123"
Result<std::string> TeamPath(ApiSource& source, const ArchiveSourceOptions& options);
// Of a channel by its id or its name. kInvalid when several have the name: the message has their
// ids.
Result<std::string> ChannelPath(ApiSource& source, const ArchiveSourceOptions& options,
                                const std::string& channel);

}  // namespace tidemark::programs
