// Runs one function in many threads, which start at the same moment, and waits for all of them.
//
//   RunThreads(8, [&](int thread) { ... });
//
// The function must protect data that its threads share.
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
