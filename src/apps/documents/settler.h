// Settler ends writes that their writers left: by the evidence of the object's tag, never by the
// time alone and never by an error's text.
//
// May be called from any thread; two who settle the same write do no harm.
#pragma once

#include <cstddef>
#include <string>

#include "apps/documents/synchronizer.h"

namespace tidemark::documents {

class Settler {
 public:
  // All outlive this.
  Settler(const DocumentsOptions& options, RowStore* rows, Synchronizer* synchronizer,
          const Observer* observer);

  // All first writes that are stale; how many were settled. Those over a committed version are
  // settled by whoever reads them.
  Outcome<size_t> SettleStale(const Context& context);

 private:
  Outcome<bool> SettleOne(const Context& context, const std::string& id);

  const DocumentsOptions options_;
  RowStore& rows_;
  Synchronizer& synchronizer_;
  const Observer& observer_;
};

}  // namespace tidemark::documents
