// The Gate decides whether a request is let in. The server calls its steps in this order:
//
//   1. Authenticate: size, headers, window, signature, replay. Nothing is parsed before.
//   2. ParseEnvelope (slack). When Recall allows the event it can be taken in at once; otherwise it
//      is claimed (dedup) before what follows.
//   3. Notice: an event that ends something (token revoked, user deactivated, channel deleted)
//      raises its generation before it is acknowledged.
//   4. CheckExistence; on anything but allow, Quarantine::Keep, and 403 or, for unknown under the
//      policy kQuarantine, 200.
//
// Every refusal writes one audit line with the reason and the ids; replies carry none of it.
// May be called from any thread.
#pragma once

#include <memory>
#include <string>

#include "apps/gate/existence.h"
#include "apps/gate/verdict.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "slack/event.h"
#include "slack/signature.h"

namespace tidemark::gate {

enum class UnknownPolicy {
  kRefuse,      // 403, and kept in quarantine.
  kQuarantine,  // 200, and kept in quarantine.
};

struct GateOptions {
  size_t max_body_bytes = 1 << 20;
  // Signatures remembered, ten minutes each. When it is full, requests are refused: the sender
  // comes again, an attacker gains nothing.
  size_t max_replay_entries = 1'000'000;
};

// Whether it was signed by Slack just now, for the first time.
struct Authentication {
  bool authentic = false;
  std::string reason = {};  // Why not, for the audit record.
  std::string secret_id = {};
  std::string replay_key = {};  // Names it in the replay memory.
};

class Gate {
 public:
  // All outlive this; logger and metrics may be null.
  Gate(GateOptions options, slack::SignatureVerifier verifier, Existence* existence,
       const Clock* clock, const Logger* logger, Metrics* metrics);
  ~Gate();

  // `request_id` names the request in the audit line.
  Authentication Authenticate(const slack::SignedRequest& request, std::string_view request_id);
  // The request was not acknowledged: the same bytes may come again, as a retry within the same
  // second has the same signature.
  void Forget(const Authentication& authentication);

  // Whether the event ends nothing and what is stored allows it: then Notice and CheckExistence
  // have nothing to add. Never asks Slack.
  bool Recall(const slack::EventCallback& callback);
  // Fails when a generation could not be raised: the event must not be acknowledged then.
  Status Notice(const slack::EventCallback& callback);
  Verdict CheckExistence(const slack::EventCallback& callback, std::string_view request_id);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::gate
