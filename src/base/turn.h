// A Turn is a period in which a thread handles everything that is ready, such as one round of a
// server's loop, or the answers to one group of writes. If the thread passes several pieces of work
// to another thread during a turn, it wakes that thread once, when the turn ends. Waking a thread
// costs a system call, and the thread handles the pieces faster together than one by one.
//
//   const Turn turn;                                  // The thread's owner.
//   for (Request& request : ready) Handle(request);
//
//   Add(work);                                        // Deep inside Handle.
//   Turn::AtEnd(this, [this] { WakeConsumer(); });
//
// A turn belongs to the thread that made it. A turn within a turn of the same thread is a part of
// the outer one.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace tidemark {

class Turn {
 public:
  Turn();
  // Ends the turn: calls what AtEnd was given, in that order.
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // Calls `work` when the turn of this thread ends, or at once if the thread is not in a turn. If
  // the same `owner` calls this several times in one turn, only its first work is called. The work
  // must not throw.
  static void AtEnd(const void* owner, std::function<void()> work);

 private:
  const bool is_outermost_;
  std::vector<std::pair<const void*, std::function<void()>>> at_end_;
};

}  // namespace tidemark
