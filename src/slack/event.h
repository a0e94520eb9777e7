// Slack's events as C++ types. ParseEnvelope parses the body of a request once; everything that
// handles the event afterwards reads the result.
//
//   slack::Envelope envelope = TRY(slack::ParseEnvelope(request.body));
//   if (const auto* callback = std::get_if<slack::EventCallback>(&envelope)) ...
//
// Unknown fields are ignored and missing fields are empty, because Slack asks apps to tolerate
// both. A body is refused only when it is not JSON, or not an object with a "type". Ids are
// copied as they came and are not checked: see ids.h. All functions may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
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

// The inner event: the fields that most kinds of events share. Ids are not checked.
struct Event {
  std::string type;
  std::string subtype;
  // Who acted: the author of a new message, the editor of an edit, who reacted. In user events, the
  // user that the event is about. Empty when the event does not say who acted, as a deletion: the
  // author of an older message is not the actor, and may have left long ago.
  std::string user;
  std::string user_team;  // The team of the author, if the event says it.
  std::string channel;  // Wherever the event has it: channel, channel_id, channel.id, item.channel.
  std::string ts;
  std::string event_ts;
  std::string thread_ts;
  std::string bot_id;
  std::string text;
  std::string channel_type;
  bool hidden = false;
  bool user_deleted = false;  // user_change and similar: the account is deactivated.
  std::string old_channel;    // channel_id_changed: the previous id.
  std::vector<File> files;    // files[], or the single "file" of older events.
};

// {"type": "event_callback"}: something happened.
struct EventCallback {
  std::string team_id;        // The team that received it: authorizations[0], or else team_id.
  std::string event_team_id;  // The envelope's team_id. In Slack Connect it may be another team's.
  bool is_ext_shared_channel = false;  // Another organisation is in the channel (Slack Connect).
  std::string enterprise_id;
  std::string api_app_id;
  std::string event_id;
  EpochSeconds event_time = 0;
  Event event;
  // The whole body as JSON, for fields that have no member here; copies of the callback share it.
  // ParseEnvelope always sets it; it is null only in a callback that was not parsed from a body.
  std::shared_ptr<const JsonDocument> document = nullptr;
};
// {"type": "url_verification"}: the reply must contain the challenge.
struct UrlVerification {
  std::string challenge;
};
// {"type": "app_rate_limited"}: Slack did not send the events of this minute. They are lost.
struct AppRateLimited {
  std::string team_id;
  std::string api_app_id;
  EpochSeconds minute = 0;
};
// A type that this program does not know.
struct UnknownEnvelope {
  std::string type;
};

using Envelope = std::variant<EventCallback, UrlVerification, AppRateLimited, UnknownEnvelope>;

// Parses a text as JSON. Half of a surrogate pair in a string becomes U+FFFD. kInvalid when the
// text is not JSON.
Result<JsonDocument> ParseBody(std::string_view body);

// kInvalid when the body is not a JSON object with a string "type", or when an event_callback has
// no inner event with a type.
Result<Envelope> ParseEnvelope(std::string_view body);

}  // namespace tidemark::slack
