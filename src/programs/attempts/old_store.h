// Opens the old store that attempts move from, as the settings name it.
#pragma once

#include <memory>

#include "apps/attempts/moving/migration_store.h"
#include "apps/attempts/policy.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/settings.h"

namespace tidemark::programs {

// Null when attempts.old.url is empty. kInvalid, naming the setting, when the address or a key
// pattern is not valid. Does not connect: the first call does. The clock outlives the store.
Result<std::unique_ptr<moving::MigrationStore>> OpenOldAttempts(const Settings& settings,
                                                                const attempts::Policy& policy,
                                                                const Clock& clock);

}  // namespace tidemark::programs
