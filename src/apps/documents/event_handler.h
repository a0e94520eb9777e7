// EventHandler brings the cache up to date when objects change without it. An event is a hint: the
// object is read, and the row made to say what it says.
//
// Only the authoritative prefix counts; test events, other sources, our own writes and what was
// seen already change nothing. A record that can never succeed is dropped with a line in the log;
// one that may succeed later is reported, so that it comes again. One record's fate is not
// another's. May be called from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/documents/notification.h"
#include "apps/documents/synchronizer.h"

namespace tidemark::documents {

enum class RecordFate {
  kSynced,     // The row changed.
  kUnchanged,  // It said so already; also our own writes.
  kIgnored,    // Another prefix or bucket, or no change of content.
  kDropped,    // Malformed, of another source, or the object is no document: never retried.
  kFailed,     // To be sent again.
};
std::string_view ToString(RecordFate fate);

struct RecordReport {
  RecordFate fate = RecordFate::kIgnored;
  std::string key;
  std::string why = {};
};

struct EventReport {
  std::vector<RecordReport> records = {};
  bool retry = false;  // Some record failed.
};

class EventHandler {
 public:
  // All outlive this.
  EventHandler(const DocumentsOptions& options, RowStore* rows, Synchronizer* synchronizer,
               const Observer* observer);

  // Ends before the context's deadline: records that were not begun by then have failed.
  EventReport Handle(const Context& context, std::string_view notification_json);
  EventReport Handle(const Context& context, const Notification& notification);

 private:
  RecordReport Drop(const std::string& problem);
  RecordReport HandleEvent(const Context& context, const ObjectEvent& event);
  Outcome<RecordReport> Bring(const Context& context, const ObjectEvent& event);

  const DocumentsOptions options_;
  RowStore& rows_;
  Synchronizer& synchronizer_;
  const Observer& observer_;
};

}  // namespace tidemark::documents
