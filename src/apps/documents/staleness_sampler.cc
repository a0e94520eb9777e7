#include "apps/documents/staleness_sampler.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "apps/documents/query.h"

namespace tidemark::documents {

namespace {

// More rows are collected than are compared. So a burst of documents in one second does not fill
// the whole sample.
constexpr size_t kChoice = 4;
// A sample begins within this many seconds before now. Older rows follow after the newest one.
constexpr uint64_t kSampledSeconds = 90 * 86'400;
constexpr std::array<std::string_view, 3> kAgeNames = {"hour", "day", "older"};

size_t AgeOf(const Row& row, std::chrono::milliseconds now) {
  if (now - row.verified <= std::chrono::hours(1)) return 0;
  return now - row.verified <= std::chrono::hours(24) ? 1 : 2;
}

}  // namespace

StalenessSampler::StalenessSampler(RowStore* rows, DocumentStore* store, const Runtime& runtime)
    : rows_(*rows),
      store_(*store),
      runtime_(runtime),
      stale_share_(
          runtime.metrics.AddGauge({.name = "tidemark_documents_stale_share",
                                    .help = "The share of the last sample that was stale."})) {
  static_assert(kAgeNames.size() == kAges);
  for (size_t i = 0; i < kAges; ++i) {
    const std::string age(kAgeNames[i]);
    counters_[i].sampled = &runtime.metrics.AddCounter(
        {.name = "tidemark_documents_staleness_sampled_total",
         .help = "Rows that were compared with their objects, by how long ago they were verified.",
         .labels = {{"verified", age}}});
    counters_[i].stale = &runtime.metrics.AddCounter(
        {.name = "tidemark_documents_staleness_stale_total",
         .help = "Compared rows whose object had another version, or was deleted.",
         .labels = {{"verified", age}}});
  }
}

Result<StalenessReport> StalenessSampler::Sample(const Context& context, size_t count) {
  StalenessReport report;
  for (const std::string& id : TRY(Choose(context, count))) {
    TRY(SampleOne(context, id, report));
  }
  // An empty sample has no share. The last one stays.
  if (report.sampled > 0) {
    stale_share_.Set(static_cast<double>(report.stale) / static_cast<double>(report.sampled));
  }
  return report;
}

Result<std::vector<std::string>> StalenessSampler::Choose(const Context& context, size_t count) {
  const auto now = static_cast<uint64_t>(runtime_.clock.NowSeconds());
  const auto begin =
      static_cast<EpochSeconds>(now - runtime_.random.Below(std::min(now, kSampledSeconds)));
  std::vector<std::string> ids;
  TRY(Collect(context, RangesOf({.from = begin, .to = kLastSecond}), kChoice * count, ids));
  // After the last row it continues with the first.
  TRY(Collect(context, RangesOf({.from = 0, .to = begin - 1}), kChoice * count, ids));
  for (size_t i = 0; i < std::min(count, ids.size()); ++i) {
    std::swap(ids[i], ids[i + runtime_.random.Below(ids.size() - i)]);
  }
  ids.resize(std::min(count, ids.size()));
  return ids;
}

Status StalenessSampler::Collect(const Context& context, const std::vector<IndexRange>& ranges,
                                 size_t limit, std::vector<std::string>& ids) {
  if (ids.size() >= limit) return Done{};
  IndexWalk walk(&rows_, ranges, std::nullopt, static_cast<uint32_t>(limit - ids.size()));
  while (ids.size() < limit) {
    std::optional<IndexHit> hit = TRY(walk.Next(context));
    if (!hit) break;
    if (!hit->id.empty()) ids.push_back(std::move(hit->id));
  }
  return Done{};
}

// When row and object differ, the row is read again. The row is stale only when it has not changed.
// Otherwise a writer changed both between the two reads.
Status StalenessSampler::SampleOne(const Context& context, const std::string& id,
                                   StalenessReport& report) {
  const std::optional<Row> row = TRY(rows_.Load(context, id));
  if (!row || row->intent || !IsServable(*row, runtime_.clock.NowSeconds())) return Done{};
  const std::optional<ObjectState> object = TRY(store_.Head(context, id));
  const bool is_stale = !object || object->etag != row->committed->etag;
  if (is_stale) {
    const std::optional<Row> again = TRY(rows_.Load(context, id));
    if (!again || again->revision != row->revision) return Done{};
  }
  Count(*row, is_stale, report);
  return Done{};
}

void StalenessSampler::Count(const Row& row, bool is_stale, StalenessReport& report) const {
  const AgeCounters& counters = counters_[AgeOf(row, runtime_.clock.Now())];
  ++report.sampled;
  counters.sampled->Add();
  if (!is_stale) return;
  ++report.stale;
  counters.stale->Add();
}

}  // namespace tidemark::documents
