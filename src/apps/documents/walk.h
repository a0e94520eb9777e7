// What runs over all documents have in common: where they are, how fast they go, how they stop.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"

namespace tidemark::documents {

// What a run has done so far; its checkpoint is `last_key`, in the order of keys.
struct WalkProgress {
  size_t checked = 0;
  std::string last_key;
};

struct WalkOptions {
  std::string after = {};  // A checkpoint; empty: from the beginning.
  bool dry_run = false;
  // Created in this time, for this customer; what is not given does not matter.
  std::optional<EpochSeconds> from = std::nullopt;
  std::optional<EpochSeconds> to = std::nullopt;
  std::optional<std::string> customer = std::nullopt;
  // Called after each page.
  std::function<void(const WalkProgress&)> progress = {};
};

}  // namespace tidemark::documents
