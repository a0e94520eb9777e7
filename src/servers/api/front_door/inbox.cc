#include "servers/api/front_door/inbox.h"

#include <utility>

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

tables::PutRequest Inbox::MakeEntry(const std::string& key, const slack::EventCallback& callback,
                                    std::string_view body) const {
  const EpochSeconds now = clock_.NowSeconds();
  item::Item row = {{"event_key", key},
                    {"team_id", callback.team_id},
                    {"type", callback.event.type},
                    {"received_at", item::Number::FromInt(now)},
                    {"ttl", item::Number::FromInt(now + options_.life.count())}};
  // Without its body the worker counts the event as lost work. The archive has it all the same.
  if (body.size() <= kMaxInboxBodyBytes) row.Set("body", item::Binary{std::string(body)});
  return {.table = options_.table, .item = std::move(row)};
}

Result<std::string> BodyOf(const item::Item& row) {
  const item::Value* body = row.Find("body");
  const auto* binary = body == nullptr ? nullptr : body->As<item::Binary>();
  if (binary == nullptr) {
    return Error{
        ErrorCode::kCorrupt,
        "a row of the inbox has no attribute 'body' of type B: the event was too large for "
        "a row, or the row is damaged"};
  }
  return binary->bytes;
}

}  // namespace tidemark::api
