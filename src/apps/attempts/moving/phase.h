// The five phases of moving from an old store to the tables, and the record that says which one it
// is. The record is in both stores; the epoch in it rises with every change, so that a writer that
// has not heard of a change is refused. In each phase exactly one store decides.
//
//   phase              decides  read   written
//   old                old      old    old
//   dual-old-decides   old      both   both
//   dual-new-decides   new      both   both
//   new-old-readable   new      both   new
//   new                new      new    new
//
// Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace tidemark::moving {

enum class Phase { kOld, kDualOldDecides, kDualNewDecides, kNewOldReadable, kNew };
std::string_view ToString(Phase phase);
std::optional<Phase> ParsePhase(std::string_view text);
// nullopt behind the last, and before the first.
std::optional<Phase> NextOf(Phase phase);
std::optional<Phase> PreviousOf(Phase phase);

enum class Side { kOld, kNew };
std::string_view ToString(Side side);
Side OtherOf(Side side);

Side DeciderOf(Phase phase);
bool IsRead(Phase phase, Side side);
bool IsWritten(Phase phase, Side side);
// Both are written: they should say the same.
bool IsDual(Phase phase);

struct PhaseRecord {
  Phase phase = Phase::kNew;
  uint64_t epoch = 0;  // 0: there is no record.
  EpochSeconds since = 0;
  friend bool operator==(const PhaseRecord&, const PhaseRecord&) = default;
};

// What was seen to differ between the stores, since the phase began.
struct Drift {
  uint64_t count = 0;
  EpochSeconds last_at = 0;
  friend bool operator==(const Drift&, const Drift&) = default;
};

}  // namespace tidemark::moving
