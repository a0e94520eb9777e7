// A controlled scheduler: actors run on threads of their own, but only one at a time, and change
// over only where they say so. Explore tries every order in which they can; Sample, where those are
// too many for every day, some of them.
//
//   Explore(1000, [](Schedule& schedule) {
//     Store store;                                  // Everything is made anew for each run.
//     schedule.Run({[&] { schedule.Step(); store.Write(1); },
//                   [&] { schedule.Step(); store.Write(2); }});
//     EXPECT_EQ(...);
//   });
//
// A run is a sequence of choices: who goes on at a step, and whatever else the actors ask to be
// chosen, such as whether a reply is lost. The sequences are tried depth first; when a run fails,
// its sequence is printed, and the exploration ends. What happens between two steps must depend
// on the choices alone: no clock, no randomness that is not made anew for the run.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/random.h"

namespace tidemark::testing {

class Schedule {
 public:
  // Runs the actors to their ends. To be called once.
  void Run(std::vector<std::function<void()>> actors);
  // Called by an actor: whoever is chosen goes on from here, and this one when its turn comes.
  void Step();
  // Called by an actor: 0 to count - 1, each in some run.
  size_t Choose(size_t count);

 private:
  friend size_t Explore(size_t max_runs, const std::function<void(Schedule&)>& scenario);
  friend void Sample(size_t runs, uint64_t seed, const std::function<void(Schedule&)>& scenario);

  struct Choice {
    size_t taken = 0;
    size_t count = 1;
  };

  // Behind what is planned the first choice is taken, or with `random` any.
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

// The number of runs there were. Fails the test when a run fails, or after max_runs.
size_t Explore(size_t max_runs, const std::function<void(Schedule&)>& scenario);

// So many runs, with choices at random. The first that fails is printed with the seed, and is the
// last.
void Sample(size_t runs, uint64_t seed, const std::function<void(Schedule&)>& scenario);

}  // namespace tidemark::testing
