// A GateStage is a Stage with the whole gate, and it signs requests as Slack does.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "apps/gate/gate.h"
#include "slack/event.h"
#include "slack/signature.h"
#include "tests/gate/stage.h"

namespace tidemark::testing {

// A message of the test's user in the test's channel.
inline slack::EventCallback Message() {
  slack::EventCallback callback;
  callback.team_id = callback.event_team_id = kTeam;
  callback.event_id = "Ev01";
  callback.event.type = "message";
  callback.event.user = kUser;
  callback.event.channel = kChannel;
  callback.event.text = "hello";
  return callback;
}

// The headers and the body of a request.
struct Delivery {
  std::string timestamp;
  std::string signature;
  std::string body;

  slack::SignedRequest View() const {
    return {.timestamps = {timestamp}, .signatures = {signature}, .body = body};
  }
};

class GateStage : public Stage {
 public:
  explicit GateStage(StageOptions options = {}, gate::GateOptions gate_options = {})
      : Stage(std::move(options)),
        gate(std::make_unique<gate::Gate>(
            gate_options, slack::SignatureVerifier({{.id = "current", .value = Key()}}),
            existence.get(), runtime())) {}

  // Signed at the clock's time plus `away` seconds.
  Delivery Sign(std::string body, EpochSeconds away = 0) const {
    std::string timestamp = std::to_string(clock.NowSeconds() + away);
    std::string signature = slack::Sign(Key(), timestamp, body);
    return {std::move(timestamp), std::move(signature), std::move(body)};
  }
  gate::Authentication Authenticate(const Delivery& delivery) {
    return gate->Authenticate(delivery.View(), "request-1");
  }

  std::unique_ptr<gate::Gate> gate;

 private:
  static Secret Key() { return Secret(std::string("8f742231b10e8888abcd99yyyzzz85a5")); }
};

}  // namespace tidemark::testing
