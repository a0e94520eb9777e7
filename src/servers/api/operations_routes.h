// What those who run the server ask it.
//
//   GET /healthz   the process answers; the one route that needs no token
//   GET /readyz    the store answers too, and the server is not stopping
//   GET /metrics   Prometheus's text format; docs/metrics.md says what each means
#pragma once

#include <atomic>

#include "base/metrics.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"
#include "tables/tables.h"

namespace tidemark::api {

// All outlive the router. `stopping` is set when the server is told to stop, so that a balancer
// sends nothing more.
void AddOperationsRoutes(http::Router* router, tables::Tables* tables, const Metrics* metrics,
                         const std::atomic<bool>* stopping, TokenFile* tokens);

}  // namespace tidemark::api
