// SingleFlight lets those who want the same thing at the same time share one attempt at it:
// the first does the work, the others wait for its result. Nothing is kept once it is done; who
// comes later does the work anew.
//
// May be called from any thread; the work runs in the thread of the first caller and must not ask
// for the same key.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace tidemark {

template <typename T>
class SingleFlight {
 public:
  T Do(const std::string& key, const std::function<T()>& work) {
    std::unique_lock lock(mutex_);
    auto [entry, is_first] = flights_.try_emplace(key);
    if (!is_first) return Wait(entry->second, lock);
    std::shared_ptr<Flight> flight = entry->second = std::make_shared<Flight>();
    lock.unlock();
    T result = work();
    lock.lock();
    flights_.erase(key);
    flight->result = result;
    flight->landed.notify_all();
    return result;
  }

 private:
  struct Flight {
    std::condition_variable landed;
    std::optional<T> result;
  };

  // By value: the flight is gone from the map when it has landed.
  static T Wait(std::shared_ptr<Flight> flight, std::unique_lock<std::mutex>& lock) {
    flight->landed.wait(lock, [&] { return flight->result.has_value(); });
    return *flight->result;
  }

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Flight>> flights_;
};

}  // namespace tidemark
