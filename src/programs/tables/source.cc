#include "programs/tables/source.h"

#include <string>
#include <utility>

#include "servers/api/tables/routes.h"
#include "tables/remote/remote_tables.h"

namespace tidemark::programs {

namespace {

Result<std::unique_ptr<tables::Tables>> OpenServerTables(const SourceOptions& options) {
  std::shared_ptr<ApiSource> source = TRY(OpenServerSource(options));
  auto send = [source](std::string_view operation, std::string body) -> Result<wire::Message> {
    http::Response response =
        TRY(source->Post(api::kTablesPrefix + std::string(operation), std::move(body)));
    return wire::Message{.status = response.status, .body = std::move(response.body)};
  };
  return std::unique_ptr<tables::Tables>(std::make_unique<remote::RemoteTables>(std::move(send)));
}

}  // namespace

Result<TablesSource> OpenTables(const SourceOptions& options, Use use) {
  if (options.server) return TablesSource{.tables = TRY(OpenServerTables(options))};
  auto opened = OpenDataFolder(options.folder, use);
  if (!opened) return WithServerHint(std::move(opened).error());
  embedded::EmbeddedTables* folder = opened->get();
  return TablesSource{.tables = *std::move(opened), .folder = folder};
}

}  // namespace tidemark::programs
