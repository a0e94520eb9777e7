// The five phases of a move from an old store to the table, and the record that says which phase it
// is. Both stores have a copy of the record. Its epoch rises with every change of the phase, and
// the stores refuse writes of another epoch: a process that still works in the last phase cannot
// write. In each phase exactly one store decides.
//
//   phase              decides  read   written
//   old                old      old    old
//   dual-old-decides   old      both   both
//   dual-new-decides   new      both   both
//   new-old-readable   new      both   new
//   new                new      new    new
//
// Each step changes one thing: first both are written, so that the table fills; then the table
// decides, while the old store is kept up to date for the way back; then the old store is only
// read, until all that it knows has expired.
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
// nullopt after the last phase, and before the first.
std::optional<Phase> NextOf(Phase phase);
std::optional<Phase> PreviousOf(Phase phase);

enum class Side { kOld, kNew };
std::string_view ToString(Side side);
Side OtherOf(Side side);

Side DeciderOf(Phase phase);
bool IsRead(Phase phase, Side side);
bool IsWritten(Phase phase, Side side);
// Both stores are written in this phase, so they should have the same counts, locks and states.
bool IsDual(Phase phase);

struct PhaseRecord {
  Phase phase = Phase::kNew;
  uint64_t epoch = 0;  // 0: there is no record.
  EpochSeconds since = 0;
  friend bool operator==(const PhaseRecord&, const PhaseRecord&) = default;
};

// Differences between the stores that were seen since the phase began.
struct Drift {
  uint64_t count = 0;
  EpochSeconds last_at = 0;
  friend bool operator==(const Drift&, const Drift&) = default;
};

}  // namespace tidemark::moving
