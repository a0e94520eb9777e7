// S3 notifications as types: what AWS, MinIO and others that follow them send when objects change.
//
// Parsing is linear, never trusts its input, and may be done on any thread. See the fuzz target
// documents_notification.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::documents {

enum class ChangeOfObject { kWritten, kDeleted, kOther };

struct ObjectEvent {
  ChangeOfObject change = ChangeOfObject::kOther;
  std::string name;  // Such as "ObjectCreated:Put", without "s3:" before it.
  std::string bucket;
  std::string key;   // Decoded: '+' and %XX as AWS and MinIO encode them.
  std::string etag;  // Empty when the event has none, like the two below.
  std::string sequencer;
  std::string principal;  // Who changed it.
};

// A record, or why it is none.
struct NotificationRecord {
  std::optional<ObjectEvent> event = std::nullopt;
  std::string problem = {};
};

struct Notification {
  bool is_test = false;  // AWS sends one when notifications are set up; it has no records.
  std::vector<NotificationRecord> records = {};
};

// kInvalid when the text is no JSON or has neither records nor a test event. A record that cannot
// be read is one with a problem, and the others stand.
Result<Notification> ParseNotification(std::string_view json);

// Whether the first is older than the second or the same: events of one key only. False when either
// is empty.
bool SequencerIsNotNewer(std::string_view candidate, std::string_view known);

}  // namespace tidemark::documents
