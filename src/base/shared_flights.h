// SharedFlights lets callers that ask for the same key at the same time share one piece of work.
// The first caller starts the work; the others join it. All of them get its answer when it ends,
// and none of them blocks a thread. An answer is not kept: a caller that asks after the work has
// ended starts it again.
//
//   return flights.Join(key, [&] { pool.Submit([=] { flights.Land(key, Work()); }); });
//
// The caller whose `start` is called must call Land for this key exactly once, now or later,
// whether the work succeeded or failed. Otherwise all callers that join wait for ever. May be
// called from any thread.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/later.h"
#include "base/result.h"

namespace tidemark {

template <typename T>
class SharedFlights {
 public:
  // Calls `start` on this thread if no work for this key is running. `start` may call Land itself,
  // or give the work to another thread.
  template <typename Start>
  Later<T> Join(const std::string& key, const Start& start) {
    auto [promise, later] = MakeLater<T>();
    bool is_first = false;
    {
      const std::lock_guard lock(mutex_);
      std::vector<Promise<T>>& waiting = flights_[key];
      is_first = waiting.empty();
      waiting.push_back(std::move(promise));
    }
    if (is_first) start();
    return std::move(later);
  }

  // Ends the work and gives its answer to all callers that joined. Their callbacks run on this
  // thread. A callback may call Join for the same key; that starts new work.
  void Land(const std::string& key, const Result<T>& answer) {
    std::vector<Promise<T>> waiting;
    {
      const std::lock_guard lock(mutex_);
      const auto flight = flights_.find(key);
      waiting = std::move(flight->second);
      flights_.erase(flight);
    }
    for (Promise<T>& promise : waiting) promise.Fulfil(answer);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<Promise<T>>> flights_;  // The callers that wait, by key.
};

}  // namespace tidemark
