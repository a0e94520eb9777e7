// Arrivals passes answers that come later to one thread that handles them, for callers whose
// handlers may block: an answer comes on a thread of its producer, which must not.
//
//   Arrivals arrivals;
//   arrivals.Expect(client.Submit(...), [&](Result<Exchange> exchange) { Store(exchange); });
//   arrivals.Handle(std::chrono::seconds(1));   // Calls Store when the answer is there.
//
// Expect and Handle are for one thread. Stop may be called from any thread. Handlers are called in
// Handle only, so that what they refer to needs to live no longer than the Arrivals.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/later.h"

namespace tidemark {

class Arrivals {
 public:
  template <typename T>
  void Expect(Later<T> later, std::function<void(Result<T>)> handle) {
    ++expected_;
    std::move(later).Then([inbox = inbox_, handle = std::move(handle)](Result<T> answer) {
      inbox->Add([handle, answer = std::move(answer)]() mutable { handle(std::move(answer)); });
    });
  }

  // Handles the answers that are there and those that come within the patience. Returns earlier
  // when nothing more is expected, and after Stop.
  void Handle(std::chrono::nanoseconds patience);
  // Ends a running Handle soon; later ones do not wait.
  void Stop() { inbox_->Stop(); }

  // How many answers were expected and are not handled yet.
  size_t expected() const { return expected_; }

 private:
  using Work = std::function<void()>;

  // Shared with the answers that are under way, which may come after the Arrivals is destroyed.
  class Inbox {
   public:
    void Add(Work work);
    void Stop();
    // Waits until something is there, not longer than until then.
    std::vector<Work> Take(std::chrono::steady_clock::time_point until);

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Work> work_;
    bool is_stopped_ = false;
  };

  const std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  size_t expected_ = 0;
};

}  // namespace tidemark
