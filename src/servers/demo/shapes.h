// Slack's JSON shapes of users, channels, files and messages, as they stand in events and in
// answers of the Web API.
//
// Functions that write "fields" write the members of an object that the caller has begun, so that
// the caller can add others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "servers/demo/phrases.h"
#include "servers/demo/workspace.h"

namespace tidemark::demo {

// What the shapes need to know about the place where they are used.
struct Surroundings {
  std::string team_id;
  std::string files_url;  // Before "/F…/name".
};

struct Reaction {
  std::string user;
  std::string name;
};

struct Edited {
  std::string user;
  std::string ts;
  friend bool operator==(const Edited&, const Edited&) = default;
};

// A message as the channel shows it.
struct Message {
  std::string channel;
  std::string ts;
  std::string subtype = {};
  std::string user = {};    // Empty for what integrations post.
  std::string bot_id = {};  // Of what bots post.
  std::vector<Span> spans = {};
  size_t report_blocks = 0;  // Of bots: the content is in so many blocks, and the text is empty.
  std::string client_msg_id = {};
  std::string thread_ts = {};
  std::vector<std::string> repliers = {};  // One entry a reply, in order.
  std::string latest_reply = {};
  std::optional<Edited> edited = {};
  bool has_preview = false;  // Its link has been unfurled.
  bool pinned = false;
  std::optional<File> file = {};
  bool file_is_stub = false;  // The event has only its id; files.info has the rest.
  std::vector<Reaction> reactions = {};

  bool IsRoot() const { return thread_ts.empty() || thread_ts == ts; }
};

void PutText(JsonWriter* writer, std::string_view name, std::string_view text);
void PutInt(JsonWriter* writer, std::string_view name, int64_t value);
void PutBool(JsonWriter* writer, std::string_view name, bool value);

void WriteUser(JsonWriter* writer, const User& user, const Surroundings& surroundings);
void WriteChannel(JsonWriter* writer, const Channel& channel, const Surroundings& surroundings);
void WriteFile(JsonWriter* writer, const File& file, const Surroundings& surroundings);
// All fields except the channel.
void WriteMessageFields(JsonWriter* writer, const Message& message,
                        const Surroundings& surroundings);

}  // namespace tidemark::demo
