// A Home is the queue of a thread that runs a loop, such as a loop of a server. Another thread that
// has finished something for it puts the rest of the work there. So a thread that many wait for,
// such as the one that commits writes, does not spend its time on their answers.
//
//   const Home::Here here(mailbox);                   // The loop, once, on its thread.
//
//   std::shared_ptr<Home> home = Home::OfThisThread();    // The work begins on the loop's thread.
//   ...
//   if (home == nullptr || !home->Add(rest)) rest();      // Another thread has finished its part.
#pragma once

#include <functional>
#include <memory>
#include <utility>

namespace tidemark {

class Home {
 public:
  virtual ~Home() = default;

  // From any thread. The home's thread calls `work` soon. False when its loop has ended; then
  // `work` is not called.
  virtual bool Add(std::function<void()> work) = 0;

  // Null for a thread without a loop.
  static std::shared_ptr<Home> OfThisThread();

  // As long as this lives, it is the home of the thread that made it.
  class Here {
   public:
    explicit Here(std::shared_ptr<Home> home);
    ~Here();
    Here(const Here&) = delete;
    Here& operator=(const Here&) = delete;
  };
};

}  // namespace tidemark
