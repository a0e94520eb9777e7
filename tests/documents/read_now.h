// Reads a document for a caller that waits for it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "apps/documents/fallback_reader.h"

namespace tidemark::documents {

// `reader` is a FallbackReader or Documents. The object is read on the calling thread, or on that
// of another caller who shares the read.
template <typename Reader>
Result<std::optional<ReadReply>> ReadNow(Reader& reader, const Context& context,
                                         const std::string& id) {
  const auto run_here = [](const std::function<void()>& work) {
    work();
    return true;
  };
  return reader.GetLater(context, id, run_here).Wait();
}

}  // namespace tidemark::documents
