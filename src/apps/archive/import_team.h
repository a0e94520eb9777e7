// Of which team a workspace of an export is: an export does not say it in one place.
#pragma once

#include <string>
#include <vector>

#include "apps/archive/export_reader.h"
#include "base/result.h"
#include "slack/ids.h"

namespace tidemark::archive {

// What `given` says (see ImportOptions), or else what most users of the workspace belong to, or
// else most authors of its first messages. kInvalid when none of them tells.
Result<slack::TeamId> FindTeam(const ExportWorkspace& workspace,
                               const std::vector<std::string>& given, ExportReader* reader);

}  // namespace tidemark::archive
