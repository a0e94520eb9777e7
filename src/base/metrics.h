// Counters, gauges and histograms, shown as Prometheus text.
//
//   Counter& writes = metrics.AddCounter({.name = "tidemark_writes_total",
//                                         .help = "Writes that were acknowledged."});
//   writes.Add();
//
// Metrics are added when the program starts and live as long as their Metrics. All methods may be
// called from any thread. Changing a counter or gauge takes no lock. Every metric is described in
// docs/metrics.md.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
}  // namespace prometheus

namespace tidemark {

class Counter {
 public:
  explicit Counter(prometheus::Counter* counter) : counter_(counter) {}
  // The amount is not negative.
  void Add(double amount = 1);
  double value() const;

 private:
  prometheus::Counter* counter_;
};

class Gauge {
 public:
  explicit Gauge(prometheus::Gauge* gauge) : gauge_(gauge) {}
  void Set(double value);
  void Add(double amount);
  double value() const;

 private:
  prometheus::Gauge* gauge_;
};

class Histogram {
 public:
  explicit Histogram(prometheus::Histogram* histogram) : histogram_(histogram) {}
  void Observe(double value);

 private:
  prometheus::Histogram* histogram_;
};

struct MetricOptions {
  std::string name;  // Lower case with underscores; the unit, then _total for a counter, last.
  std::string help;
  // Metrics of one name differ in their labels: {{"operation", "put"}}. The values are few
  // and known beforehand, never input.
  std::map<std::string, std::string> labels = {};
};

struct HistogramOptions {
  MetricOptions metric;
  std::vector<double> bounds;  // The upper bounds of the buckets, rising.
};

class Metrics {
 public:
  Metrics();
  ~Metrics();

  // Adding the same name and labels twice, or a name with two kinds, is a bug and stops the
  // program.
  Counter& AddCounter(const MetricOptions& options);
  Gauge& AddGauge(const MetricOptions& options);
  Histogram& AddHistogram(const HistogramOptions& options);

  // All of them, in Prometheus's text format.
  std::string Expose() const;

  struct Description {
    std::string kind;  // "counter", "gauge" or "histogram"
    std::string help;
  };
  // What was added so far, by name.
  std::map<std::string, Description> List() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tidemark
