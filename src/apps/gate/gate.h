// The Gate decides whether a request is accepted. The server calls its steps in this order:
//
//   1. Authenticate: size, headers, time window, signature, replay. Nothing is parsed before.
//   2. slack::ParseEnvelope. If Recall allows the event, it can be stored at once. Otherwise it is
//      claimed (dedup) before steps 3 and 4.
//   3. Notice: an event that ends something (token revoked, user deactivated, channel deleted)
//      raises a generation. This comes before the event is acknowledged.
//   4. CheckExistence. When the decision is not allow: Quarantine::Keep, and the answer is 403; or
//      200, when the decision is unknown and the policy is kAcknowledge.
//
// Each refusal is logged once, with the reason and the ids. Replies contain neither.
// Authenticate, Forget and Recall do not call Slack; Notice writes to the table; CheckExistence may
// wait for Slack, CheckExistenceLater waits without a thread. May be called from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/gate/existence.h"
#include "apps/gate/verdict.h"
#include "base/later.h"
#include "base/result.h"
#include "base/runtime.h"
#include "slack/event.h"
#include "slack/signature.h"

namespace tidemark::gate {

// What Slack is told about an event that could not be checked. It is kept in quarantine either way.
enum class UnknownPolicy {
  kAcknowledge,  // Answer 200. Slack turns off an app that fails most deliveries of an hour.
  kRefuse,       // Answer 403.
};

struct GateOptions {
  size_t max_body_bytes = 1 << 20;
  // How many signatures are remembered, for ten minutes each. When the memory is full, requests are
  // refused: Slack sends them again, and an attacker gains nothing.
  size_t max_replay_entries = 1'000'000;
};

// Whether Slack signed the request within the time window, and it arrived for the first time.
struct Authentication {
  bool authentic = false;
  std::string reason = {};      // Why it is not authentic; for the audit log.
  std::string secret_id = {};   // Which signing secret made the signature.
  std::string replay_key = {};  // The request's key in the replay memory.
};

// Whether a request that is not authentic gets a line in the audit log. It is omitted for an
// address that sends too many of them.
enum class AuditLine { kWritten, kOmitted };

class Gate {
 public:
  // The existence check outlives this.
  Gate(GateOptions options, slack::SignatureVerifier verifier, Existence* existence,
       const Runtime& runtime);
  ~Gate();

  // `request_id` goes into the audit line. The line of a replay also has the event id: its
  // signature is valid, so its body may be looked at.
  Authentication Authenticate(const slack::SignedRequest& request, std::string_view request_id,
                              AuditLine line = AuditLine::kWritten);
  // To be called when the request is not acknowledged: then the same bytes may come again. A retry
  // within the same second has the same signature, and would otherwise be refused as a replay.
  void Forget(const Authentication& authentication);

  // The verdict if the event ends nothing and the stored rows allow it. Then Notice and
  // CheckExistence are not needed. nullopt: they are needed. Never asks Slack.
  std::optional<Verdict> Recall(const slack::EventCallback& callback);
  // Fails when a generation could not be raised. Then the event must not be acknowledged.
  Status Notice(const slack::EventCallback& callback);
  Verdict CheckExistence(const slack::EventCallback& callback, std::string_view request_id);
  // The same without blocking (existence.h). Both arguments live until the answer.
  Later<Verdict> CheckExistenceLater(const slack::EventCallback& callback,
                                     std::string_view request_id);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::gate
