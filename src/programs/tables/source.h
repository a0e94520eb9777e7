// Where the commands of `tidemark tables` find the tables: in the data folder, or at a server.
#pragma once

#include <memory>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/data_folder.h"
#include "tables/embedded/embedded_tables.h"
#include "tables/tables.h"

namespace tidemark::programs {

struct TablesSource {
  std::unique_ptr<tables::Tables> tables;
  embedded::EmbeddedTables* folder = nullptr;  // The same tables; null when they are at a server.

  tables::Tables* operator->() const { return tables.get(); }
  tables::Tables& operator*() const { return *tables; }
  // Does the housekeeping that is due. A server does it itself, in the background.
  Status Maintain() const { return folder != nullptr ? folder->Maintain() : Status(Done{}); }
};

// kInvalid when there is no token for the server. For the data folder: as OpenDataFolder.
Result<TablesSource> OpenTables(const SourceOptions& options, Use use);

}  // namespace tidemark::programs
