#include "tests/support/schedule.h"

#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "base/check.h"

namespace tidemark::testing {

size_t Schedule::Choose(size_t count) {
  if (next_choice_ == choices_.size()) {
    choices_.push_back({.taken = random_ ? random_->Below(count) : 0, .count = count});
  }
  Choice& choice = choices_[next_choice_++];
  // This run begins with the choices of an earlier one, so it must be offered the same choices.
  // Otherwise something in the test depends on more than the choices.
  CHECK(choice.count == count);
  return choice.taken;
}

void Schedule::Run(std::vector<std::function<void()>> actors) {
  for (size_t i = 0; i < actors.size(); ++i) unfinished_.push_back(i);
  HandOver();
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < actors.size(); ++i) {
    threads.emplace_back([this, i, &actor = actors[i]] {
      std::unique_lock lock(mutex_);
      WaitForTurn(&lock, i);
      lock.unlock();
      actor();
      lock.lock();
      std::erase(unfinished_, i);
      if (!unfinished_.empty()) HandOver();
    });
  }
}

// The calling thread works for the actor whose turn it is: it is the actor's own, or that of a
// worker that the actor waits for.
void Schedule::Step() {
  std::unique_lock lock(mutex_);
  const size_t actor = running_;
  HandOver();
  WaitForTurn(&lock, actor);
}

void Schedule::HandOver() {
  running_ = unfinished_[unfinished_.size() == 1 ? 0 : Choose(unfinished_.size())];
  changed_.notify_all();
}

void Schedule::WaitForTurn(std::unique_lock<std::mutex>* lock, size_t actor) {
  changed_.wait(*lock, [&] { return running_ == actor; });
}

std::string Schedule::Describe() const {
  std::string text;
  for (const Choice& choice : choices_) {
    text += std::to_string(choice.taken) + "/" + std::to_string(choice.count) + " ";
  }
  return text;
}

size_t Explore(size_t max_runs, const std::function<void(Schedule&)>& scenario) {
  std::vector<Schedule::Choice> plan;
  for (size_t runs = 1;; ++runs) {
    Schedule schedule(plan);
    scenario(schedule);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "in run " << runs << ", with the choices " << schedule.Describe();
      return runs;
    }
    // Depth first: increase the last choice that is not yet at its maximum, and drop those after
    // it.
    plan = std::move(schedule.choices_);
    while (!plan.empty() && plan.back().taken + 1 == plan.back().count) plan.pop_back();
    if (plan.empty()) return runs;
    ++plan.back().taken;
    if (runs == max_runs) {
      ADD_FAILURE() << "more than " << max_runs << " runs";
      return runs;
    }
  }
}

void Sample(size_t runs, uint64_t seed, const std::function<void(Schedule&)>& scenario) {
  SeededRandom random(seed);
  for (size_t run = 1; run <= runs; ++run) {
    Schedule schedule({}, &random);
    scenario(schedule);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "in run " << run << " of seed " << seed << ", with the choices "
                    << schedule.Describe();
      return;
    }
  }
}

}  // namespace tidemark::testing
