// The Inbox keeps every accepted event for a day, in the table "tidemark-inbox". The row of an
// event is written in one transaction with the completion of its claim, so a crash leaves both or
// neither. Work that takes longer than Slack waits is done by a consumer of the table's stream
// (inbox_worker.h).
//
// Key event_key; attributes body (the raw bytes), team_id, type, received_at, ttl. May be used from
// any thread.
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

// A larger body does not fit into a row, which may have 400 KB.
inline constexpr size_t kMaxInboxBodyBytes = 380 << 10;

class Inbox {
 public:
  // Both outlive this.
  Inbox(InboxOptions options, tables::Tables* tables, const Clock* clock);

  // Creates the table with its stream, unless it exists.
  Status CreateTable();

  // The write that stores an event. It has no condition: writing the same event again changes only
  // its times. An event that is too large for a row is stored without its body.
  tables::PutRequest MakeEntry(const std::string& key, const slack::EventCallback& callback,
                               std::string_view body) const;

  const std::string& table() const { return options_.table; }

 private:
  const InboxOptions options_;
  tables::Tables& tables_;
  const Clock& clock_;
};

// The raw body in a row of the inbox, for a consumer of the stream. kCorrupt when there is none.
Result<std::string> BodyOf(const item::Item& row);

}  // namespace tidemark::api
