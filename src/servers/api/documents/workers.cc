#include "servers/api/documents/workers.h"

#include <memory>
#include <utility>

namespace tidemark::api {

namespace {

constexpr size_t kMaxWaitingForOneDocument = 1024;

Error TooMuchWaiting() {
  return {ErrorCode::kUnavailable, "too many writes of this document are waiting: try again later"};
}

}  // namespace

Later<http::Response> DocumentsWorkers::Write(const std::string& id, Work work) {
  auto [promise, later] = MakeLater<http::Response>();
  Waiting write{.work = std::move(work), .promise = std::move(promise)};
  {
    const std::lock_guard lock(mutex_);
    const auto [turn, is_first] = turns_.try_emplace(id);
    if (!is_first) {
      if (turn->second.size() >= kMaxWaitingForOneDocument) return TooMuchWaiting();
      turn->second.push_back(std::move(write));
      return std::move(later);
    }
  }
  Start(id, std::move(write));
  return std::move(later);
}

void DocumentsWorkers::Start(const std::string& id, Waiting write) {
  // Shared, because a function that is submitted must be copyable.
  const auto shared = std::make_shared<Waiting>(std::move(write));
  const bool accepted = writes_.Submit([this, id, shared] {
    // In a Later, which turns an exception into an error.
    Later<Done>(Done{})
        .Then([&](const Status&) { return shared->work(); })
        .Then([&](Result<http::Response> response) {
          Continue(id);
          shared->promise.Fulfil(std::move(response));
        });
  });
  if (accepted) return;
  shared->promise.Fulfil(TooMuchWaiting());
  Continue(id);
}

void DocumentsWorkers::Continue(const std::string& id) {
  std::unique_lock lock(mutex_);
  const auto turn = turns_.find(id);
  if (turn->second.empty()) {
    turns_.erase(turn);
    return;
  }
  Waiting next = std::move(turn->second.front());
  turn->second.pop_front();
  lock.unlock();
  Start(id, std::move(next));
}

void DocumentsWorkers::Stop() {
  reads_.Stop();
  fills_.Stop();
  ranges_.Stop();
  upkeep_.Stop();
  writes_.Stop();
}

}  // namespace tidemark::api
