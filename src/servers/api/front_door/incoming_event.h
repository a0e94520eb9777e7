// An IncomingEvent is one Slack event on its way into the tables: the parsed callback, its raw
// bytes, and the key under which every delivery of the same event is known.
//
// It refers to the request that it came with, which must outlive it. Plain data.
#pragma once

#include <string>
#include <string_view>

#include "apps/dedup/claim.h"
#include "base/result.h"
#include "slack/event.h"

namespace tidemark::api {

struct IncomingEvent {
  std::string key;  // Of the event's row in the table of claims.
  const slack::EventCallback& callback;
  std::string_view body;
  std::string_view request_id;  // For the log and the claim's row.
  // Written into the claim's row. When the reply of the table was lost, it shows that the row is
  // ours. Empty: the claim gets a random one.
  std::string nonce = {};
  // Slack said that the event's channel is public, when the gate checked the event.
  bool in_public_channel = false;
  // Slack does not send it again, whatever the answer is.
  bool is_last_delivery = false;
};

// The key of an event: its event_id, or else its team, file and ts. kInvalid when it has neither:
// then its deliveries cannot be told apart.
Result<std::string> EventKeyOf(const slack::EventCallback& callback);

dedup::ClaimRequest ClaimRequestFor(const IncomingEvent& event);

}  // namespace tidemark::api
