// Where the reading commands get their answers (a server or the folder), and how they find teams
// and channels in it.
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

// The server, when the options name one, or else the archive in the folder, for reading or (with
// Use::kWrite) for changes too.
Result<std::unique_ptr<ApiSource>> OpenArchiveSource(const ArchiveSourceOptions& options,
                                                     Use use = Use::kRead);

// The team that --team names, or else the only one. "/api/v1/teams/T0123"
Result<std::string> TeamPath(ApiSource& source, const ArchiveSourceOptions& options);
// The path of a channel by its id or its name. kInvalid when several channels have the name; the
// error lists their ids.
Result<std::string> ChannelPath(ApiSource& source, const ArchiveSourceOptions& options,
                                const std::string& channel);

}  // namespace tidemark::programs
