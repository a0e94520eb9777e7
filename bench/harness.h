// What the benchmarks share: timing two ways of doing the same work in turns, in one run, and
// printing them as a ratio. A ratio from one run carries over between machines; a number of
// operations a second does not.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"

namespace tidemark::bench {

inline double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A benchmark has nobody to report an error to: it says what failed, and ends.
template <typename T>
T Must(Result<T> result) {
  if (!result.has_value()) {
    fmt::print(stderr, "bench: {}\n", result.error().message);
    std::exit(1);
  }
  return std::move(result).value();
}

// A folder below the current one, gone at the end.
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

// Does some work and says how many operations it was.
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

// Operations a second of one loop that keeps `in_flight` of them under way: `submit` starts the
// operation of this number, and calls back when it is done.
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
};

inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

inline void PrintHead() {
  fmt::print("{:<44} {:>12} {:>12} {:>7}  {}\n", "", "tidemark", "raw RocksDB", "ratio", "goal");
}

// Runs both in turns and prints their medians. False when a goal was missed.
inline bool Compare(const Settings& settings, const Comparison& comparison) {
  std::vector<double> ours;
  std::vector<double> raw;
  std::vector<double> ratios;
  for (int round = 0; round < settings.rounds; ++round) {
    raw.push_back(comparison.raw());
    ours.push_back(comparison.ours());
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
  fmt::print("{:<44} {:>12.0f} {:>12.0f} {:>7.2f}  {}\n", comparison.name + ", " + comparison.unit,
             rate, Median(raw), ratio, goal);
  std::fflush(stdout);
  return met;
}

// A single measured figure with an upper bound.
inline bool Bound(const std::string& name, const std::string& unit, double value, double limit) {
  const bool met = value < limit;
  fmt::print("{:<44} {:>12.1f} {:>12} {:>7}  < {:.0f}: {}\n", name + ", " + unit, value, "", "",
             limit, met ? "met" : "MISSED");
  std::fflush(stdout);
  return met;
}

}  // namespace tidemark::bench
