#include "tests/simulation/courier.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

namespace tidemark::testing {

namespace {

constexpr size_t kThreads = 6;
constexpr size_t kWindow = 8;  // How many events may overtake each other.
// The pause between two deliveries of an event that the server cannot accept yet.
constexpr std::chrono::milliseconds kPause(50);
constexpr std::chrono::seconds kAnswerWithin(3);
// Each delivery of an event is dated a second later, so that each one has its own signature. Those
// of long ago are not remembered.
constexpr int kMaxAhead = 200;

}  // namespace

Courier::Courier(CourierParts parts)
    : parts_(std::move(parts)),
      deliveries_(parts_.events.size()),
      was_acknowledged_(parts_.events.size()) {
  SeededRandom random(parts_.seed);
  for (size_t i = 0; i < parts_.events.size(); ++i) {
    waiting_.push_back({.event = i});
    if (random.Below(5) == 0) waiting_.push_back({.event = i, .is_duplicate = true});
  }
  for (size_t i = 0; i + kWindow <= waiting_.size(); ++i) {
    std::swap(waiting_[i], waiting_[i + random.Below(kWindow)]);
  }
}

Courier::~Courier() { Stop(); }

void Courier::Start() {
  for (size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { Work(); });
}

void Courier::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Courier::AwaitAcknowledged(size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return acknowledged_ >= count || IsDone(); });
}

size_t Courier::acknowledged() const {
  const std::lock_guard lock(mutex_);
  return acknowledged_;
}

size_t Courier::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

std::vector<std::string> Courier::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

void Courier::Work() {
  std::unique_lock lock(mutex_);
  while (const auto parcel = Take(&lock)) {
    parts_.truth->Reached(parcel->event);
    const EpochSeconds timestamp =
        parts_.clock->NowSeconds() + deliveries_[parcel->event]++ % kMaxAhead;
    lock.unlock();
    const std::optional<int> status = Send(parcel->event, timestamp);
    lock.lock();
    Judge(*parcel, status);
    if (!status || *status >= 500) changed_.wait_for(lock, kPause);
  }
}

std::optional<Courier::Parcel> Courier::Take(std::unique_lock<std::mutex>* lock) {
  while (!stopped_ && !(IsDone() && waiting_.empty())) {
    if (!waiting_.empty()) {
      const Parcel parcel = waiting_.front();
      waiting_.pop_front();
      return parcel;
    }
    changed_.wait_for(*lock, kPause);
  }
  return std::nullopt;
}

std::optional<int> Courier::Send(size_t event, EpochSeconds timestamp) {
  const http::OutgoingRequest request = demo::MakeDelivery(
      parts_.sender, parts_.events[event].body, {.timestamp = std::to_string(timestamp)});
  const http::Exchange exchange =
      parts_.client->Send(request, Deadline::After(*parts_.clock, kAnswerWithin));
  if (exchange.outcome != http::Outcome::kAnswered) return std::nullopt;
  return exchange.response.status;
}

void Courier::Judge(const Parcel& parcel, const std::optional<int>& status) {
  if (status == 200) {
    parts_.truth->Acknowledged(parcel.event);
    if (!was_acknowledged_[parcel.event]) ++acknowledged_;
    was_acknowledged_[parcel.event] = true;
    return changed_.notify_all();
  }
  ++failed_;
  if (status && *status < 500) {
    refused_.push_back(fmt::format("{}: {}", parts_.events[parcel.event].event_id, *status));
  }
  // After a few other events, like a retry.
  const size_t place = std::min<size_t>(waiting_.size(), kWindow);
  if (!parcel.is_duplicate) {
    waiting_.insert(waiting_.begin() + static_cast<ptrdiff_t>(place), parcel);
  }
}

}  // namespace tidemark::testing
