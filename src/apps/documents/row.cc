#include "apps/documents/row.h"

#include "base/expiry.h"

namespace tidemark::documents {

bool IsServable(const Row& row, EpochSeconds now) {
  return row.committed && IsLive(row.committed->ttl, now);
}

bool IsStale(const Intent& intent, std::chrono::milliseconds now, const DocumentsOptions& options) {
  return now >= intent.started + options.intent_lease + 2 * options.skew;
}

}  // namespace tidemark::documents
