// The table of all settings of `tidemark`. A new setting is a new row in program_settings.cc.
//
// May be called from any thread.
#pragma once

#include <span>

#include "base/settings.h"

namespace tidemark::programs {

std::span<const Setting> ProgramSettings();

}  // namespace tidemark::programs
