#include "apps/documents/repairs.h"

#include <charconv>
#include <utility>

namespace tidemark::documents {

namespace {

// A note holds a number of milliseconds.
constexpr size_t kMaxNoteBytes = 20;

// Returns 0, which is long ago, when the text is not a number: then nothing waits for the note.
std::chrono::milliseconds ParseTime(const std::string& text) {
  int64_t time = 0;
  std::from_chars(text.data(), text.data() + text.size(), time);
  return std::chrono::milliseconds(time);
}

}  // namespace

Repairs::Repairs(const DocumentsOptions& options, objects::Objects* objects, const Retrier* retrier,
                 Synchronizer* synchronizer, const Observer* observer)
    : options_(options),
      objects_(*objects),
      retrier_(*retrier),
      synchronizer_(*synchronizer),
      observer_(*observer) {}

Status Repairs::Note(const Context& context, const std::string& id) {
  const objects::PutRequest note{.key = options_.repair_prefix + id,
                                 .bytes = std::to_string(observer_.clock().Now().count()),
                                 .content_type = "text/plain"};
  TRY(retrier_.Run<objects::PutReply>(context, Store::kObjects, "noting a repair",
                                      [&] { return objects_.Put(note); }));
  return Done{};
}

Result<size_t> Repairs::Count(const Context& context) {
  size_t count = 0;
  objects::ListReply page;
  do {
    page = TRY(List(context, page.objects.empty() ? "" : page.objects.back().key));
    count += page.objects.size();
  } while (page.more);
  return count;
}

Result<RepairReport> Repairs::Run(const Context& context) {
  RepairReport report;
  objects::ListReply page;
  do {
    const std::string after = page.objects.empty() ? "" : page.objects.back().key;
    page = TRY(List(context, after));
    for (const objects::ObjectInfo& note : page.objects) {
      ++report.due;
      const Result<bool> repaired = Repair(context, note.key);
      if (repaired && *repaired) ++report.repaired;
      if (!repaired && context.IsOver()) return report;
    }
  } while (page.more);
  return report;
}

Result<bool> Repairs::Repair(const Context& context, const std::string& key) {
  const std::string id = key.substr(options_.repair_prefix.size());
  return observer_.Observe<bool>(
      context, {.name = "repair", .key = id, .dry_run = options_.dry_run},
      [&](const Context& counted, Operation& operation) -> Result<bool> {
        const std::optional<FoundNote> note = TRY(Read(counted, key));
        if (!note) return true;
        const SyncReply synced = TRY(synchronizer_.Sync(counted, {.id = id}));
        // The write that the note was made for may still come after this sync. The row is final
        // only after the time by which that write must have ended.
        const auto over = note->made + options_.intent_lease + 2 * options_.skew;
        if (synced.outcome == SyncOutcome::kInFlight || observer_.clock().Now() < over ||
            options_.dry_run) {
          operation.outcome = "kept";
          return false;
        }
        TRY(Forget(counted, key, *note));
        return true;
      });
}

Result<objects::ListReply> Repairs::List(const Context& context, const std::string& after) {
  return retrier_.Run<objects::ListReply>(context, Store::kObjects, "listing repairs", [&] {
    return objects_.List({.prefix = options_.repair_prefix, .after = after});
  });
}

Result<std::optional<Repairs::FoundNote>> Repairs::Read(const Context& context,
                                                        const std::string& key) {
  const auto read = [&]() -> Result<std::optional<FoundNote>> {
    const auto object = TRY(objects_.Open(key));
    if (!object) return std::optional<FoundNote>();
    const std::string text = TRY(object->Read(0, kMaxNoteBytes));
    return std::optional(FoundNote{.etag = object->info().etag, .made = ParseTime(text)});
  };
  return retrier_.Run<std::optional<FoundNote>>(context, Store::kObjects, "reading a repair's note",
                                                read);
}

// Deletes only the note that was read. A note that was made since then is for another write.
Status Repairs::Forget(const Context& context, const std::string& key, const FoundNote& note) {
  TRY(retrier_.Run<objects::DeleteReply>(context, Store::kObjects, "deleting a repair's note", [&] {
    return objects_.Delete({.key = key, .if_match = note.etag});
  }));
  return Done{};
}

}  // namespace tidemark::documents
