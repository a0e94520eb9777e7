#include "servers/api/front_door/incoming_event.h"

#include <chrono>

#include "apps/dedup/work.h"

namespace tidemark::api {

namespace {

// Longer than any request takes. Shorter than the minute after which Slack sends the event again:
// the claim of a process that died must not make that delivery fail too.
constexpr std::chrono::seconds kEventLease(30);

std::string_view FirstFileOf(const slack::EventCallback& callback) {
  return callback.event.files.empty() ? std::string_view() : callback.event.files.front().id;
}

}  // namespace

Result<std::string> EventKeyOf(const slack::EventCallback& callback) {
  return dedup::EventKey({.event_id = callback.event_id,
                          .team = callback.team_id,
                          .file_id = FirstFileOf(callback),
                          .ts = callback.event.ts});
}

dedup::ClaimRequest ClaimRequestFor(const IncomingEvent& event) {
  const slack::EventCallback& callback = event.callback;
  return {.keys = {event.key},
          .metadata = {{"file_id", std::string(FirstFileOf(callback))},
                       {"channel_id", callback.event.channel},
                       {"user_id", callback.event.user},
                       {"lambda_instance_id", std::string(event.request_id)}},
          .lease = kEventLease,
          .nonce = event.nonce};
}

}  // namespace tidemark::api
