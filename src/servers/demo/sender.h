// A Sender delivers events to a URL as Slack does: signed, and with a retry at once, after one
// minute and after five minutes if there is no 2xx within 3 seconds. It can also send duplicates,
// send out of order, and send events again much later.
//
//   Sender sender({.url = "http://127.0.0.1:8080/slack/events", .signing_secret = secret,
//                  .events_per_second = 50},
//                 &client, &clock, &sleeper);
//   sender.Run([&] { return NextDelivery(); });
//   Show(sender.report());
//
// Two deliveries of one event never have the same timestamp, so each has its own signature: a
// second delivery within the same second gets the timestamp of the next second. Redirects are not
// followed.
//
// Run may be called once, by one thread. Any thread may call the other methods. With a concurrency
// of 1 everything happens on the thread of the caller, in an order that depends only on the seed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "base/secret.h"
#include "base/sleeper.h"
#include "base/worker_pool.h"
#include "http/client.h"
#include "servers/demo/latencies.h"

namespace tidemark::demo {

struct Delivery {
  std::string event_id;
  std::string body;
};
// Returns the next event to send, or nullopt at the end. It is called by one thread at a time.
using DeliverySource = std::function<std::optional<Delivery>()>;

// What a network does to deliveries: the sender simulates it.
struct Disturbances {
  uint64_t seed = 1;
  // The share of events that is sent a second time although nothing failed, and the longest delay.
  double duplicates = 0;
  std::chrono::milliseconds duplicate_within = std::chrono::seconds(2);
  // The share of events that is sent again long after the acknowledgement.
  double late = 0;
  std::chrono::milliseconds late_after = std::chrono::hours(1);
  // The number of events that are shuffled together. 0 and 1 keep the order.
  size_t reorder_window = 0;
};

struct SenderOptions {
  std::string url;
  Secret signing_secret = {};
  double events_per_second = 0;  // 0: as fast as the receiver answers.
  size_t concurrency = 16;       // Deliveries in progress at the same time.
  std::chrono::milliseconds answer_within = std::chrono::seconds(3);
  // All waits are divided by this: with 60, a minute takes a second.
  double speed = 1;
  Disturbances disturbances = {};
};

// Counts of deliveries and their results. Every delivery is acknowledged, refused, timed out or
// broken.
struct SenderReport {
  uint64_t events = 0;      // Distinct ones.
  uint64_t sent = 0;        // Deliveries.
  uint64_t retried = 0;     // Of these: retries after a failure.
  uint64_t duplicates = 0;  // Of these: duplicates, sent soon after.
  uint64_t late = 0;        // Of these: duplicates, sent long after.

  uint64_t acknowledged = 0;  // With a 2xx in time.
  uint64_t refused = 0;       // With another status.
  uint64_t busy = 0;          // Of these: with 503, because another delivery is being handled.
  uint64_t timed_out = 0;
  uint64_t broken = 0;  // No connection, or no HTTP.

  uint64_t given_up = 0;   // Events whose last retry failed.
  uint64_t not_again = 0;  // Events whose refusal asked for no retry.

  Latencies latencies = {};  // Of what was acknowledged.
};

// The headers of a delivery.
struct DeliveryHeaders {
  std::string timestamp;
  uint32_t retry_number = 0;  // 0: the first delivery.
  std::string_view retry_reason = {};
};
// The whole request, signed.
http::OutgoingRequest MakeDelivery(const SenderOptions& options, std::string_view body,
                                   const DeliveryHeaders& headers);

class Sender {
 public:
  // All of these must outlive the sender.
  Sender(SenderOptions options, http::Client* client, const Clock* clock, Sleeper* sleeper);
  ~Sender();

  // Sends the challenge that Slack sends when a URL is saved. Fails with kInvalid if the answer is
  // not 200 with the challenge, and with kUnavailable if there is no answer.
  Status VerifyUrl();

  // Sends until the source ends and all retries are sent, or until Stop.
  void Run(const DeliverySource& source);
  // Makes Run return when the deliveries in progress are answered. Waiting retries are dropped.
  void Stop();

  SenderReport report() const;

 private:
  enum class Kind { kFirst, kDuplicate, kLate };
  // One event, shared by all of its deliveries.
  struct Parcel {
    Delivery delivery;
    EpochSeconds next_timestamp = 0;  // The earliest timestamp for the next delivery.
    bool comes_late = false;
  };
  struct Attempt {
    std::shared_ptr<Parcel> parcel;
    Kind kind = Kind::kFirst;
    uint32_t retry_number = 0;
    std::string_view retry_reason = {};
  };
  using Nanoseconds = std::chrono::nanoseconds;
  using Lock = std::unique_lock<std::mutex>;

  bool Step(const DeliverySource& source, Lock* lock);
  Nanoseconds NextArrival() const;
  void TakeFromSource(const DeliverySource& source, Lock* lock);
  static std::vector<Delivery> Fetch(const DeliverySource& source, size_t count);
  void Schedule(Attempt attempt, Nanoseconds wait);
  void ScheduleEvent(Delivery delivery);
  void Start(Attempt attempt, Lock* lock);
  void Deliver(const Attempt& attempt);
  http::OutgoingRequest Prepare(const Attempt& attempt);
  void Judge(const Attempt& attempt, const http::Exchange& exchange, Nanoseconds took);
  void Retry(const Attempt& attempt, std::string_view reason);
  void Pause(Nanoseconds length, Lock* lock);
  Nanoseconds Scaled(Nanoseconds length) const;
  bool Happens(double share);

  const SenderOptions options_;
  http::Client& client_;
  const Clock& clock_;
  Sleeper& sleeper_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  SeededRandom random_;
  bool stopped_ = false;
  bool source_ended_ = false;
  std::vector<Delivery> window_;
  Nanoseconds began_ = Nanoseconds(0);
  // By when it is due, then by when it was scheduled.
  std::map<std::pair<Nanoseconds, uint64_t>, Attempt> scheduled_;
  uint64_t next_place_ = 0;
  size_t under_way_ = 0;
  SenderReport report_;
  std::unique_ptr<WorkerPool> workers_;  // Null if the caller's thread does everything.
};

}  // namespace tidemark::demo
