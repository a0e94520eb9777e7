// The Inbox keeps every event that was accepted, for a day, in the table "tidemark-inbox". Its row
// is written in one transaction with the completion of the event's claim: a crash leaves both
// or neither. What takes longer than Slack waits hangs on the table's stream.
//
// Key event_key; attributes body (the raw bytes), team_id, type, received_at, ttl.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "slack/event.h"
#include "tables/tables.h"

namespace tidemark::api {

struct InboxOptions {
  std::string table = "tidemark-inbox";
  std::chrono::seconds life = std::chrono::hours(24);
};

class Inbox {
 public:
  // Both outlive this.
  Inbox(InboxOptions options, tables::Tables* tables, const Clock* clock);

  // Makes the table, with its stream, unless it is there.
  Status CreateTable();

  // The write that puts an event in; the same event again replaces itself.
  tables::PutRequest Entry(const std::string& key, const slack::EventCallback& callback,
                           std::string_view body) const;

  const std::string& table() const { return options_.table; }

 private:
  const InboxOptions options_;
  tables::Tables& tables_;
  const Clock& clock_;
};

// The raw body of an inbox row, for a consumer of the stream. kCorrupt when it has none.
Result<std::string> BodyOf(const item::Item& row);

}  // namespace tidemark::api
