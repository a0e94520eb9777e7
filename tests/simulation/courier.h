// A Courier delivers events to a server like Slack, while the server is killed again and again:
// several at once, some twice, a little out of order, and each one again until it is acknowledged.
//
//   Courier courier({.url = url, .signing_secret = secret}, events, &truth, &client);
//   courier.Start();
//   courier.AwaitAcknowledged(100);
//
// It tells the ground truth which events were acknowledged. One thread calls Start and Stop.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "http/client.h"
#include "servers/demo/events.h"
#include "servers/demo/sender.h"
#include "tests/simulation/ground_truth.h"

namespace tidemark::testing {

struct CourierParts {
  demo::SenderOptions sender;  // The URL and the secret.
  std::vector<demo::GeneratedEvent> events;
  GroundTruth* truth = nullptr;  // Knows all events. Only the courier uses it while it runs.
  http::Client* client = nullptr;
  const Clock* clock = nullptr;
  uint64_t seed = 0;
};

class Courier {
 public:
  explicit Courier(CourierParts parts);
  // Stops.
  ~Courier();

  void Start();
  // Returns when so many events, or all of them, were acknowledged.
  void AwaitAcknowledged(size_t count);
  // Stops without delivering the rest.
  void Stop();

  size_t acknowledged() const;
  size_t failed() const;  // Deliveries that failed.
  // Deliveries with an answer that is neither success nor a request to retry.
  std::vector<std::string> refused() const;

 private:
  struct Parcel {
    size_t event = 0;
    bool is_duplicate = false;
  };

  void Work();
  std::optional<Parcel> Take(std::unique_lock<std::mutex>* lock);
  std::optional<int> Send(size_t event, EpochSeconds timestamp);
  void Judge(const Parcel& parcel, const std::optional<int>& status);
  bool IsDone() const { return acknowledged_ == parts_.events.size(); }

  const CourierParts parts_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::deque<Parcel> waiting_;
  std::vector<int> deliveries_;  // Of each event.
  std::vector<bool> was_acknowledged_;
  size_t acknowledged_ = 0;
  size_t failed_ = 0;
  std::vector<std::string> refused_;
  std::vector<std::thread> threads_;
};

}  // namespace tidemark::testing
