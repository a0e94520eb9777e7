// Reading change streams. A stream has one shard, so its records have one order. An iterator is a
// position in the stream and the time when the iterator expires.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "tables/embedded/catalog.h"
#include "tables/embedded/store.h"
#include "tables/requests.h"

namespace tidemark::embedded {

// Whether a closed stream is no longer readable. Housekeeping may delete it later.
bool IsOver(const Stream& stream, EpochSeconds now);
// The number of the first record that is still readable. Housekeeping may delete the ones before it
// later.
Result<uint64_t> Horizon(const Store& store, const Stream& stream, EpochSeconds now);

Result<tables::ListStreamsReply> ListStreams(const Catalog& catalog,
                                             const tables::ListStreamsRequest& request,
                                             EpochSeconds now);
Result<tables::StreamDescription> DescribeStream(const Store& store, const Catalog& catalog,
                                                 const std::string& arn, EpochSeconds now);
Result<std::string> MakeShardIterator(const Store& store, const Catalog& catalog,
                                      const tables::ShardIteratorRequest& request,
                                      EpochSeconds now);
Result<tables::RecordsReply> ReadRecords(const Store& store, const Catalog& catalog,
                                         const tables::RecordsRequest& request, EpochSeconds now);

}  // namespace tidemark::embedded
