#include "apps/documents/row.h"

#include <algorithm>
#include <utility>

#include "apps/documents/limits.h"
#include "base/expiry.h"

namespace tidemark::documents {

namespace {

EpochSeconds ToSeconds(std::chrono::milliseconds time) {
  return std::chrono::floor<std::chrono::seconds>(time).count();
}

// The last version that the row knows of.
std::string LastEtag(const Row& row) {
  if (row.committed) return row.committed->etag;
  if (row.tombstone) return row.tombstone->etag;
  return row.intent ? row.intent->base_etag.value_or("") : "";
}

}  // namespace

bool IsServable(const Row& row, EpochSeconds now) {
  return row.committed && IsLive(row.committed->ttl, now);
}

bool IsStale(const Intent& intent, std::chrono::milliseconds now, const DocumentsOptions& options) {
  if (!options.sole_process.empty() && intent.process != options.sole_process) return true;
  // Twice the skew: the writer's clock may be ahead and ours behind.
  return now >= intent.started + options.intent_lease + 2 * options.skew;
}

bool IsBlank(const Row& row) { return !row.committed && !row.tombstone; }

EpochSeconds CalculateTtl(EpochSeconds created_at, EpochSeconds modified_at,
                          std::chrono::seconds life) {
  return std::max(created_at, modified_at) + life.count();
}

Row CommitVersion(const DocumentsOptions& options, Row row, Document document,
                  const std::string& etag, std::chrono::milliseconds now) {
  const DocumentFacts facts = document.facts();
  const EpochSeconds ttl = CalculateTtl(facts.created_at, facts.modified_at, options.ttl);
  if (!IsLive(ttl, ToSeconds(now))) return MarkDeleted(std::move(row), now);
  row.committed =
      Committed{.facts = facts, .document = std::move(document), .etag = etag, .ttl = ttl};
  row.tombstone.reset();
  row.intent.reset();
  row.verified = now;
  return row;
}

Row MarkDeleted(Row row, std::chrono::milliseconds now) {
  row.tombstone = Tombstone{.etag = LastEtag(row),
                            .deleted_at = ToSeconds(now),
                            .ttl = ToSeconds(now) + kTombstoneLife.count()};
  row.committed.reset();
  row.intent.reset();
  row.verified = now;
  return row;
}

Row WithoutIntent(Row row) {
  row.intent.reset();
  return row;
}

}  // namespace tidemark::documents
