// What a row becomes when it is known what the object holds. Writers and the Synchronizer agree on
// it here.
//
// Pure functions; may be called from any thread.
#pragma once

#include <chrono>
#include <string>

#include "apps/documents/document.h"
#include "apps/documents/options.h"
#include "apps/documents/row.h"

namespace tidemark::documents {

// The row when the object holds this version, without an intent. A document whose life is over is
// not cached: its row ends as one of a deleted document does, so that nobody who read the object
// earlier can put an older version into an empty place.
Row CommitTo(const DocumentsOptions& options, Row row, Document document, const std::string& etag,
             std::chrono::milliseconds now);

// The row when there is no object, or none that is a document.
Row Bury(Row row, std::chrono::milliseconds now);

// The same without its intent, and nothing else changed.
Row WithoutIntent(Row row);

// Whether it holds nothing but an intent, if that.
bool KnowsNothing(const Row& row);

}  // namespace tidemark::documents
