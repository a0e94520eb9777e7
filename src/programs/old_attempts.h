// Opening the old store of attempts that the settings name, while attempts move from there.
#pragma once

#include <memory>

#include "apps/attempts/moving/account_store.h"
#include "apps/attempts/policy.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/settings.h"

namespace tidemark::programs {

// Null when attempts.old.url is empty. kInvalid, naming the setting, when the address or a key is
// none; whether anybody listens there is seen by the first call. The clock outlives what is
// returned.
Result<std::unique_ptr<moving::AccountStore>> OpenOldAttempts(const Settings& settings,
                                                              const attempts::Policy& policy,
                                                              const Clock& clock);

}  // namespace tidemark::programs
