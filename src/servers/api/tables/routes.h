// POST /api/v1/tables/{operation}: the tables, with the operations and the JSON of DynamoDB.
//
//   POST /api/v1/tables/GetItem   {"TableName":"users","Key":{"id":{"S":"a"}}}
//
// Errors are DynamoDB's too: {"__type":"…#ResourceNotFoundException","message":"…"}. Only what is
// refused before the operation is found, such as a missing token, is a problem+json.
//
// Tidemark's own tables can be read here and not changed. An attempt that somebody deletes here, or
// a claim that somebody writes, would break what the apps promise. The table of access keys cannot
// be used at all.
#pragma once

#include <set>
#include <string>

#include "http/router.h"
#include "servers/api/api_tokens.h"
#include "tables/tables.h"

namespace tidemark::api {

struct ServiceOptions;

inline constexpr char kTablesPrefix[] = "/api/v1/tables/";
// DynamoDB's limit for the body of a request.
inline constexpr size_t kMaxTablesBodyBytes = size_t{16} << 20;

// The names of the tables that the apps use with these options. Names that begin with "tidemark-"
// are Tidemark's own too.
std::set<std::string> OwnTables(const ServiceOptions& options);

// All outlive the router.
void AddTablesRoutes(http::Router* router, tables::Tables* tables, std::set<std::string> own_tables,
                     TokenFile* tokens);

}  // namespace tidemark::api
