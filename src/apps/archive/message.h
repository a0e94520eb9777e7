// A message as the archive knows it: the newest body, what is the same in all of them, and what
// happened to it. Encode and Decode are its row; docs/formats/archive.md has the attributes.
//
// Several things may be told of one message, in any order and more than once: that it was
// written, edited, shown with a link preview, deleted. Each is an Observation or a Deletion, and
// joining them is commutative, associative and idempotent: every order of arrival ends in one
// state.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/archive/keys.h"
#include "base/result.h"
#include "item/value.h"
#include "slack/timestamp.h"

namespace tidemark::archive {

// What is kept of a file that a message carries.
struct FileMeta {
  std::string id;
  std::string name = {};
  std::string title = {};
  std::string mimetype = {};
  std::string filetype = {};
  int64_t size = 0;
  std::string url_private = {};
  std::string mode = {};
  bool is_external = false;
  int64_t created = 0;
  std::string user = {};
  friend bool operator==(const FileMeta&, const FileMeta&) = default;
  friend auto operator<=>(const FileMeta&, const FileMeta&) = default;
};

// One body of a message.
struct Body {
  slack::Timestamp version;   // Of the edit, or the message's own.
  slack::Timestamp event_ts;  // Of the event that told of it.
  bool inferred = false;      // Told in passing by an event about something later.
  std::optional<std::string> text = std::nullopt;
  std::string edited_by = {};
  std::string raw_event = {};  // Empty: not kept.
  friend bool operator==(const Body&, const Body&) = default;
};

// What is the same in all bodies, or grows: empty means not known.
struct Traits {
  std::string user = {};
  std::string bot_id = {};
  std::string username = {};
  std::string subtype = {};
  std::string thread_ts = {};
  std::vector<FileMeta> files = {};  // Sorted by id.
  friend bool operator==(const Traits&, const Traits&) = default;
};

// An event that shows the message.
struct Observation {
  slack::Timestamp ts;
  Traits traits;
  Body body;
};

struct Message {
  Place place;
  slack::Timestamp ts;
  Traits traits = {};
  std::optional<Body> body = std::nullopt;  // nullopt: a stub.
  std::optional<slack::Timestamp> deleted_ts = std::nullopt;
  bool raw_event_dropped = false;
  bool purged = false;
  int64_t revision = 1;  // 1 has no attribute.

  // The file processor's; the listener never writes them.
  std::vector<std::string> files_s3 = {};  // Sorted.
  bool files_fetch_failed = false;
  std::string files_fetch_error = {};
};

// A body that is not the newest.
struct Version {
  Place place;
  slack::Timestamp ts;
  Body body;  // Without its raw event.
};

item::Item Encode(const Message& message);
item::Item Encode(const Version& version);
// kCorrupt when the row is no message or version.
Result<Message> DecodeMessage(const item::Item& row);
Result<Version> DecodeVersion(const item::Item& row);

item::Value EncodeFiles(const std::vector<FileMeta>& files);
std::vector<FileMeta> DecodeFiles(const item::Value& value);

// A message together with those of its older bodies that matter to what is being told.
struct MessageState {
  Message message;
  std::map<slack::Timestamp, Body> older = {};
};

void Join(const Traits& told, Traits* known);
void Join(const Observation& observation, MessageState* state);
// The earliest of several deletions counts.
void JoinDeletion(const slack::Timestamp& deleted_ts, MessageState* state);

}  // namespace tidemark::archive
