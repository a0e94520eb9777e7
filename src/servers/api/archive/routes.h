// The archive over HTTP; docs/openapi.yaml has the shapes.
//
//   GET /api/v1/teams                                   teams that have rows
//   GET /api/v1/teams/{team}/channels                   page by page, in the order of their ids
//   GET /api/v1/teams/{team}/channels/{channel}
//   GET …/channels/{channel}/messages                   ?from=&to=&order=asc|desc&limit=&cursor=
//   GET …/channels/{channel}/messages/{ts}              with versions, reactions, pin and author
//   GET …/channels/{channel}/messages/{ts}/files/{file} the bytes, always as an attachment
//   POST …/channels/{channel}/messages/{ts}/retry-files fetch the files that failed again
//   GET …/channels/{channel}/threads/{ts}
//   GET …/channels/{channel}/coverage
//   GET /api/v1/teams/{team}/channel-index
//   GET /api/v1/teams/{team}/coverage
//   GET /api/v1/teams/{team}/people                     as they are now, in the order of their ids
//   GET /api/v1/teams/{team}/people/{user}
//   GET /api/v1/teams/{team}/emoji                      the custom ones, in the order of their
//   names GET /api/v1/teams/{team}/failed-files               messages whose files could not be
//   fetched GET /api/v1/archive/status GET /archives/{channel}/p{ts}                       Slack's
//   permalink, across changes of the id
//
// A flag that is false is left out of the answer. Only retry-files writes: it removes a flag, and
// the processor of files fetches them.
#pragma once

#include <string>

#include "apps/archive/channel_index.h"
#include "apps/archive/coverage.h"
#include "apps/archive/reader.h"
#include "apps/archive/state.h"
#include "base/clock.h"
#include "http/router.h"
#include "objects/objects.h"
#include "servers/api/api_tokens.h"
#include "tables/tables.h"

namespace tidemark::api {

// All outlive the router.
struct ArchiveRoutesParts {
  archive::Reader* reader = nullptr;
  archive::ChannelIndex* index = nullptr;
  archive::Ledger* ledger = nullptr;
  archive::State* state = nullptr;
  objects::Objects* objects = nullptr;  // nullptr: no files are served.
  // The threads that open files, and those of all other routes. nullptr: where the route runs.
  WorkerPool* file_workers = nullptr;
  WorkerPool* read_workers = nullptr;
  tables::Tables* tables = nullptr;  // For the status, for retry-files, and for people.
  std::string table = "SlackArchive";
  const Clock* clock = nullptr;
};

// `tokens` may be null: then no token is needed. The command line runs the routes in its own
// process like that.
void AddArchiveRoutes(http::Router* router, const ArchiveRoutesParts& parts, TokenFile* tokens);

}  // namespace tidemark::api
