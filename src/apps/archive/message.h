// A message as the archive knows it: its newest body, its traits (author, thread, files), and
// whether it was deleted. Encode and DecodeMessage convert it to and from its row;
// docs/formats/archive.md has the attributes.
//
// Slack sends several events about one message: posted, edited, link preview added, deleted. They
// may arrive in any order, more than once, and long after each other. Join adds one of them to what
// is known. Joining is commutative, associative and idempotent, so the state depends only on which
// events arrived, never on their order:
//
//   MessageState state = ...;                 // What the table has.
//   Join(observation, &state);                // What an event shows.
//   if (deleted) JoinDeletion(at, &state);
//
// Plain values and pure functions: no table, no clock, no threads.
#pragma once

#include <cstdint>
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
  // The time of the event that showed it like this. Of two, the later one counts: files are
  // renamed. In the row it is the attribute `files_seen`, not a part of `files`.
  std::string seen_ts = {};
  friend bool operator==(const FileMeta&, const FileMeta&) = default;
  friend auto operator<=>(const FileMeta&, const FileMeta&) = default;
};

// One body of a message: what it said between two edits. Bodies are told apart by `version`, the
// time of the edit (or of the message itself). The newest is in the message's row, older ones are
// rows of their own (Version). Which is the newest: see IsOlder. Two edits may have the same time,
// because Slack gives it in whole seconds: then the later one has the time of its event instead.
struct Body {
  slack::Timestamp version;   // Time of the edit, or of the message.
  slack::Timestamp event_ts;  // Time of the event that showed this body.
  // Only shown as "the message before" by an event about a later change. Slack may have shown a
  // different form of it in the event that was about this body, so that event takes precedence.
  bool inferred = false;
  std::optional<std::string> text = std::nullopt;
  // Its blocks and attachments, as JSON: an edit of the formatting alone changes nothing else, and
  // a bot's message may have no text at all. Only stored when there is no raw event, which has
  // them; shown_body.h finds them in either place. Of a quoted message only the reference is kept.
  std::string blocks = {};
  std::string attachments = {};
  std::string edited_by = {};
  std::string raw_event = {};         // Empty: not kept.
  bool raw_event_dropped = false;     // The row would have been too large with it.
  std::string raw_event_object = {};  // The key of the object that has it, for the same reason.
  friend bool operator==(const Body&, const Body&) = default;
};

// What all bodies of a message share, or what only grows. Empty means not known.
struct Traits {
  std::string user = {};
  std::string bot_id = {};
  std::string username = {};
  // The author's name as the event gave it. People from other organisations are in none of Slack's
  // lists, so this is the only name that there is. What the lists say is shown instead, if they say
  // something.
  std::string author_name = {};
  std::string subtype = {};
  std::string thread_ts = {};
  std::vector<FileMeta> files = {};  // Sorted by id.
  friend bool operator==(const Traits&, const Traits&) = default;
};

// What one event shows of the message.
struct Observation {
  slack::Timestamp ts;
  Traits traits;
  Body body;
};

struct Message {
  Place place;
  slack::Timestamp ts;
  Traits traits = {};
  std::optional<Body> body = std::nullopt;  // nullopt: no event has shown it yet (a stub).
  std::optional<slack::Timestamp> deleted_ts = std::nullopt;
  bool purged = false;
  // Only imports told of it, no event. So it does not show that anybody listened to Slack then.
  bool imported = false;
  // Counts the writes of the row by the listener and the import, who compare it before they write
  // (row_update.h). A row without the attribute is at 1.
  int64_t revision = 1;

  // Only the file processor (files.h) writes these.
  std::vector<std::string> files_s3 = {};  // Sorted.
  bool files_fetch_failed = false;
  std::string files_fetch_error = {};
  // What files.info says of files that the events only name (Slack Connect). Sorted.
  std::vector<FileMeta> files_info = {};

  // The name of its author. It is not in the row: who shows the message to people fills it in.
  std::string user_name = {};
};

// An older body, as a row of its own.
struct Version {
  Place place;
  slack::Timestamp ts;
  Body body;
};

item::Item Encode(const Message& message);
item::Item Encode(const Version& version);
// kCorrupt when the row is not a message, or not a version.
Result<Message> DecodeMessage(const item::Item& row);
Result<Version> DecodeVersion(const item::Item& row);

item::Value EncodeFiles(const std::vector<FileMeta>& files);
std::vector<FileMeta> DecodeFiles(const item::Value& value);

// The files of a message as they are shown: a file that the events only name has what files.info
// said of it.
std::vector<FileMeta> ShownFiles(const Message& message);
// Whether both name the same files with the same metadata, whenever it was seen.
bool AreSameFiles(std::vector<FileMeta> left, std::vector<FileMeta> right);

// Whether `left` was there before `right`; `ts` is the time of their message. Slack gives the time
// of an edit in whole seconds, and all other times exactly. So within one second the versions do
// not tell the order: the original is before every edit, and of two edits the one that an earlier
// event has shown.
bool IsOlder(const Body& left, const Body& right, const slack::Timestamp& ts);

// A message together with its older bodies: those that the news is about, and those of the second
// in which the newest body was made, because one of them may turn out to be newer.
struct MessageState {
  Message message;
  std::map<slack::Timestamp, Body> older = {};  // By version.
};

void Join(const Traits& told, Traits* known);
// Does nothing to a message whose text was purged: a late event must not bring it back.
void Join(const Observation& observation, MessageState* state);
// Of several deletions the earliest counts.
void JoinDeletion(const slack::Timestamp& deleted_ts, MessageState* state);
// Adds what another row says of the same message, kept under another id of its channel.
void JoinRow(const Message& told, MessageState* state);
// Adds a body that has a row of its own: it is older than the newest one, or another form of it.
void JoinVersion(const Body& told, MessageState* state);

}  // namespace tidemark::archive
