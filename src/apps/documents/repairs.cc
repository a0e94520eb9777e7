#include "apps/documents/repairs.h"

#include <charconv>
#include <utility>

namespace tidemark::documents {

namespace {

// A note is a number of milliseconds.
constexpr size_t kMaxNoteBytes = 20;

// Long ago when it is no number: nobody waits for it.
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

Outcome<Done> Repairs::Note(const Context& context, const std::string& id) {
  const objects::PutRequest note{.key = options_.repair_prefix + id,
                                 .bytes = std::to_string(observer_.clock().Now().count()),
                                 .content_type = "text/plain"};
  TRY(retrier_.Run<objects::PutReply>(context, Store::kObjects, "noting a repair",
                                      [&] { return objects_.Put(note); }));
  return Done{};
}

Outcome<size_t> Repairs::Count(const Context& context) {
  size_t count = 0;
  objects::ListReply page;
  do {
    page = TRY(List(context, page.objects.empty() ? "" : page.objects.back().key));
    count += page.objects.size();
  } while (page.more);
  return count;
}

Outcome<RepairReport> Repairs::Run(const Context& context) {
  RepairReport report;
  objects::ListReply page;
  do {
    const std::string after = page.objects.empty() ? "" : page.objects.back().key;
    page = TRY(List(context, after));
    for (const objects::ObjectInfo& note : page.objects) {
      ++report.due;
      const Outcome<bool> repaired = Repair(context, note.key);
      if (repaired && *repaired) ++report.repaired;
      if (!repaired && context.IsOver()) return report;
    }
  } while (page.more);
  return report;
}

Outcome<bool> Repairs::Repair(const Context& context, const std::string& key) {
  const std::string id = key.substr(options_.repair_prefix.size());
  return observer_.Observe<bool>(
      context, {.name = "repair", .key = id, .dry_run = options_.dry_run},
      [&](const Context& counted, Operation& operation) -> Outcome<bool> {
        const std::optional<FoundNote> note = TRY(Read(counted, key));
        if (!note) return true;
        const SyncReply synced = TRY(synchronizer_.Sync(counted, {.id = id}));
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

Outcome<objects::ListReply> Repairs::List(const Context& context, const std::string& after) {
  return retrier_.Run<objects::ListReply>(context, Store::kObjects, "listing repairs", [&] {
    return objects_.List({.prefix = options_.repair_prefix, .after = after});
  });
}

Outcome<std::optional<Repairs::FoundNote>> Repairs::Read(const Context& context,
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

// Only the note that was read: one that was made since is for another write.
Outcome<Done> Repairs::Forget(const Context& context, const std::string& key,
                              const FoundNote& note) {
  TRY(retrier_.Run<objects::DeleteReply>(context, Store::kObjects, "deleting a repair's note", [&] {
    return objects_.Delete({.key = key, .if_match = note.etag});
  }));
  return Done{};
}

}  // namespace tidemark::documents
