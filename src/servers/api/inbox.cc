#include "servers/api/inbox.h"

#include "tables/ensure_table.h"

namespace tidemark::api {

Inbox::Inbox(InboxOptions options, tables::Tables* tables, const Clock* clock)
    : options_(std::move(options)), tables_(*tables), clock_(*clock) {}

Status Inbox::CreateTable() {
  return tables::EnsureTable(tables_,
                             {.table = options_.table,
                              .keys = {.partition = {"event_key", item::Type::kString}},
                              .stream = tables::StreamView::kNewImage},
                             "ttl");
}

tables::PutRequest Inbox::Entry(const std::string& key, const slack::EventCallback& callback,
                                std::string_view body) const {
  const EpochSeconds now = clock_.NowSeconds();
  return {.table = options_.table,
          .item = {{"event_key", key},
                   {"body", item::Binary{std::string(body)}},
                   {"team_id", callback.team_id},
                   {"type", callback.event.type},
                   {"received_at", item::Number::FromInt(now)},
                   {"ttl", item::Number::FromInt(now + options_.life.count())}}};
}

Result<std::string> BodyOf(const item::Item& row) {
  const item::Value* body = row.Find("body");
  const auto* binary = body == nullptr ? nullptr : body->As<item::Binary>();
  if (binary == nullptr) {
    return Error{ErrorCode::kCorrupt, "a row of the inbox has no attribute 'body' of type B"};
  }
  return binary->bytes;
}

}  // namespace tidemark::api
