#include "apps/archive/processors.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <utility>

#include "apps/archive/archive_table.h"
#include "apps/archive/attributes.h"
#include "apps/archive/purger.h"
#include "base/expiry.h"
#include "tables/follower.h"
#include "tables/stream_reader.h"

namespace tidemark::archive {

namespace {

// A download may take minutes. If the lease ends during one, another process may fetch the same
// file, which does no harm: both write the same object.
constexpr int64_t kFilesLeaseSeconds = 120;
constexpr size_t kFilesPage = 10;

// Slack retries an event for this long. A message that is stored within this time of its ts proves
// that we were listening while every later event was still being sent: from its ts on nothing is
// missing. A message stored later came from an edit and proves nothing. Neither does one that an
// import stored, however recent it is.
constexpr EpochSeconds kLiveSeconds = 300;

bool WasStoredLive(const slack::Timestamp& ts, EpochSeconds stored_at) {
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
  // One consumer of the stream. It is opened at its first use, because opening may fail.
  struct Consumer {
    tables::FollowerOptions options;
    Gauge* lag = nullptr;  // Set by the constructor of Impl.
    std::optional<tables::Follower> follower = std::nullopt;
  };

  // Handles all waiting records. False: another process holds the lease, or Stop was called.
  Result<bool> Drain(Consumer* consumer, const tables::Follower::Handler& handler);
  void WarnOfGap(const Consumer& consumer) const;

  Status HandleRow(const tables::StreamRecord& record);
  Status HandleMessage(const Place& place, const tables::StreamRecord& record);
  Status MarkBeginning(const Place& place, const tables::StreamRecord& record);
  Status HandleChannel(const Place& place);
  Status AddTeam(const slack::TeamId& team);
  Status SetIndexName(const Place& place);

  const ProcessorsOptions options_;
  const ProcessorsParts parts_;
  const ArchiveTable table_;
  std::atomic<bool> stopping_ = false;
  Consumer files_;
  Consumer rows_;
  Purger purger_;
  Counter& purged_;
  Counter& index_entries_;
  // Teams and channels that were already written, so that another message in them costs no write.
  std::set<std::string> teams_;
  std::set<Place> mentioned_;
  std::set<Place> begun_;
};

Processors::Impl::Impl(ProcessorsOptions options, ProcessorsParts parts)
    : options_(std::move(options)),
      parts_(parts),
      table_(parts.tables, options_.table),
      files_{.options = {.consumer = std::string(kFilesConsumer),
                         .table = options_.table,
                         .lease_seconds = kFilesLeaseSeconds,
                         .page = kFilesPage}},
      rows_{.options = {.consumer = std::string(kRowsConsumer), .table = options_.table}},
      purger_({.table = options_.table, .policy = options_.deleted}, parts.tables, parts.objects,
              parts.runtime),
      purged_(parts.runtime.metrics.AddCounter(
          {.name = "tidemark_archive_purged_total",
           .help =
               "Deleted messages whose text, files and older versions were removed by policy."})),
      index_entries_(parts.runtime.metrics.AddCounter(
          {.name = "tidemark_archive_index_entries_total",
           .help = "Changes of channels that were written to the channel index."})) {
  for (const auto& [consumer, name] : {std::pair(&files_, "files"), std::pair(&rows_, "rows")}) {
    consumer->lag = &parts.runtime.metrics.AddGauge(
        {.name = "tidemark_archive_lag_seconds",
         .help = "How far a processor of the archive is behind the changes of its table.",
         .labels = {{"processor", name}}});
  }
}

Processors::Impl::~Impl() {
  for (Consumer* consumer : {&files_, &rows_}) {
    // A lease that could not be given back ends by itself.
    if (consumer->follower) static_cast<void>(consumer->follower->Stop());
  }
}

Result<bool> Processors::Impl::Drain(Consumer* consumer, const tables::Follower::Handler& handler) {
  if (!consumer->follower) {
    consumer->follower.emplace(
        TRY(tables::Follower::Open(*parts_.tables, parts_.runtime, consumer->options)));
  }
  const auto until_stopped = [&](const tables::StreamRecord& record) -> Status {
    if (stopping_) return Error{ErrorCode::kUnavailable, "stopping"};
    return handler(record);
  };
  while (!stopping_) {
    const auto reply = consumer->follower->Step(until_stopped);
    if (consumer->lag != nullptr)
      consumer->lag->Set(static_cast<double>(consumer->follower->LagSeconds()));
    if (reply && reply->gap) WarnOfGap(*consumer);
    if (stopping_) break;
    if (!reply) return reply.error();
    if (!reply->held) return false;
    if (reply->caught_up) return true;
  }
  return false;
}

void Processors::Impl::WarnOfGap(const Consumer& consumer) const {
  parts_.runtime.logger.Log(
      LogLevel::kError,
      "changes of the archive were trimmed before they were handled; run `tidemark "
      "archive rebuild-index` and `tidemark archive verify`",
      {{"consumer", consumer.options.consumer}});
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
      TRY(Drain(&rows_, [this](const tables::StreamRecord& record) { return HandleRow(record); }));
  if (!held) return Done{};
  const uint64_t purged = TRY(purger_.Step().WithContext("purging deleted messages"));
  purged_.Add(static_cast<double>(purged));
  return Done{};
}

Status Processors::Impl::HandleRow(const tables::StreamRecord& record) {
  if (record.kind == tables::ChangeKind::kRemove) return Done{};
  const std::string item_id = TextIn(record.keys, "itemId");
  if (const auto place = PlaceOfMessages(item_id)) return HandleMessage(*place, record);
  if (const auto place = PlaceOfChannelRow(item_id)) return HandleChannel(*place);
  return Done{};
}

Status Processors::Impl::HandleMessage(const Place& place, const tables::StreamRecord& record) {
  if (record.kind != tables::ChangeKind::kInsert) return Done{};
  TRY(AddTeam(place.team));
  if (!mentioned_.contains(place)) {
    TRY(parts_.index->Mention(place));
    mentioned_.insert(place);
  }
  return MarkBeginning(place, record);
}

Status Processors::Impl::MarkBeginning(const Place& place, const tables::StreamRecord& record) {
  if (begun_.contains(place)) return Done{};
  const auto ts = TimestampIn(record.keys, "timestamp");
  if (!ts || !WasStoredLive(*ts, record.created_at)) return Done{};
  if (record.new_image && IsTrueIn(*record.new_image, "imported")) return Done{};
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

Status Processors::Impl::AddTeam(const slack::TeamId& team) {
  if (teams_.contains(team.text())) return Done{};
  TRY(parts_.state->AddTeam(team));
  teams_.insert(team.text());
  return Done{};
}

// A damaged channel row is logged and skipped: otherwise it would hold up every record after it.
// The index can be rebuilt once the row is repaired.
Status Processors::Impl::HandleChannel(const Place& place) {
  TRY(AddTeam(place.team));
  const Status set = SetIndexName(place);
  if (set || set.error().code != ErrorCode::kCorrupt) return set;
  parts_.runtime.logger.Log(LogLevel::kError, "a channel was not entered into the channel index",
                            {{"channel", place.channel.text()}, {"error", set.error().message}});
  return Done{};
}

// Uses the channel's rows as they are now, not the record: records may be handled late and twice,
// and an old name must not replace a newer one.
Status Processors::Impl::SetIndexName(const Place& place) {
  const auto channel = TRY(table_.FindChannel(place));
  if (!channel) return Done{};
  TRY(parts_.index->Set(place, IndexName(*channel)));
  index_entries_.Add();
  return Done{};
}

Processors::Processors(ProcessorsOptions options, ProcessorsParts parts)
    : impl_(std::make_unique<Impl>(std::move(options), parts)) {}

Processors::~Processors() = default;

Status Processors::StepFiles() { return impl_->StepFiles(); }

Status Processors::StepRows() { return impl_->StepRows(); }

void Processors::Stop() { impl_->Stop(); }

// ---- The status of a consumer ----

namespace {

// docs/formats/consumers.md has the row. When its table does not exist, no consumer has run yet.
Result<item::Item> ReadConsumerRow(tables::Tables& tables, const std::string& consumer) {
  const tables::FollowerOptions defaults;
  auto row = tables.Get({.table = defaults.state_table, .key = {{"consumer", consumer}}});
  if (!row && row.error().code != ErrorCode::kNotFound) return row.error();
  return row && *row ? **row : item::Item();
}

tables::StreamPosition PositionIn(const item::Item& row) {
  return {.stream = TextIn(row, "stream"),
          .label = TextIn(row, "label"),
          .shard = TextIn(row, "shard"),
          .sequence = TextIn(row, "sequence"),
          .drained = IsTrueIn(row, "drained")};
}

}  // namespace

Result<ProcessorStatus> ReadProcessorStatus(tables::Tables& tables, const Clock& clock,
                                            const std::string& table, const std::string& consumer) {
  const item::Item row = TRY(ReadConsumerRow(tables, consumer));
  const EpochSeconds now = clock.NowSeconds();
  ProcessorStatus status{.held = IsLive(IntIn(row, "lease_end").value_or(0), now),
                         .last_change_at = IntIn(row, "record_at"),
                         .gaps = IntIn(row, "gaps").value_or(0)};
  if (status.last_change_at == 0) status.last_change_at.reset();
  tables::StreamReader reader(tables, table);
  const tables::StreamPage page = TRY(reader.Read(PositionIn(row), 1));
  if (!page.records.empty()) {
    status.lag_seconds = std::max<int64_t>(0, now - page.records.front().created_at);
  }
  return status;
}

}  // namespace tidemark::archive
