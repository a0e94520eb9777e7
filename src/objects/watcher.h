// A Watcher tells which objects other programs change past us, for stores that can tell.
//
//   for (;;) {
//     News news = TRY(watcher.Wait(std::chrono::seconds(60)));
//     for (const std::string& key : news.keys) ...  // Look at the object.
//   }
//
// News are hints: an object that is named may have been written, or be gone, or be as it was. What
// changed is named, or `all` is set, or a problem says what is not watched; nothing is left out in
// silence. Wait is for one thread; Stop may be called from any.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace tidemark::objects {

struct News {
  std::vector<std::string> keys = {};
  bool all = false;  // Some changes were missed: every object may be another one.
  // What is not watched from now on, and what to do about it; each is told once.
  std::vector<std::string> problems = {};
};

class Watcher {
 public:
  virtual ~Watcher() = default;

  // What was noticed since the last call; waits so long for the first of it. Empty when nothing
  // came, and after Stop. kUnavailable when nothing will be noticed any more.
  virtual Result<News> Wait(std::chrono::milliseconds patience) = 0;
  // Wait returns at once, now and from now on.
  virtual void Stop() = 0;
};

}  // namespace tidemark::objects
