// A History records what the clients of a store saw: one Operation for each request, with the
// moments of its call and its return, and its reply. checker.h checks it.
//
//   Recorder<Operation> recorder;
//   Operation put{.client = 3, .key = "a", .kind = Kind::kPut, .argument = 7};
//   put.called = recorder.Now();                  // before the request leaves
//   put.outcome = ...;                            // from the reply
//   recorder.Add(std::move(put));                 // stamps the return
//
// A Recorder may be used from any thread; the rest is plain data. A request that the store refused
// without reading the item (kUnavailable) is not recorded, because it had no effect.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::testing {

// What a key holds: a number, or nothing.
using Value = std::optional<int64_t>;

// A moment; later ones are larger. Two operations are concurrent when their spans overlap.
using Tick = uint64_t;

enum class Kind {
  kGet,
  kPut,             // Stores `argument`.
  kPutIfAbsent,     // Stores `argument` when the key holds nothing.
  kPutIfEquals,     // Stores `argument` when the key holds `expected`.
  kIncrement,       // Adds `argument`; an absent key counts as 0.
  kDelete,          // Removes the value, if there is one.
  kDeleteIfEquals,  // Removes the value if it is `expected`.
};

enum class Outcome {
  kApplied,     // The reply says it was done. A get that was answered is applied.
  kNotApplied,  // The reply says the condition did not hold.
  kUnknown,     // No reply: it may take effect at any moment after its call, or never.
};

struct Operation {
  int client = 0;
  std::string key;
  Kind kind = Kind::kGet;
  int64_t argument = 0;
  int64_t expected = 0;
  Tick called = 0;
  Tick returned = 0;  // Not used when the outcome is unknown.
  Outcome outcome = Outcome::kUnknown;
  // The value in the reply, when it had one: after the operation for an increment, before it
  // for all others.
  std::optional<Value> seen;
};

using History = std::vector<Operation>;

// Collects the events of many threads with a common counter as time. An event has a member
// `returned`.
template <typename Event>
class Recorder {
 public:
  // The present moment, different at every call.
  Tick Now() { return ticks_.fetch_add(1); }

  // Keeps the event as returned now.
  void Add(Event event) {
    event.returned = Now();
    std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
  }

  // What was added so far.
  std::vector<Event> Take() {
    std::lock_guard lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  std::atomic<Tick> ticks_ = 1;
  std::mutex mutex_;
  std::vector<Event> events_;
};

}  // namespace tidemark::testing
