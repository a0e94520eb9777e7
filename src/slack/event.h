// Slack's events as types. New fields are ignored and missing ones are empty: Slack asks apps
// to tolerate both. Only what is not JSON, or not an object with a type, is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"

namespace tidemark::slack {

struct File {
  std::string id;
  std::string name;
  std::string mode;
  std::string mimetype;
  int64_t size = 0;
  bool is_external = false;
};

// The inner event: what all have in common, with ids as they came, unchecked.
struct Event {
  std::string type;
  std::string subtype;
  std::string user;     // The author or actor; for user events, the user that the event is about.
  std::string channel;  // Also when the event gives it as channel_id, as an object, or in item.
  std::string ts;
  std::string event_ts;
  std::string thread_ts;
  std::string bot_id;
  std::string text;
  std::string channel_type;
  bool hidden = false;
  bool user_deleted = false;  // user_change and its kin: the account is deactivated.
  std::string old_channel;    // channel_id_changed: the id of before.
  std::vector<File> files;    // file_share and others: files[], or the old single file.
};

// {"type": "event_callback"}: something happened.
struct EventCallback {
  std::string team_id;        // Where it was received: authorizations[0], or else team_id.
  std::string event_team_id;  // The envelope's team_id, which in Slack Connect may be foreign.
  std::string enterprise_id;
  std::string api_app_id;
  std::string event_id;
  EpochSeconds event_time = 0;
  Event event;
};
// {"type": "url_verification"}: the challenge is to be echoed.
struct UrlVerification {
  std::string challenge;
};
// {"type": "app_rate_limited"}: events of this minute were not sent and are lost.
struct AppRateLimited {
  std::string team_id;
  std::string api_app_id;
  EpochSeconds minute = 0;
};
// A type that did not exist when this was written.
struct UnknownEnvelope {
  std::string type;
};

using Envelope = std::variant<EventCallback, UrlVerification, AppRateLimited, UnknownEnvelope>;

// The body as JSON; half a surrogate pair in a text becomes U+FFFD.
Result<JsonDocument> ParseBody(std::string_view body);

// kInvalid when the body is no JSON object with a text "type", or an event_callback has no inner
// event with a type.
Result<Envelope> ParseEnvelope(std::string_view body);

}  // namespace tidemark::slack
