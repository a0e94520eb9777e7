// Waits for many answers at once.
//
//   Join(std::move(laters)).Then([](Result<std::vector<Result<Row>>> rows) { … });
//
// The answers have the order of the laters. An error of one is its answer, and not that of all. The
// last answer to come continues the chain, on its thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/later.h"
#include "base/result.h"

namespace tidemark {

template <typename T>
Later<std::vector<Result<T>>> Join(std::vector<Later<T>> laters) {
  using Answers = std::vector<Result<T>>;
  if (laters.empty()) return Answers();
  struct Waiting {
    explicit Waiting(size_t count, Promise<Answers> promise)
        : left(count), answers(count), promise(std::move(promise)) {}
    std::atomic<size_t> left;
    std::vector<std::optional<Result<T>>> answers;
    Promise<Answers> promise;
  };
  auto [promise, later] = MakeLater<Answers>();
  const auto waiting = std::make_shared<Waiting>(laters.size(), std::move(promise));
  for (size_t i = 0; i < laters.size(); ++i) {
    std::move(laters[i]).Then([waiting, i](Result<T> answer) {
      waiting->answers[i].emplace(std::move(answer));
      if (waiting->left.fetch_sub(1) > 1) return;
      Answers all;
      all.reserve(waiting->answers.size());
      for (auto& one : waiting->answers) all.push_back(*std::move(one));
      waiting->promise.Fulfil(std::move(all));
    });
  }
  return std::move(later);
}

}  // namespace tidemark
