#include "apps/archive/purger.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/attributes.h"
#include "apps/archive/files.h"
#include "tables/pages.h"

namespace tidemark::archive {

namespace {

constexpr std::chrono::hours kSweepPause(1);
constexpr uint32_t kPageRows = 1'000;
// All that came with the message's events and that its author may want to be gone. Only that there
// was a message stays: its key, its author's id, its thread, and when it was deleted.
constexpr std::array<std::string_view, 12> kBodyAttributes = {
    "text",       "blocks",          "attachments",        "author_name",       "files",
    "files_s3",   "raw_event",       "files_fetch_failed", "files_fetch_error", "files_seen",
    "files_info", "raw_event_object"};

bool HasBody(const item::Item& row) {
  return std::ranges::any_of(kBodyAttributes,
                             [&](std::string_view name) { return row.Contains(name); });
}

}  // namespace

Purger::Purger(PurgerOptions options, tables::Tables* tables, objects::Objects* objects,
               const Runtime& runtime)
    : options_(std::move(options)),
      table_(tables, options_.table),
      objects_(objects),
      runtime_(runtime) {}

Result<uint64_t> Purger::Step() {
  if (options_.policy.text != DeletedText::kPurge) return 0;
  const bool pauses =
      !swept_to_ && ended_at_ && runtime_.clock.Monotonic() - *ended_at_ < kSweepPause;
  if (pauses) return 0;
  tables::Page page = TRY(
      table_.tables().Scan({.table = options_.table,
                            .filter = "begins_with(#k, :messages) AND attribute_exists(#deleted)",
                            .names = {{"#k", "itemId"}, {"#deleted", "deleted"}},
                            .values = {{":messages", "message#"}},
                            .consistent = true,
                            .limit = kPageRows,
                            .start_after = swept_to_}));
  uint64_t purged = 0;
  for (const item::Item& row : page.items) purged += TRY(Purge(row)) ? 1 : 0;
  // The position moves on only now: a page that failed in the middle is read again.
  swept_to_ = std::move(page.last);
  if (!swept_to_) ended_at_ = runtime_.clock.Monotonic();
  return purged;
}

Result<bool> Purger::Purge(const item::Item& row) {
  const auto message = DecodeMessage(row);
  if (!message) {
    runtime_.logger.Log(LogLevel::kError, "a deleted message cannot be purged",
                        {{"error", message.error().message}});
    return false;
  }
  if (!IsHidden(*message, options_.policy, runtime_.clock.NowSeconds())) return false;
  bool purged = false;
  for (const Place& id : TRY(table_.IdsOf(message->place))) {
    purged |= TRY(PurgeUnder(id, message->ts));
  }
  return purged;
}

// The order matters: versions and objects first, the row last. The row names what has to be
// removed, so after a crash in the middle the next sweep repeats the purge. A message that got new
// text after its purge is purged again.
Result<bool> Purger::PurgeUnder(const Place& id, const slack::Timestamp& ts) {
  const auto row = TRY(table_.Get(MessagesOf(id), ts.text()));
  if (!row) return false;
  const bool had_versions = TRY(DeleteVersions(id, ts));
  if (IsTrueIn(*row, "purged") && !had_versions && !HasBody(*row)) return false;
  if (objects_ != nullptr) TRY(DeleteObjectsOf(*objects_, id, ts));
  return Empty(id, *row);
}

Result<bool> Purger::DeleteVersions(const Place& id, const slack::Timestamp& ts) {
  tables::QueryRequest request = table_.QueryOf(VersionsOf(id, ts));
  request.names["#t"] = "timestamp";
  request.projection = "#k, #t";
  const auto keys = TRY(tables::QueryAll(table_.tables(), std::move(request)));
  for (const item::Item& key : keys) {
    TRY(table_.tables().Delete({.table = options_.table, .key = key}));
  }
  return !keys.empty();
}

// Removes the text from the row. False when the row changed after it was read, or names a file that
// was stored after its objects were deleted: the next sweep tries again. The file processor does
// not raise the revision, therefore files_s3 is compared as well.
Result<bool> Purger::Empty(const Place& id, const item::Item& row) {
  tables::UpdateRequest request{.table = options_.table,
                                .key = KeyOf(MessagesOf(id), TextIn(row, "timestamp")),
                                .update = "SET #purged = :true, #revision = :next REMOVE ",
                                .names = {{"#purged", "purged"}, {"#revision", "revision"}},
                                .values = {{":true", true}}};
  for (size_t i = 0; i < kBodyAttributes.size(); ++i) {
    *request.update += fmt::format("{}#b{}", i == 0 ? "" : ", ", i);
    request.names[fmt::format("#b{}", i)] = kBodyAttributes[i];
  }
  const auto revision = IntIn(row, "revision");
  request.values[":next"] = item::Number::FromInt(revision.value_or(1) + 1);
  if (revision) {
    request.condition = "#revision = :read";
    request.values[":read"] = item::Number::FromInt(*revision);
  } else {
    request.condition = "attribute_exists(#k) AND attribute_not_exists(#revision)";
    request.names["#k"] = "itemId";
  }
  request.names["#stored"] = "files_s3";
  if (const item::Value* stored = row.Find("files_s3")) {
    *request.condition += " AND #stored = :stored";
    request.values[":stored"] = *stored;
  } else {
    *request.condition += " AND attribute_not_exists(#stored)";
  }
  return TRY(table_.tables().Update(request)).applied;
}

}  // namespace tidemark::archive
