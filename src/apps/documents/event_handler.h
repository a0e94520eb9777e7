// EventHandler brings the cache up to date when other programs change objects. An event is only a
// hint: the object is read, and the row is made to say what the object says.
//
// Only keys below the prefix of documents count. Test events and events of our own writes
// change nothing. A record that can never succeed is dropped with a warning
// in the log. A record that may succeed later is reported as failed, so that the sender sends it
// again. Records do not affect each other. May be called from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/documents/notification.h"
#include "apps/documents/synchronizer.h"

namespace tidemark::documents {

enum class RecordFate {
  kSynced,     // The row changed.
  kUnchanged,  // The row was right already, as after our own writes.
  kIgnored,    // Another prefix or bucket, or no change of content.
  kDropped,    // Malformed, from another source, or the object is not a document: never retried.
  kFailed,     // The sender should send it again.
};
std::string_view ToString(RecordFate fate);

struct RecordReport {
  RecordFate fate = RecordFate::kIgnored;
  std::string key;
  std::string why = {};
};

struct EventReport {
  std::vector<RecordReport> records = {};
  bool retry = false;      // Some record failed.
  bool understood = true;  // False: the notification or one of its records could not be read.
};

class EventHandler {
 public:
  // All outlive this.
  EventHandler(const DocumentsOptions& options, Synchronizer* synchronizer,
               const Observer* observer);

  // Ends before the context's deadline. Records that were not begun by then count as failed.
  EventReport Handle(const Context& context, std::string_view notification_json);
  EventReport Handle(const Context& context, const Notification& notification);

 private:
  RecordReport Drop(const std::string& problem);
  RecordReport HandleEvent(const Context& context, const ObjectEvent& event);
  Result<RecordReport> Apply(const Context& context, const ObjectEvent& event);

  const DocumentsOptions options_;
  Synchronizer& synchronizer_;
  const Observer& observer_;
};

}  // namespace tidemark::documents
