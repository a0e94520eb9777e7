#include "apps/documents/settled_row.h"

#include <utility>

#include "apps/documents/converter.h"
#include "apps/documents/limits.h"

namespace tidemark::documents {

namespace {

EpochSeconds Seconds(std::chrono::milliseconds time) {
  return std::chrono::floor<std::chrono::seconds>(time).count();
}

// The last version that the row knows of.
std::string LastEtag(const Row& row) {
  if (row.committed) return row.committed->etag;
  if (row.tombstone) return row.tombstone->etag;
  return row.intent ? row.intent->base_etag.value_or("") : "";
}

}  // namespace

Row CommitTo(const DocumentsOptions& options, Row row, Document document, const std::string& etag,
             std::chrono::milliseconds now) {
  auto committed = CommittedFrom(options, std::move(document), etag, Seconds(now));
  if (!committed) return Bury(std::move(row), now);
  row.committed = *std::move(committed);
  row.tombstone.reset();
  row.intent.reset();
  row.verified = now;
  return row;
}

Row Bury(Row row, std::chrono::milliseconds now) {
  row.tombstone = Tombstone{.etag = LastEtag(row),
                            .deleted_at = Seconds(now),
                            .ttl = Seconds(now) + kTombstoneLife.count()};
  row.committed.reset();
  row.intent.reset();
  row.verified = now;
  return row;
}

Row WithoutIntent(Row row) {
  row.intent.reset();
  return row;
}

bool KnowsNothing(const Row& row) { return !row.committed && !row.tombstone; }

}  // namespace tidemark::documents
