#include "servers/api/tables/routes.h"

#include <utility>

#include <fmt/format.h>

#include "aws/keys_table.h"
#include "item/json.h"
#include "servers/api/respond.h"
#include "servers/api/service_options.h"
#include "wire/calls.h"
#include "wire/exception.h"

namespace tidemark::api {

namespace {

http::Response ToResponse(wire::Message message) {
  http::Response response{.status = message.status};
  response.headers.Set("Content-Type", std::string(wire::kContentType));
  response.body = std::move(message.body);
  return response;
}

class TablesRoutes {
 public:
  TablesRoutes(tables::Tables* tables, std::set<std::string> own_tables)
      : tables_(*tables), own_tables_(std::move(own_tables)) {}

  Later<http::Response> Answer(const http::RoutedRequest& routed) const {
    const std::string& name = routed.parameters.find("operation")->second;
    const wire::CallRow* row = wire::FindCall(name);
    if (row == nullptr) return ToResponse(wire::UnknownOperation(name));
    auto call = Decode(*row, routed.request.body);
    if (!call) return ToResponse(wire::EncodeError(call.error()));
    return call->make(tables_, std::nullopt).Then([](Result<wire::Message> message) {
      return ToResponse(message ? *std::move(message) : wire::EncodeError(message.error()));
    });
  }

 private:
  Result<wire::Call> Decode(const wire::CallRow& row, const std::string& body) const {
    const auto document = JsonDocument::Parse(body);
    if (!document) {
      return Invalid(fmt::format("{}{}", item::kSerializationPrefix, document.error().message));
    }
    wire::Call call = TRY(row.decode(document->root(), wire::Layer::kOlder));
    for (const std::string& table : call.tables) TRY(CheckMayUse(table));
    for (const std::string& table : call.changed_tables) TRY(CheckMayChange(table));
    return call;
  }

  static Status CheckMayUse(const std::string& table) {
    if (table != aws::kKeysTable) return Done{};
    return Error{ErrorCode::kDenied,
                 fmt::format("the table '{}' has secrets and cannot be used here: use `tidemark "
                             "key list`",
                             table)};
  }

  Status CheckMayChange(const std::string& table) const {
    const bool is_own = table.starts_with("tidemark-") || own_tables_.contains(table);
    if (!is_own) return Done{};
    return Error{ErrorCode::kDenied,
                 fmt::format("the table '{}' belongs to Tidemark and can only be read here: use "
                             "the API of the app, or stop the server and change the data folder",
                             table)};
  }

  tables::Tables& tables_;
  const std::set<std::string> own_tables_;
};

}  // namespace

std::set<std::string> OwnTables(const ServiceOptions& options) {
  std::set<std::string> own = {options.existence.table, options.quarantine.table,
                               options.claims.table, options.marks.table, options.inbox.table};
  own.insert(options.app_tables.begin(), options.app_tables.end());
  if (options.archive) {
    own.insert({options.archive->archive.table, options.archive->state_table});
  }
  if (options.attempts) own.insert(options.attempts->table);
  if (options.documents) own.insert(options.documents->table);
  return own;
}

void AddTablesRoutes(http::Router* router, tables::Tables* tables, std::set<std::string> own_tables,
                     TokenFile* tokens) {
  auto routes = std::make_shared<const TablesRoutes>(tables, std::move(own_tables));
  router->Add({.method = http::Method::kPost,
               .pattern = std::string(kTablesPrefix) + "{operation}",
               .run = http::Run::kOnWorker,
               .handler = WithToken(tokens, [routes](const http::RoutedRequest& routed) {
                 return routes->Answer(routed);
               })});
}

}  // namespace tidemark::api
