// The ids and timestamps in the paths of the archive's routes, parsed and checked.
#pragma once

#include <string>
#include <string_view>

#include "apps/archive/keys.h"
#include "base/result.h"
#include "http/router.h"

namespace tidemark::api {

// Each fails with kInvalid when the part of the path is not an id or ts.
Result<slack::TeamId> TeamIn(const http::RoutedRequest& routed);
Result<archive::Place> PlaceIn(const http::RoutedRequest& routed);
Result<slack::Timestamp> TsIn(const http::RoutedRequest& routed);

// "p1714557600000100", the end of a permalink.
Result<slack::Timestamp> ParseLink(std::string_view link);

}  // namespace tidemark::api
