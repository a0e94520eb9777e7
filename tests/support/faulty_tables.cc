#include "tests/support/faulty_tables.h"

#include <memory>

namespace tidemark::testing {

Decide RandomFaults(const RandomFaultsOptions& options) {
  auto random = std::make_shared<SeededRandom>(options.seed);
  return [options, random](Operation operation) -> std::optional<Fault> {
    const uint64_t drawn = random->Below(100);
    if (drawn < options.throttled_percent) return Throttled();
    if (!Writes(operation) || drawn >= options.throttled_percent + options.lost_percent) {
      return std::nullopt;
    }
    return random->Below(2) == 0 ? LostReply() : LostRequest();
  };
}

std::optional<Fault> FaultyTables::FaultIn(Operation operation) {
  return decide ? decide(operation) : std::nullopt;
}

}  // namespace tidemark::testing
