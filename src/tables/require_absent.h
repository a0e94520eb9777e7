// The condition of a row that must be new: there is no row under its key, or one that has expired.
//
//   PutRequest put{.table = "claims", .item = row};
//   RequireAbsent("event_key", clock.NowSeconds(), &put);
//
// A store keeps an expired row until its sweeper finds it, which may take days. So whether the row
// still exists says nothing: its time, in the attribute `ttl`, decides.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "tables/requests.h"

namespace tidemark::tables {

// `partition_key` is the name of the table's partition key. Replaces the put's condition.
void RequireAbsent(std::string_view partition_key, EpochSeconds now, PutRequest* put);

}  // namespace tidemark::tables
