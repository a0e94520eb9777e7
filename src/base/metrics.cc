#include "base/metrics.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "base/check.h"

namespace tidemark {

namespace {

// What prometheus-cpp accepts, made narrower: it throws on other names, and ours are fixed.
bool IsName(std::string_view name) {
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

void Counter::Add(double amount) { counter_->Increment(amount); }
double Counter::value() const { return counter_->Value(); }

void Gauge::Set(double value) { gauge_->Set(value); }
void Gauge::Add(double amount) { gauge_->Increment(amount); }
double Gauge::value() const { return gauge_->Value(); }

void Histogram::Observe(double value) { histogram_->Observe(value); }

struct Metrics::State {
  void Note(const MetricOptions& options, std::string kind);

  mutable std::mutex mutex;
  prometheus::Registry registry;
  std::map<std::string, Description> descriptions;
  std::set<std::pair<std::string, std::map<std::string, std::string>>> added;
  // Deques, because their elements stay where they are when more are added.
  std::deque<Counter> counters;
  std::deque<Gauge> gauges;
  std::deque<Histogram> histograms;
};

void Metrics::State::Note(const MetricOptions& options, std::string kind) {
  CHECK(IsName(options.name));
  for (const auto& [label, value] : options.labels) CHECK(IsName(label));
  // prometheus-cpp would return the same metric twice, and two owners would share it by mistake.
  CHECK(added.emplace(options.name, options.labels).second);
  const auto [entry, is_new] =
      descriptions.emplace(options.name, Description{.kind = kind, .help = options.help});
  CHECK(is_new || (entry->second.kind == kind && entry->second.help == options.help));
}

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;

Counter& Metrics::AddCounter(const MetricOptions& options) {
  std::lock_guard lock(state_->mutex);
  state_->Note(options, "counter");
  auto& family =
      prometheus::BuildCounter().Name(options.name).Help(options.help).Register(state_->registry);
  return state_->counters.emplace_back(&family.Add(options.labels));
}

Gauge& Metrics::AddGauge(const MetricOptions& options) {
  std::lock_guard lock(state_->mutex);
  state_->Note(options, "gauge");
  auto& family =
      prometheus::BuildGauge().Name(options.name).Help(options.help).Register(state_->registry);
  return state_->gauges.emplace_back(&family.Add(options.labels));
}

Histogram& Metrics::AddHistogram(const HistogramOptions& options) {
  std::lock_guard lock(state_->mutex);
  const MetricOptions& metric = options.metric;
  state_->Note(metric, "histogram");
  CHECK(std::ranges::is_sorted(options.bounds));
  auto& family =
      prometheus::BuildHistogram().Name(metric.name).Help(metric.help).Register(state_->registry);
  return state_->histograms.emplace_back(&family.Add(metric.labels, options.bounds));
}

std::string Metrics::Expose() const {
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

std::map<std::string, Metrics::Description> Metrics::List() const {
  std::lock_guard lock(state_->mutex);
  return state_->descriptions;
}

}  // namespace tidemark
