// The common code of the benchmarks: it measures two ways to do the same work in turns, in one run,
// and prints their ratio. A ratio of one run is comparable between machines; a number of operations
// a second is not.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <semaphore>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "base/result.h"

namespace tidemark::bench {

inline double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the value. On an error the benchmark prints it and ends.
template <typename T>
T Must(Result<T> result) {
  if (!result.has_value()) {
    fmt::print(stderr, "bench: {}\n", result.error().message);
    std::exit(1);
  }
  return std::move(result).value();
}

// A temporary folder below the current one. The destructor deletes it.
class Folder {
 public:
  explicit Folder(const std::string& name) : path_("bench-data-" + name) {
    std::filesystem::remove_all(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// Does some work and returns the number of operations.
using Work = std::function<uint64_t()>;

// Operations a second over at least `seconds`.
inline double Rate(double seconds, const Work& work) {
  const double start = Seconds();
  uint64_t operations = 0;
  double elapsed = 0;
  do {
    operations += work();
    elapsed = Seconds() - start;
  } while (elapsed < seconds);
  return static_cast<double>(operations) / elapsed;
}

// Operations a second of `clients` threads that each call `work` with their number.
inline double ParallelRate(double seconds, int clients, const std::function<void(int)>& work) {
  std::atomic<uint64_t> operations = 0;
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  const double start = Seconds();
  for (int client = 0; client < clients; ++client) {
    threads.emplace_back([&, client] {
      uint64_t own = 0;
      for (; !stop; ++own) work(client);
      operations += own;
    });
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(operations) / (Seconds() - start);
}

// Operations a second of one loop with `in_flight` running operations. `submit` starts the
// operation with this number, and calls back when it is done.
inline double InFlightRate(
    double seconds, int in_flight,
    const std::function<void(uint64_t number, std::function<void()> done)>& submit) {
  std::counting_semaphore<> slots(in_flight);
  const double start = Seconds();
  uint64_t operations = 0;
  while (operations % 64 != 0 || Seconds() - start < seconds) {
    slots.acquire();
    submit(operations++, [&slots] { slots.release(); });
  }
  for (int i = 0; i < in_flight; ++i) slots.acquire();
  return static_cast<double>(operations) / (Seconds() - start);
}

struct Comparison {
  std::string name;
  std::string unit;
  std::function<double()> ours;
  std::function<double()> raw;
  double goal_ratio = 0;  // 0: none.
  double goal_ours = 0;   // 0: none.
};

struct Settings {
  double seconds = 2;
  int rounds = 3;
  std::string json_file = {};  // Gets a line of JSON for each comparison; empty: none.
};

inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

inline void PrintHead() {
  fmt::print("{:<44} {:>12} {:>12} {:>7}  {}\n", "", "tidemark", "raw RocksDB", "ratio", "goal");
}

// What a comparison found: medians of its rounds.
struct Measured {
  double ours = 0;
  double raw = 0;
  double ratio = 0;
  bool met = true;
};

// The lines of many runs can be in one file, so that runs can be compared.
inline void Save(const Settings& settings, const Comparison& comparison, const Measured& measured) {
  if (settings.json_file.empty()) return;
  std::string line;
  JsonWriter writer(&line);
  const auto number = [&](std::string_view name, double value) {
    writer.Key(name);
    writer.Double(value);
  };
  writer.BeginObject();
  writer.Key("name");
  writer.String(comparison.name);
  writer.Key("unit");
  writer.String(comparison.unit);
  number("ours", measured.ours);
  number("raw", measured.raw);
  number("ratio", measured.ratio);
  if (comparison.goal_ratio > 0) number("goal_ratio", comparison.goal_ratio);
  if (comparison.goal_ours > 0) number("goal_ours", comparison.goal_ours);
  writer.Key("met");
  writer.Bool(measured.met);
  writer.EndObject();
  std::ofstream(settings.json_file, std::ios::app) << line << '\n';
}

// What this process has used since it was made: its threads, with the load generator.
class Usage {
 public:
  Usage() { ::getrusage(RUSAGE_SELF, &start_); }

  // For each of so many operations.
  std::string Of(double operations) const {
    rusage now{};
    ::getrusage(RUSAGE_SELF, &now);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    const double user = seconds(now.ru_utime) - seconds(start_.ru_utime);
    const double kernel = seconds(now.ru_stime) - seconds(start_.ru_stime);
    const auto switches = static_cast<double>(now.ru_nvcsw - start_.ru_nvcsw);
    return fmt::format("{:.1f}+{:.1f} us, {:.2f} switches", user / operations * 1e6,
                       kernel / operations * 1e6, switches / operations);
  }

 private:
  rusage start_{};
};

// Runs both in turns and prints their medians. False when a goal was missed.
inline bool Compare(const Settings& settings, const Comparison& comparison) {
  std::vector<double> ours;
  std::vector<double> raw;
  std::vector<double> ratios;
  std::string used;  // In the last round: processor time (user and kernel), and threads that slept.
  for (int round = 0; round < settings.rounds; ++round) {
    raw.push_back(comparison.raw());
    const Usage usage;
    const double start = Seconds();
    ours.push_back(comparison.ours());
    used = usage.Of(ours.back() * (Seconds() - start));
    ratios.push_back(ours.back() / raw.back());
  }
  const double ratio = Median(ratios);
  const double rate = Median(ours);
  std::string goal;
  bool met = true;
  if (comparison.goal_ratio > 0) {
    met = ratio >= comparison.goal_ratio;
    goal = fmt::format("ratio >= {:.2f}: {}", comparison.goal_ratio, met ? "met" : "MISSED");
  }
  if (comparison.goal_ours > 0) {
    met = rate >= comparison.goal_ours;
    goal = fmt::format(">= {:.0f}: {}", comparison.goal_ours, met ? "met" : "MISSED");
  }
  fmt::print("{:<44} {:>12.0f} {:>12.0f} {:>7.2f}  {:<22} {}\n",
             comparison.name + ", " + comparison.unit, rate, Median(raw), ratio, goal, used);
  std::fflush(stdout);
  Save(settings, comparison, {.ours = rate, .raw = Median(raw), .ratio = ratio, .met = met});
  return met;
}

// A single measured value with an upper limit.
inline bool Bound(const std::string& name, const std::string& unit, double value, double limit) {
  const bool met = value < limit;
  fmt::print("{:<44} {:>12.1f} {:>12} {:>7}  < {:.0f}: {}\n", name + ", " + unit, value, "", "",
             limit, met ? "met" : "MISSED");
  std::fflush(stdout);
  return met;
}

}  // namespace tidemark::bench
