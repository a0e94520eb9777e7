// FaultyTables passes every call on to other tables, unless the test decides that the call fails:
// before it is applied (throttling, no access), or afterwards (the reply is lost). A transaction
// can also be cancelled for a reason that the tables beneath would not find.
//
//   FaultyTables tables(&model);
//   tables.decide = RandomFaults({.seed = 7, .throttled_percent = 20, .lost_percent = 5});
//
// `decide` runs before each call, on the thread of the caller. A test can also use it to let the
// sweeper run, to count, or to let another thread run. Set it while no call is in progress.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/random.h"
#include "tests/support/forwarding_tables.h"

namespace tidemark::testing {

inline Fault Throttled() { return {{ErrorCode::kUnavailable, "throttled, for the test"}}; }
inline Fault LostReply() { return {{ErrorCode::kUnknown, "reply lost, for the test"}, true}; }
// The request was lost. The caller gets the same error as for a lost reply.
inline Fault LostRequest() { return {{ErrorCode::kUnknown, "request lost, for the test"}}; }
inline Fault Denied() { return {{ErrorCode::kDenied, "access denied, for the test"}}; }

using Decide = std::function<std::optional<Fault>(Operation)>;

struct RandomFaultsOptions {
  uint64_t seed = 0;
  uint32_t throttled_percent = 0;
  uint32_t lost_percent = 0;  // Of writes; half of them were applied.
};
Decide RandomFaults(const RandomFaultsOptions& options);

class FaultyTables final : public ForwardingTables {
 public:
  using ForwardingTables::ForwardingTables;

  Decide decide;  // Unset: nothing fails.

  // Called before each transaction, when set. A code cancels the transaction for this reason, which
  // its first action then has; nothing is written.
  std::function<std::optional<tables::CancellationCode>()> cancel;

  Result<tables::TransactWriteReply> TransactWrite(
      const tables::TransactWriteRequest& request) override;

 protected:
  std::optional<Fault> FaultIn(Operation operation) override;
};

}  // namespace tidemark::testing
