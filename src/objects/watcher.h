// A Watcher reports which objects other programs have changed, for stores that can notice this.
//
//   for (;;) {
//     News news = TRY(watcher.Wait(std::chrono::seconds(60)));
//     for (const std::string& key : news.keys) ...  // Look at the object.
//   }
//
// News are hints: an object that is named may have been written or deleted, or may be unchanged.
// Every change is reported: by its key, by `all`, or by a problem that says what is not watched.
// Only one thread may call Wait. Any thread may call Stop.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace tidemark::objects {

struct News {
  std::vector<std::string> keys = {};
  bool all = false;  // Some changes were missed: every object may have changed.
  // What is no longer watched, and what to do about it. Each problem is reported once.
  std::vector<std::string> problems = {};
};

class Watcher {
 public:
  virtual ~Watcher() = default;

  // Returns the changes since the last call, and waits for the first one if there are none. Returns
  // empty news after the timeout and after Stop. Fails with kUnavailable if it cannot watch any
  // more.
  virtual Result<News> Wait(std::chrono::milliseconds patience) = 0;
  // Ends a Wait in progress, and makes every later one return at once.
  virtual void Stop() = 0;
};

}  // namespace tidemark::objects
