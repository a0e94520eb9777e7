#include "apps/archive/import_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/archive_table.h"
#include "apps/archive/attributes.h"
#include "item/limits.h"
#include "item/size.h"
#include "tables/conditional_writer.h"
#include "tables/limits.h"
#include "tables/pages.h"

namespace tidemark::archive {

namespace {

using tables::PutRequest;

// Up to so many keys are held in memory to find out which messages are new.
constexpr size_t kMaxKnownKeys = 20'000;
// Less than a transaction may have, to leave room for what is around the items.
constexpr size_t kMaxBatchBytes = tables::kMaxTransactBytes - (512 << 10);
constexpr const char* kIfAbsent = "attribute_not_exists(itemId)";

std::string ReactionKey(const ReactionNews& reaction) {
  return fmt::format("{}#{}#{}", reaction.ts.text(), reaction.reaction, reaction.user);
}

item::Item EncodeReaction(const Place& place, const ReactionNews& reaction) {
  RowBuilder row;
  row.Set("itemId", ReactionsOf(place));
  row.Set("timestamp", ReactionKey(reaction));
  row.Set("type", "reaction");
  row.Set("ts", reaction.ts.text());
  row.Set("reaction", reaction.reaction);
  row.SetText("user", reaction.user);
  row.SetInt("count", reaction.count);
  row.Set("event_ts", reaction.event_ts.text());
  return row.Build();
}

// Whether the message can be put as it is when there is no row: the export shows one body of it.
bool IsPlain(const ImportedMessage& message) {
  return message.news.observations.size() == 1 && !message.news.deleted_ts;
}

item::Item EncodeFresh(const Place& place, const ImportedMessage& message) {
  MessageState state{.message = {.place = place, .ts = message.news.ts}};
  state.message.imported = message.news.is_import;
  Join(message.news.observations.front(), &state);
  return Encode(state.message);
}

// Whether no row has room for the text, even without everything that may be left out (see
// EncodeWithBody in planner.cc).
bool IsTooLarge(const Place& place, const ImportedMessage& message) {
  MessageState state{.message = {.place = place, .ts = message.news.ts}};
  for (const Observation& observation : message.news.observations) Join(observation, &state);
  if (!state.message.body) return false;
  for (std::string Body::*part : {&Body::raw_event, &Body::blocks, &Body::attachments}) {
    ((*state.message.body).*part).clear();
  }
  return item::SizeBytes(Encode(state.message)) > item::kMaxItemBytes;
}

StoreCounts CountOf(ArchiveOutcome outcome, bool was_there, const slack::Timestamp& ts) {
  if (outcome == ArchiveOutcome::kIncomplete) return {.too_large = {ts}};
  if (outcome != ArchiveOutcome::kStored) return {.unchanged = 1};
  return was_there ? StoreCounts{.updated = 1} : StoreCounts{.stored_new = 1};
}

}  // namespace

StoreCounts& StoreCounts::operator+=(const StoreCounts& other) {
  stored_new += other.stored_new;
  updated += other.updated;
  unchanged += other.unchanged;
  reactions += other.reactions;
  too_large.insert(too_large.end(), other.too_large.begin(), other.too_large.end());
  return *this;
}

// One row to write: a message or a reaction. The other pointer is null.
struct ImportWriter::Unit {
  const ImportedMessage* message = nullptr;
  const ReactionNews* reaction = nullptr;
};

class ImportWriter::Batch {
 public:
  explicit Batch(std::string table) : table_(std::move(table)) {
    request_.actions.reserve(tables::kMaxTransactActions);
  }

  bool HasRoom(size_t size_bytes) const {
    return units_.size() < tables::kMaxTransactActions && bytes_ + size_bytes <= kMaxBatchBytes;
  }
  void Add(Unit unit, item::Item row, size_t size_bytes) {
    bytes_ += size_bytes;
    units_.push_back(unit);
    request_.actions.emplace_back(
        PutRequest{.table = table_, .item = std::move(row), .condition = kIfAbsent});
  }
  const tables::TransactWriteRequest& request() const { return request_; }
  const std::vector<Unit>& units() const { return units_; }
  // Keeps the allocated memory for the next batch.
  void Clear() {
    bytes_ = 0;
    request_.actions.clear();
    units_.clear();
  }

 private:
  const std::string table_;
  tables::TransactWriteRequest request_;
  std::vector<Unit> units_;
  size_t bytes_ = 0;
};

ImportWriter::ImportWriter(Archive* archive, tables::Tables* tables, ImportMode mode)
    : archive_(archive), tables_(tables), mode_(mode) {}

// One query tells which of several hundred messages are already stored. Looking each of them up
// would cost several hundred reads.
Result<std::optional<ImportWriter::Keys>> ImportWriter::KnownKeys(const std::string& partition,
                                                                  const std::string& from,
                                                                  const std::string& to) {
  tables::QueryRequest request{
      .table = archive_->options().table,
      .key_condition = "itemId = :partition AND #timestamp BETWEEN :from AND :to",
      .projection = "#timestamp",
      .names = {{"#timestamp", "timestamp"}},
      .values = {{":partition", partition}, {":from", from}, {":to", to}},
      .consistent = true};
  Keys keys;
  const auto visit = [&](const item::Item& row) -> Result<tables::Paging> {
    keys.insert(TextIn(row, "timestamp"));
    return keys.size() > kMaxKnownKeys ? tables::Paging::kStop : tables::Paging::kContinue;
  };
  TRY(tables::ForEachItem(*tables_, std::move(request), visit));
  if (keys.size() > kMaxKnownKeys) return std::optional<Keys>();
  return std::optional<Keys>(std::move(keys));
}

Result<StoreCounts> ImportWriter::StoreMessages(const Place& place,
                                                const std::vector<ImportedMessage>& messages,
                                                SeenRows* seen) {
  if (messages.empty()) return StoreCounts{};
  if (mode_ == ImportMode::kStore) return StoreFresh(place, messages);
  StoreCounts counts;
  for (const ImportedMessage& message : messages) {
    counts += TRY(CountDryRun(place, message, seen));
  }
  return counts;
}

// Rows that the table does not have go into batches. All others are joined one by one.
Result<StoreCounts> ImportWriter::StoreFresh(const Place& place,
                                             const std::vector<ImportedMessage>& messages) {
  const auto [first, last] = std::minmax_element(
      messages.begin(), messages.end(),
      [](const auto& left, const auto& right) { return left.news.ts < right.news.ts; });
  const std::string from = first->news.ts.text();
  const std::string to = last->news.ts.text();
  std::optional<Keys> known = TRY(KnownKeys(MessagesOf(place), from, to));
  std::optional<Keys> known_reactions = TRY(KnownKeys(ReactionsOf(place), from, to + "~"));
  StoreCounts counts;
  Batch batch(archive_->options().table);
  std::vector<Unit> others;
  const auto add = [&](Unit unit, item::Item row, std::optional<Keys>* keys) -> Status {
    const size_t size_bytes = item::SizeBytes(row);
    // A large row is left to the archive, which may have to drop its raw event.
    const bool is_fresh = *keys && size_bytes < archive_->options().warn_bytes &&
                          (*keys)->insert(TextIn(row, "timestamp")).second;
    if (!is_fresh) {
      others.push_back(unit);
      return Done{};
    }
    if (!batch.HasRoom(size_bytes)) counts += TRY(Flush(place, &batch));
    batch.Add(unit, std::move(row), size_bytes);
    return Done{};
  };
  for (const ImportedMessage& message : messages) {
    if (IsPlain(message)) {
      TRY(add({.message = &message}, EncodeFresh(place, message), &known));
    } else {
      others.push_back({.message = &message});
    }
    for (const ReactionNews& reaction : message.reactions) {
      // A stored reaction is never older than the one in the export: keep it. Of two counts the
      // greater one is kept.
      const bool is_known = known_reactions && known_reactions->contains(ReactionKey(reaction));
      if (is_known && reaction.count == 0) continue;
      TRY(add({.reaction = &reaction}, EncodeReaction(place, reaction), &known_reactions));
    }
  }
  counts += TRY(Flush(place, &batch));
  for (const Unit& unit : others) counts += TRY(StoreUnit(place, unit));
  return counts;
}

// When the transaction is cancelled, another writer has stored one of its rows since KnownKeys.
// Then every row of the batch is stored on its own, and joined with what is there.
Result<StoreCounts> ImportWriter::Flush(const Place& place, Batch* batch) {
  StoreCounts counts;
  if (batch->units().empty()) return counts;
  const ArchiveTable table(tables_, archive_->options().table);
  const bool applied = TRY(table.Write(batch->request()));
  for (const Unit& unit : batch->units()) {
    if (!applied) {
      counts += TRY(StoreUnit(place, unit));
    } else if (unit.message != nullptr) {
      ++counts.stored_new;
    } else {
      ++counts.reactions;
    }
  }
  batch->Clear();
  return counts;
}

Result<StoreCounts> ImportWriter::StoreUnit(const Place& place, const Unit& unit) {
  return unit.message != nullptr ? JoinMessage(place, *unit.message)
                                 : PutReaction(place, *unit.reaction);
}

Result<StoreCounts> ImportWriter::JoinMessage(const Place& place, const ImportedMessage& message) {
  const bool was_there = TRY(IsThere(place, message.news.ts));
  return CountOf(TRY(archive_->StoreNews(place.team, message.news)), was_there, message.news.ts);
}

Result<StoreCounts> ImportWriter::PutReaction(const Place& place, const ReactionNews& reaction) {
  PutRequest put{.table = archive_->options().table,
                 .item = EncodeReaction(place, reaction),
                 .condition = kIfAbsent};
  if (reaction.count > 0) {
    *put.condition += " OR #count < :count";
    put.names["#count"] = "count";
    put.values[":count"] = item::Number::FromInt(reaction.count);
  }
  const auto reply = TRY(tables_->Put(put));
  return StoreCounts{.reactions = reply.applied ? 1u : 0u};
}

Result<StoreCounts> ImportWriter::CountAlone(const Place& place, const ImportedMessage& message) {
  if (archive_ == nullptr) {
    return CountOf(
        IsTooLarge(place, message) ? ArchiveOutcome::kIncomplete : ArchiveOutcome::kStored, false,
        message.news.ts);
  }
  const bool was_there = TRY(IsThere(place, message.news.ts));
  return CountOf(TRY(archive_->PlanNews(place.team, message.news)).outcome, was_there,
                 message.news.ts);
}

Result<StoreCounts> ImportWriter::CountDryRun(const Place& place, const ImportedMessage& message,
                                              SeenRows* seen) {
  StoreCounts counts = TRY(CountAlone(place, message));
  const bool would_be_stored = counts.stored_new + counts.updated > 0;
  // The import would have stored the first row of the message by now.
  const SeenRows::Sight sight = would_be_stored ? seen->See(message) : SeenRows::Sight::kFirst;
  if (sight == SeenRows::Sight::kAgain) counts = {.unchanged = 1};
  if (sight == SeenRows::Sight::kChanged) counts = {.updated = 1};
  for (const ReactionNews& reaction : message.reactions) {
    counts += TRY(CountReaction(place, reaction, seen));
  }
  return counts;
}

// The same decision as the condition in PutReaction.
Result<StoreCounts> ImportWriter::CountReaction(const Place& place, const ReactionNews& reaction,
                                                SeenRows* seen) {
  const std::string key = ReactionKey(reaction);
  if (!seen->SeeReaction(key)) return StoreCounts{};
  if (archive_ == nullptr) return StoreCounts{.reactions = 1};
  const auto known = TRY(
      tables_->Get({.table = archive_->options().table, .key = KeyOf(ReactionsOf(place), key)}));
  const bool is_new = !known || IntIn(*known, "count").value_or(0) < reaction.count;
  return StoreCounts{.reactions = is_new ? 1u : 0u};
}

Result<bool> ImportWriter::IsThere(const Place& place, const slack::Timestamp& ts) {
  return TRY(tables_->Get({.table = archive_->options().table,
                           .key = KeyOf(MessagesOf(place), ts.text()),
                           .projection = "itemId"}))
      .has_value();
}

Result<StoreCounts> ImportWriter::StoreNews(const slack::TeamId& team,
                                            const std::vector<News>& news) {
  StoreCounts counts;
  if (archive_ == nullptr) return StoreCounts{.updated = news.size()};
  std::vector<tables::TransactAction> actions;
  std::vector<const News*> together;
  const auto flush = [&]() -> Status {
    if (together.empty()) return Done{};
    // Two news may be about one row, which a transaction refuses. Then each is written on its own.
    const auto reply =
        tables::JudgeOnce(tables_->TransactWrite({.actions = std::exchange(actions, {})}));
    if (!reply && reply.error().code != ErrorCode::kInvalid) return reply.error();
    const bool applied = reply && reply->IsWritten();
    for (const News* one : std::exchange(together, {})) {
      const bool stored =
          applied || TRY(archive_->StoreNews(team, *one)) == ArchiveOutcome::kStored;
      ++(stored ? counts.updated : counts.unchanged);
    }
    return Done{};
  };
  for (const News& one : news) {
    Plan plan = TRY(archive_->PlanNews(team, one));
    if (plan.actions.empty() || mode_ == ImportMode::kDryRun) {
      ++(plan.actions.empty() ? counts.unchanged : counts.updated);
      continue;
    }
    TRY(archive_->PutObjects(plan.objects));
    if (actions.size() + plan.actions.size() > tables::kMaxTransactActions) TRY(flush());
    together.push_back(&one);
    std::move(plan.actions.begin(), plan.actions.end(), std::back_inserter(actions));
  }
  TRY(flush());
  return counts;
}

}  // namespace tidemark::archive
