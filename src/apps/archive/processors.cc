#include "apps/archive/processors.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <utility>

#include "apps/archive/attributes.h"
#include "apps/archive/partition.h"
#include "apps/archive/purger.h"
#include "tables/follower.h"

namespace tidemark::archive {

namespace {

// A file may take minutes. When the lease ends meanwhile another process may fetch it too, which
// does no harm.
constexpr int64_t kFilesLeaseSeconds = 120;
constexpr size_t kFilesPage = 10;

// For so long Slack sends an event again. Whoever stores a message within it listens while all
// later ones are still being sent, so nothing from the message on was missed. What is stored later
// was edited or imported, and says nothing about events arriving from its time on.
constexpr EpochSeconds kLiveSeconds = 300;

bool IsTold(const slack::Timestamp& ts, EpochSeconds stored_at) {
  return stored_at - ts.seconds() <= kLiveSeconds;
}

}  // namespace

class Processors::Impl {
 public:
  Impl(ProcessorsOptions options, ProcessorsParts parts);
  ~Impl();

  Status StepFiles();
  Status StepRows();
  void Stop() { stopping_ = true; }

 private:
  // One consumer of the stream; opened when it is first used, since that may fail.
  struct Line {
    tables::FollowerOptions options;
    Gauge* lag = nullptr;
    std::optional<tables::Follower> follower = std::nullopt;
  };

  // Handles all that waits. False: another process does the work.
  Result<bool> Drain(Line* line, const tables::Follower::Handler& handler);
  void WarnOfGap(const Line& line) const;

  Status NoticeRow(const tables::StreamRecord& record);
  Status NoticeMessage(const Place& place, const tables::StreamRecord& record);
  Status NoticeBeginning(const Place& place, const tables::StreamRecord& record);
  Status NoticeChannel(const Place& place);
  Status NoticeTeam(const slack::TeamId& team);
  Status SetIndexName(const Place& place);

  const ProcessorsOptions options_;
  const ProcessorsParts parts_;
  std::atomic<bool> stopping_ = false;
  Line files_;
  Line rows_;
  Purger purger_;
  Counter* purged_ = nullptr;
  Counter* index_entries_ = nullptr;
  // What was noted already, so that one more message of a known channel costs nothing.
  std::set<std::string> teams_;
  std::set<Place> mentioned_;
  std::set<Place> begun_;
};

Processors::Impl::Impl(ProcessorsOptions options, ProcessorsParts parts)
    : options_(std::move(options)),
      parts_(parts),
      files_{.options = {.consumer = std::string(kFilesConsumer),
                         .table = options_.table,
                         .lease_seconds = kFilesLeaseSeconds,
                         .page = kFilesPage}},
      rows_{.options = {.consumer = std::string(kRowsConsumer), .table = options_.table}},
      purger_({.table = options_.table, .policy = options_.deleted}, parts.tables, parts.objects,
              parts.clock, parts.logger) {
  if (parts.metrics == nullptr) return;
  for (const auto& [line, name] : {std::pair(&files_, "files"), std::pair(&rows_, "rows")}) {
    line->lag = &parts.metrics->AddGauge(
        {.name = "tidemark_archive_lag_seconds",
         .help = "How far a processor of the archive is behind the changes of its table.",
         .labels = {{"processor", name}}});
  }
  purged_ = &parts.metrics->AddCounter(
      {.name = "tidemark_archive_purged_total",
       .help = "Deleted messages whose text, files and older versions were removed by policy."});
  index_entries_ = &parts.metrics->AddCounter(
      {.name = "tidemark_archive_index_entries_total",
       .help = "Changes of channels that were carried over to the channel index."});
}

Processors::Impl::~Impl() {
  for (Line* line : {&files_, &rows_}) {
    // A lease that could not be given back ends by itself.
    if (line->follower) static_cast<void>(line->follower->Stop());
  }
}

Result<bool> Processors::Impl::Drain(Line* line, const tables::Follower::Handler& handler) {
  if (!line->follower) {
    line->follower.emplace(
        TRY(tables::Follower::Open(*parts_.tables, *parts_.clock, *parts_.random, line->options)));
  }
  const auto until_stopped = [&](const tables::StreamRecord& record) -> Status {
    if (stopping_) return Error{ErrorCode::kUnavailable, "stopping"};
    return handler(record);
  };
  while (!stopping_) {
    const auto reply = line->follower->Step(until_stopped);
    if (line->lag != nullptr) line->lag->Set(static_cast<double>(line->follower->LagSeconds()));
    if (reply && reply->gap) WarnOfGap(*line);
    if (stopping_) break;
    if (!reply) return reply.error();
    if (!reply->held) return false;
    if (reply->caught_up) return true;
  }
  return false;
}

void Processors::Impl::WarnOfGap(const Line& line) const {
  if (parts_.logger == nullptr) return;
  parts_.logger->Log(LogLevel::kError,
                     "changes of the archive were trimmed before they were handled; run `tidemark "
                     "archive rebuild-index` and `tidemark archive verify`",
                     {{"consumer", line.options.consumer}});
}

Status Processors::Impl::StepFiles() {
  if (parts_.files == nullptr) return Done{};
  const bool held = TRY(Drain(&files_, [this](const tables::StreamRecord& record) {
    return parts_.files->Notice(record);
  }));
  return held ? parts_.files->Step() : Status(Done{});
}

Status Processors::Impl::StepRows() {
  const bool held =
      TRY(Drain(&rows_, [this](const tables::StreamRecord& record) { return NoticeRow(record); }));
  if (!held) return Done{};
  const uint64_t purged = TRY(purger_.Step().WithContext("purging deleted messages"));
  if (purged_ != nullptr) purged_->Add(static_cast<double>(purged));
  return Done{};
}

Status Processors::Impl::NoticeRow(const tables::StreamRecord& record) {
  if (record.kind == tables::ChangeKind::kRemove) return Done{};
  const std::string item_id = TextIn(record.keys, "itemId");
  if (const auto place = PlaceOfMessages(item_id)) return NoticeMessage(*place, record);
  if (const auto place = PlaceOfChannelRow(item_id)) return NoticeChannel(*place);
  return Done{};
}

Status Processors::Impl::NoticeMessage(const Place& place, const tables::StreamRecord& record) {
  if (record.kind != tables::ChangeKind::kInsert) return Done{};
  TRY(NoticeTeam(place.team));
  if (!mentioned_.contains(place)) {
    TRY(parts_.index->Mention(place));
    mentioned_.insert(place);
  }
  return NoticeBeginning(place, record);
}

Status Processors::Impl::NoticeBeginning(const Place& place, const tables::StreamRecord& record) {
  if (begun_.contains(place)) return Done{};
  const auto ts = TimestampIn(record.keys, "timestamp");
  if (!ts || !IsTold(*ts, record.created_at)) return Done{};
  const auto marks = TRY(parts_.ledger->ChannelMarks(place));
  if (std::ranges::find(marks, CoverageKind::kBegan, &CoverageNews::kind) == marks.end()) {
    TRY(parts_.ledger->Add(place.team, {.channel = place.channel,
                                        .kind = CoverageKind::kBegan,
                                        .from = *ts,
                                        .reason = "first message seen"}));
  }
  begun_.insert(place);
  return Done{};
}

Status Processors::Impl::NoticeTeam(const slack::TeamId& team) {
  if (teams_.contains(team.text())) return Done{};
  TRY(parts_.state->AddTeam(team));
  teams_.insert(team.text());
  return Done{};
}

// A damaged row must not hold up all that comes behind it: the index can be made anew.
Status Processors::Impl::NoticeChannel(const Place& place) {
  TRY(NoticeTeam(place.team));
  const Status set = SetIndexName(place);
  if (set || set.error().code != ErrorCode::kCorrupt) return set;
  if (parts_.logger != nullptr) {
    parts_.logger->Log(LogLevel::kError, "a channel was not entered into the channel index",
                       {{"channel", place.channel.text()}, {"error", set.error().message}});
  }
  return Done{};
}

// What all rows of the channel say now, not what the record says: records may come again, and late.
Status Processors::Impl::SetIndexName(const Place& place) {
  const auto rows =
      TRY(QueryAll(*parts_.tables, PartitionQuery(options_.table, RowsOfChannel(place))));
  if (rows.empty()) return Done{};
  const Channel channel = TRY(JoinRows(rows));
  TRY(parts_.index->Set(place, IndexName(channel)));
  if (index_entries_ != nullptr) index_entries_->Add();
  return Done{};
}

Processors::Processors(ProcessorsOptions options, ProcessorsParts parts)
    : impl_(std::make_unique<Impl>(std::move(options), parts)) {}

Processors::~Processors() = default;

Status Processors::StepFiles() { return impl_->StepFiles(); }

Status Processors::StepRows() { return impl_->StepRows(); }

void Processors::Stop() { impl_->Stop(); }

}  // namespace tidemark::archive
