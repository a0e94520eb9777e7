#include "apps/attempts/moving/phase.h"

#include <array>

namespace tidemark::moving {

namespace {

constexpr std::array kPhases = {Phase::kOld, Phase::kDualOldDecides, Phase::kDualNewDecides,
                                Phase::kNewOldReadable, Phase::kNew};

}  // namespace

std::string_view ToString(Phase phase) {
  switch (phase) {
    case Phase::kOld:
      return "old";
    case Phase::kDualOldDecides:
      return "dual-old-decides";
    case Phase::kDualNewDecides:
      return "dual-new-decides";
    case Phase::kNewOldReadable:
      return "new-old-readable";
    case Phase::kNew:
      return "new";
  }
  return "new";
}

std::optional<Phase> ParsePhase(std::string_view text) {
  for (const Phase phase : kPhases) {
    if (ToString(phase) == text) return phase;
  }
  return std::nullopt;
}

std::optional<Phase> NextOf(Phase phase) {
  if (phase == Phase::kNew) return std::nullopt;
  return kPhases.at(static_cast<size_t>(phase) + 1);
}

std::optional<Phase> PreviousOf(Phase phase) {
  if (phase == Phase::kOld) return std::nullopt;
  return kPhases.at(static_cast<size_t>(phase) - 1);
}

std::string_view ToString(Side side) { return side == Side::kOld ? "old" : "new"; }

Side OtherOf(Side side) { return side == Side::kOld ? Side::kNew : Side::kOld; }

Side DeciderOf(Phase phase) {
  return phase == Phase::kOld || phase == Phase::kDualOldDecides ? Side::kOld : Side::kNew;
}

bool IsRead(Phase phase, Side side) {
  return side == Side::kOld ? phase != Phase::kNew : phase != Phase::kOld;
}

bool IsWritten(Phase phase, Side side) { return IsDual(phase) || DeciderOf(phase) == side; }

bool IsDual(Phase phase) {
  return phase == Phase::kDualOldDecides || phase == Phase::kDualNewDecides;
}

}  // namespace tidemark::moving
