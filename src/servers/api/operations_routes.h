// Routes for operators.
//
//   GET /healthz   the process runs; the only route of the API that needs no token
//   GET /readyz    the store answers and accepts writes, and the server is not stopping
//   GET /metrics   the metrics in Prometheus's text format; docs/metrics.md describes each
#pragma once

#include <atomic>

#include "base/metrics.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"
#include "tables/tables.h"

namespace tidemark::api {

// All outlive the router. When `stopping` is set, /readyz answers 503, so that a load balancer
// sends no more requests.
void AddOperationsRoutes(http::Router* router, tables::Tables* tables, const Metrics* metrics,
                         const std::atomic<bool>* stopping, TokenFile* tokens);

}  // namespace tidemark::api
