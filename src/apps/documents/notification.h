// S3 notifications: the JSON that AWS, MinIO and compatible stores send when objects change, as it
// is, or as SNS, SQS and EventBridge pass it on.
//
// Pure functions; may be called from any thread. Parsing takes linear time and never trusts its
// input; the fuzz target documents_notification tests that.
#pragma once

#include <chrono>
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
  std::string key;        // Decoded; AWS and MinIO send it with '+' and %XX.
  std::string etag;       // Empty when the event has none; so is the next.
  std::string principal;  // Who changed it.
  // When it was changed, since the epoch; nullopt when the event does not say it.
  std::optional<std::chrono::milliseconds> time = std::nullopt;
};

// A record, or the reason why it could not be read.
struct NotificationRecord {
  std::optional<ObjectEvent> event = std::nullopt;
  std::string problem = {};
};

struct Notification {
  bool is_test = false;  // AWS sends one when notifications are set up; it has no records.
  std::vector<NotificationRecord> records = {};
};

// kInvalid when the text is not JSON, or has neither records nor a test event. A record that cannot
// be read has a problem in place of an event; the other records are not affected.
Result<Notification> ParseNotification(std::string_view json);

}  // namespace tidemark::documents
