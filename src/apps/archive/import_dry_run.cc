#include "apps/archive/import_dry_run.h"

#include <string>

#include <fmt/format.h>

#include "base/hashing.h"

namespace tidemark::archive {

namespace {

// What decides whether joining the row changes anything. The text is not in it: of two bodies of
// the same time only one is kept (see IsBetter in message.cc).
std::string ToldBy(const Traits& traits) {
  std::string told = fmt::format("{}#{}#{}#{}#{}#{}", traits.user, traits.bot_id, traits.username,
                                 traits.author_name, traits.subtype, traits.thread_ts);
  for (const FileMeta& file : traits.files) {
    told += fmt::format("#{}#{}#{}#{}#{}", file.id, file.name, file.size, file.mode, file.seen_ts);
  }
  return told;
}

std::string ToldBy(const MessageNews& news) {
  std::string told = ToldBy(news.traits);
  if (news.deleted_ts) told += "#deleted";
  for (const Observation& observation : news.observations) {
    const Body& body = observation.body;
    told += fmt::format("#{}#{}#{}#{}", body.version.text(), body.event_ts.text(), body.inferred,
                        ToldBy(observation.traits));
  }
  return told;
}

}  // namespace

SeenRows::Sight SeenRows::See(const ImportedMessage& message) {
  const uint64_t told = FastHash(ToldBy(message.news));
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = messages_.try_emplace(FastHash(message.news.ts.text()), told);
  if (is_new) return Sight::kFirst;
  if (at->second == told) return Sight::kAgain;
  at->second = told;
  return Sight::kChanged;
}

bool SeenRows::SeeReaction(std::string_view key) {
  const std::lock_guard lock(mutex_);
  return reactions_.insert(FastHash(key)).second;
}

}  // namespace tidemark::archive
