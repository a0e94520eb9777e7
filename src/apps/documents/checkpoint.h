// A Checkpoint is where a run over all documents was interrupted, as one text that people and
// programs keep and give back.
//
//   Checkpoint checkpoint = TRY(ParseCheckpoint(text));
//   WalkOptions walk{.after = checkpoint.last_key, .mark = checkpoint.mark};
//
// Pure functions; may be called from any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apps/documents/row_store.h"
#include "base/result.h"

namespace tidemark::documents {

struct Checkpoint {
  std::string last_key;
  // What the run may mark at its end; nullopt when it did not see everything.
  std::optional<CoverageMark> mark = std::nullopt;
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// "1760659200000,1752883200,archive/CHG-1.json", or ",,archive/CHG-1.json" without a mark.
std::string ToText(const Checkpoint& checkpoint);
// kInvalid when it is none.
Result<Checkpoint> ParseCheckpoint(std::string_view text);

}  // namespace tidemark::documents
