#include "apps/dedup/content.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "apps/dedup/simhash.h"
#include "base/expiry.h"
#include "base/hashing.h"
#include "item/number.h"
#include "tables/require_absent.h"

namespace tidemark::dedup {

namespace {

using item::Number;

constexpr std::string_view kExactPrefix = "content#";
constexpr std::string_view kNearPrefix = "near#";
constexpr int kBands = 4;
constexpr int kBandBits = 16;
constexpr int kMaxDistance = 3;
// How many texts are remembered for one value of a quarter. The oldest are dropped first.
constexpr size_t kMaxBandEntries = 64;

// One text in the row of a band: "expires simhash key".
struct NearEntry {
  EpochSeconds expires = 0;
  uint64_t hash = 0;
  std::string key;
};

std::string Encode(const NearEntry& entry) {
  return fmt::format("{} {:016x} {}", entry.expires, entry.hash, entry.key);
}

NearEntry Decode(std::string_view text) {
  NearEntry entry;
  const char* const end = text.data() + text.size();
  const auto expires = std::from_chars(text.data(), end, entry.expires);
  if (expires.ptr == end) return {};
  const auto hash = std::from_chars(expires.ptr + 1, end, entry.hash, 16);
  if (hash.ptr == end) return {};
  entry.key.assign(hash.ptr + 1, end);
  return entry;
}

// The entries of a row as it was before the update.
std::vector<std::string> EntriesIn(const std::optional<item::Item>& row) {
  const item::Value* value = row ? row->Find("entries") : nullptr;
  const auto* entries = value ? value->As<item::StringSet>() : nullptr;
  return entries ? entries->members() : std::vector<std::string>();
}

// The entries to remove: expired ones, and the oldest when there are too many. A set sorts its
// members as texts, and an entry begins with its expiry, so the oldest come first.
std::vector<std::string> Stale(const std::vector<std::string>& entries, EpochSeconds now) {
  const size_t excess = entries.size() > kMaxBandEntries ? entries.size() - kMaxBandEntries : 0;
  std::vector<std::string> stale;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i < excess || !IsLive(Decode(entries[i]).expires, now)) stale.push_back(entries[i]);
  }
  return stale;
}

void Collect(const std::vector<std::string>& entries, const NearEntry& own, EpochSeconds now,
             std::vector<NearDuplicate>* near) {
  for (const std::string& text : entries) {
    const NearEntry entry = Decode(text);
    const int distance = Distance(entry.hash, own.hash);
    if (!IsLive(entry.expires, now) || entry.key == own.key || distance > kMaxDistance) continue;
    const NearDuplicate found{entry.key, distance};
    if (std::find(near->begin(), near->end(), found) == near->end()) near->push_back(found);
  }
}

}  // namespace

bool IsContentKey(std::string_view key) {
  return key.starts_with(kExactPrefix) || key.starts_with(kNearPrefix);
}

Contents::Contents(ContentOptions options, tables::Tables* tables, const Clock* clock)
    : options_(std::move(options)), tables_(*tables), clock_(*clock) {}

Result<ContentAdvice> Contents::Note(const ContentNote& note) {
  ContentAdvice advice;
  if (options_.exact) advice.duplicate_of = TRY(NoteExact(note));
  if (options_.near) advice.near = TRY(NoteNear(note));
  return advice;
}

Result<std::optional<std::string>> Contents::NoteExact(const ContentNote& note) {
  const EpochSeconds now = clock_.NowSeconds();
  const std::string key =
      fmt::format("{}{}#{}", kExactPrefix, note.team, ToHex(Sha256(note.content)));
  tables::PutRequest put{.table = options_.table,
                         .item = {{"event_key", key},
                                  {"main_key", note.key},
                                  {"ttl", Number::FromInt(now + options_.window.count())}},
                         .on_failure = tables::OnConditionFailure::kAllOld};
  tables::RequireAbsent("event_key", now, &put);
  const tables::WriteReply reply = TRY(tables_.Put(put));
  const item::Value* first = reply.failed_on ? reply.failed_on->Find("main_key") : nullptr;
  const std::string* first_key = first ? first->As<std::string>() : nullptr;
  // The same key means that the same event came again, or that the reply to our own write was lost:
  // not a duplicate.
  if (!first_key || *first_key == note.key) return std::optional<std::string>();
  return std::optional(*first_key);
}

// Adds the text to the row of each quarter of its hash. The update returns the row as it was
// before: one write both stores the text and finds its neighbours.
Result<std::vector<NearDuplicate>> Contents::NoteNear(const ContentNote& note) {
  std::vector<NearDuplicate> near;
  const uint64_t hash = SimHash(note.content);
  if (hash == 0) return near;  // The text has no words to compare.
  const EpochSeconds now = clock_.NowSeconds();
  const NearEntry own{now + options_.window.count(), hash, note.key};
  for (int band = 0; band < kBands; ++band) {
    const auto quarter = static_cast<uint16_t>(hash >> (band * kBandBits));
    const item::Item key{
        {"event_key", fmt::format("{}{}#{}#{:04x}", kNearPrefix, note.team, band, quarter)}};
    const tables::WriteReply reply =
        TRY(tables_.Update({.table = options_.table,
                            .key = key,
                            .update = "ADD entries :own SET #ttl = :ttl",
                            .names = {{"#ttl", "ttl"}},
                            .values = {{":own", item::StringSet({Encode(own)})},
                                       {":ttl", Number::FromInt(own.expires)}},
                            .return_values = tables::ReturnValues::kAllOld}));
    const std::vector<std::string> entries = EntriesIn(reply.attributes);
    Collect(entries, own, now, &near);
    std::vector<std::string> stale = Stale(entries, now);
    if (stale.empty()) continue;
    TRY(tables_.Update({.table = options_.table,
                        .key = key,
                        .update = "DELETE entries :stale",
                        .values = {{":stale", item::StringSet(std::move(stale))}}}));
  }
  std::sort(near.begin(), near.end(), [](const NearDuplicate& left, const NearDuplicate& right) {
    return std::pair(left.distance, left.key) < std::pair(right.distance, right.key);
  });
  return near;
}

}  // namespace tidemark::dedup
