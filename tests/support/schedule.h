// A controlled scheduler. Actors have their own threads, but only one runs at a time, and another
// one can continue only where an actor calls Step. Explore tries every order. Sample tries some
// random orders, for tests where every order would take too long.
//
//   Explore(1000, [](Schedule& schedule) {
//     Store store;                                  // Each run needs new objects.
//     schedule.Run({[&] { schedule.Step(); store.Write(1); },
//                   [&] { schedule.Step(); store.Write(2); }});
//     EXPECT_EQ(...);
//   });
//
// A run is a sequence of choices: which actor continues after a step, and other choices that actors
// ask for, such as whether a reply is lost. Explore tries the sequences depth first. When a run
// fails, it prints the sequence and ends. Between two steps, everything must depend only on the
// choices: no real clock, and no randomness except with a seed that is the same in each run.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"

namespace tidemark::testing {

class Schedule {
 public:
  // Runs the actors until all have returned. Call it once.
  void Run(std::vector<std::function<void()>> actors);
  // An actor calls this where another actor may run. Returns when it is this actor's turn again.
  void Step();
  // An actor calls this for a choice. Returns a number from 0 to count - 1, each in some run.
  size_t Choose(size_t count);

 private:
  friend size_t Explore(size_t max_runs, const std::function<void(Schedule&)>& scenario);
  friend void Sample(size_t runs, uint64_t seed, const std::function<void(Schedule&)>& scenario);

  struct Choice {
    size_t taken = 0;
    size_t count = 1;
  };

  // After the planned choices every choice is 0, or random if `random` is given.
  explicit Schedule(std::vector<Choice> planned, Random* random = nullptr)
      : choices_(std::move(planned)), random_(random) {}
  void HandOver();
  void WaitForTurn(std::unique_lock<std::mutex>* lock, size_t actor);
  std::string Describe() const;

  std::vector<Choice> choices_;
  Random* const random_;
  size_t next_choice_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<size_t> unfinished_;
  size_t running_ = 0;
};

// Returns the number of runs. The test fails if a run fails, or if max_runs are not enough.
size_t Explore(size_t max_runs, const std::function<void(Schedule&)>& scenario);

// Makes this many runs with random choices. Ends after the first run that fails, and prints it with
// the seed.
void Sample(size_t runs, uint64_t seed, const std::function<void(Schedule&)>& scenario);

}  // namespace tidemark::testing
