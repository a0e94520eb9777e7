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

Result<tables::TransactWriteReply> FaultyTables::TransactWrite(
    const tables::TransactWriteRequest& request) {
  const auto code = cancel ? cancel() : std::nullopt;
  if (!code) return ForwardingTables::TransactWrite(request);
  tables::TransactWriteReply reply{.outcome = tables::TransactOutcome::kCancelled};
  reply.reasons.resize(request.actions.size());
  reply.reasons.front() = {.code = *code, .message = "cancelled, for the test"};
  return reply;
}

std::optional<Fault> FaultyTables::FaultIn(Operation operation) {
  return decide ? decide(operation) : std::nullopt;
}

}  // namespace tidemark::testing
