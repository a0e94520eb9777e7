// Runs one function in many threads that all begin at the same moment, and waits for them.
//
//   RunThreads(8, [&](int thread) { ... });
//
// Whatever the function shares between threads it must guard itself.
#pragma once

#include <latch>
#include <thread>
#include <vector>

namespace tidemark::testing {

template <typename Function>
void RunThreads(int count, Function function) {
  std::latch start(count);
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&start, &function, i] {
      start.arrive_and_wait();
      function(i);
    });
  }
}

}  // namespace tidemark::testing
