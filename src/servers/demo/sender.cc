#include "servers/demo/sender.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/json.h"
#include "slack/signature.h"

namespace tidemark::demo {
namespace {

using std::chrono::nanoseconds;

// The waits before retries: none, one minute, five minutes.
constexpr std::array<std::chrono::seconds, 3> kRetryWaits = {
    std::chrono::seconds(0), std::chrono::minutes(1), std::chrono::minutes(5)};
// A wait is split into pieces, so that Stop and new retries are noticed.
constexpr nanoseconds kLongestPause = std::chrono::milliseconds(50);
constexpr nanoseconds kLongestPauseWhileBusy = std::chrono::milliseconds(5);

bool IsSuccess(const http::Exchange& exchange) {
  return exchange.outcome == http::Outcome::kAnswered && exchange.response.status / 100 == 2;
}

// Slack's reasons for a retry.
std::string_view ReasonOf(const http::Exchange& exchange) {
  switch (exchange.outcome) {
    case http::Outcome::kAnswered:
      return "http_error";
    case http::Outcome::kNotSent:
      return "connection_failed";
    case http::Outcome::kTimedOut:
      return "http_timeout";
    case http::Outcome::kBroken:
    case http::Outcome::kTooLarge:
      return "unknown_error";
  }
  return "unknown_error";
}

// Tidemark sends it with a refusal that it will not change: the event is in quarantine.
bool ForbidsRetry(const http::Exchange& exchange) {
  return exchange.outcome == http::Outcome::kAnswered &&
         exchange.response.headers.Find("x-slack-no-retry") == "1";
}

std::string MakeChallenge(std::string_view challenge) {
  std::string body;
  JsonWriter writer(&body);
  writer.BeginObject();
  writer.Key("token");
  writer.String("deprecated-and-not-a-secret");
  writer.Key("challenge");
  writer.String(challenge);
  writer.Key("type");
  writer.String("url_verification");
  writer.EndObject();
  return body;
}

// Plain or as the member of an object.
bool Echoes(std::string_view body, std::string_view challenge) {
  if (body == challenge) return true;
  const Result<JsonDocument> document = JsonDocument::Parse(body);
  if (!document) return false;
  const std::optional<Json> member = document->root().Find("challenge");
  return member && member->AsString() == challenge;
}

}  // namespace

http::OutgoingRequest MakeDelivery(const SenderOptions& options, std::string_view body,
                                   const DeliveryHeaders& headers) {
  http::OutgoingRequest request = {.method = http::Method::kPost,
                                   .url = options.url,
                                   .body = std::string(body),
                                   .timeout = options.answer_within};
  request.headers.Add("Content-Type", "application/json");
  request.headers.Add("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)");
  request.headers.Add(std::string(slack::kTimestampHeader), headers.timestamp);
  request.headers.Add(std::string(slack::kSignatureHeader),
                      slack::Sign(options.signing_secret, headers.timestamp, body));
  if (headers.retry_number > 0) {
    request.headers.Add("X-Slack-Retry-Num", std::to_string(headers.retry_number));
    request.headers.Add("X-Slack-Retry-Reason", std::string(headers.retry_reason));
  }
  return request;
}

// With one delivery at a time there is no pool: the caller's thread sends, and the order of the
// deliveries depends on the seed alone.
Sender::Sender(SenderOptions options, http::Client* client, const Clock* clock, Sleeper* sleeper)
    : options_(std::move(options)),
      client_(*client),
      clock_(*clock),
      sleeper_(*sleeper),
      random_(options_.disturbances.seed) {
  if (options_.concurrency > 1) {
    workers_ = std::make_unique<WorkerPool>(
        WorkerPoolOptions{.threads = options_.concurrency, .max_waiting = options_.concurrency});
  }
}

Sender::~Sender() {
  Stop();
  workers_.reset();
}

Status Sender::VerifyUrl() {
  // Not from the seeded generator: the number of challenges must not change what is sent.
  const std::string challenge = SystemRandom().Hex(24);
  const http::Exchange exchange =
      client_.Send(MakeDelivery(options_, MakeChallenge(challenge),
                                {.timestamp = std::to_string(clock_.NowSeconds())}),
                   Deadline::After(clock_, options_.answer_within));
  if (exchange.outcome != http::Outcome::kAnswered) {
    return Error{ErrorCode::kUnavailable, options_.url + " does not answer (" + exchange.detail +
                                              "): start the server, or correct the URL"};
  }
  if (exchange.response.status != 200) {
    return Invalid(options_.url + " answers the challenge with status " +
                   std::to_string(exchange.response.status) +
                   "; is the signing secret the same on both sides? Start the server with the "
                   "command above");
  }
  if (!Echoes(exchange.response.body, challenge)) {
    return Invalid(options_.url + " does not send the challenge back; is it Tidemark's address?");
  }
  return Done{};
}

void Sender::Run(const DeliverySource& source) {
  Lock lock(mutex_);
  began_ = clock_.Monotonic();
  while (Step(source, &lock)) {
  }
  changed_.wait(lock, [&] { return under_way_ == 0; });
}

// Does the next step, or waits for it. Returns false if there is nothing left to do.
bool Sender::Step(const DeliverySource& source, Lock* lock) {
  if (stopped_) return false;
  // Retries wait here too. So a slow server gets no more than `concurrency` at once.
  if (under_way_ >= options_.concurrency) {
    changed_.wait(*lock);
    return true;
  }
  const Nanoseconds now = clock_.Monotonic();
  if (!scheduled_.empty() && scheduled_.begin()->first.first <= now) {
    Start(std::move(scheduled_.extract(scheduled_.begin()).mapped()), lock);
    return true;
  }
  if (!source_ended_ && NextArrival() <= now) {
    TakeFromSource(source, lock);
    return true;
  }
  if (source_ended_ && scheduled_.empty()) {
    if (under_way_ == 0) return false;
    changed_.wait(*lock);
    return true;
  }
  Nanoseconds next = Nanoseconds::max();
  if (!scheduled_.empty()) next = scheduled_.begin()->first.first;
  if (!source_ended_) next = std::min(next, NextArrival());
  Pause(next - now, lock);
  return true;
}

// When the next event is to be taken from the source.
Sender::Nanoseconds Sender::NextArrival() const {
  if (options_.events_per_second <= 0) return began_;
  const double seconds = static_cast<double>(report_.events) / options_.events_per_second;
  return began_ + Nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

// Shuffling whole windows keeps every event within a window of its place.
void Sender::TakeFromSource(const DeliverySource& source, Lock* lock) {
  if (window_.empty()) {
    lock->unlock();
    std::vector<Delivery> window = Fetch(source, options_.disturbances.reorder_window);
    lock->lock();
    for (size_t i = window.size(); i > 1; --i) {
      std::swap(window[i - 1], window[random_.Below(i)]);
    }
    window_ = std::move(window);
    source_ended_ = window_.empty();
    if (source_ended_) return;
  }
  ScheduleEvent(std::move(window_.back()));
  window_.pop_back();
}

std::vector<Delivery> Sender::Fetch(const DeliverySource& source, size_t count) {
  std::vector<Delivery> window;
  while (window.size() < std::max<size_t>(count, 1)) {
    std::optional<Delivery> delivery = source();
    if (!delivery) break;
    window.push_back(std::move(*delivery));
  }
  return window;
}

void Sender::ScheduleEvent(Delivery delivery) {
  const Disturbances& disturbances = options_.disturbances;
  ++report_.events;
  auto parcel = std::make_shared<Parcel>();
  parcel->delivery = std::move(delivery);
  // All random numbers are drawn here, on the thread of Run, so that they depend only on the seed.
  parcel->comes_late = Happens(disturbances.late);
  Schedule({.parcel = parcel}, Nanoseconds(0));
  if (!Happens(disturbances.duplicates)) return;
  const Nanoseconds within = disturbances.duplicate_within;
  const auto wait = random_.Below(static_cast<uint64_t>(within.count()) + 1);
  Schedule({.parcel = parcel, .kind = Kind::kDuplicate},
           Scaled(Nanoseconds(static_cast<int64_t>(wait))));
}

void Sender::Schedule(Attempt attempt, Nanoseconds wait) {
  scheduled_.emplace(std::pair(clock_.Monotonic() + wait, next_place_++), std::move(attempt));
}

void Sender::Start(Attempt attempt, Lock* lock) {
  ++under_way_;
  if (workers_ == nullptr) {
    lock->unlock();
    Deliver(attempt);
    lock->lock();
    return;
  }
  // There are never more deliveries than threads, so there is always room.
  const bool taken = workers_->Submit([this, attempt = std::move(attempt)] { Deliver(attempt); });
  CHECK(taken);
}

void Sender::Deliver(const Attempt& attempt) {
  const http::OutgoingRequest request = Prepare(attempt);
  const Nanoseconds began = clock_.Monotonic();
  const http::Exchange exchange =
      client_.Send(request, Deadline::After(clock_, options_.answer_within));
  const Nanoseconds took = clock_.Monotonic() - began;
  const std::lock_guard lock(mutex_);
  Judge(attempt, exchange, took);
  --under_way_;
  // Notify under the lock. Otherwise the sender might be destroyed before the call.
  changed_.notify_all();
}

// Each delivery of an event has another second in its timestamp. Otherwise a quick retry would have
// the same signature as the first delivery, and be refused as a replay.
http::OutgoingRequest Sender::Prepare(const Attempt& attempt) {
  EpochSeconds timestamp = 0;
  {
    const std::lock_guard lock(mutex_);
    Parcel& parcel = *attempt.parcel;
    timestamp = std::max(clock_.NowSeconds(), parcel.next_timestamp);
    parcel.next_timestamp = timestamp + 1;
    ++report_.sent;
    if (attempt.retry_number > 0) ++report_.retried;
    if (attempt.kind == Kind::kDuplicate) ++report_.duplicates;
    if (attempt.kind == Kind::kLate) ++report_.late;
  }
  return MakeDelivery(options_, attempt.parcel->delivery.body,
                      {.timestamp = std::to_string(timestamp),
                       .retry_number = attempt.retry_number,
                       .retry_reason = attempt.retry_reason});
}

// Called with the lock held, on the thread that sent. Latencies are of acknowledged deliveries
// only: a refusal is quick and would make the figures look better.
void Sender::Judge(const Attempt& attempt, const http::Exchange& exchange, Nanoseconds took) {
  if (IsSuccess(exchange)) {
    ++report_.acknowledged;
    report_.latencies.Add(took);
    if (attempt.kind == Kind::kFirst && attempt.parcel->comes_late) {
      Schedule({.parcel = attempt.parcel, .kind = Kind::kLate},
               Scaled(options_.disturbances.late_after));
    }
    return;
  }
  switch (exchange.outcome) {
    case http::Outcome::kAnswered:
      ++report_.refused;
      if (exchange.response.status == 503) ++report_.busy;
      break;
    case http::Outcome::kTimedOut:
      ++report_.timed_out;
      break;
    default:
      ++report_.broken;
  }
  // A duplicate that was sent on purpose is not retried.
  if (attempt.kind != Kind::kFirst) return;
  if (ForbidsRetry(exchange)) {
    ++report_.not_again;
    return;
  }
  Retry(attempt, ReasonOf(exchange));
}

void Sender::Retry(const Attempt& attempt, std::string_view reason) {
  if (attempt.retry_number >= kRetryWaits.size()) {
    ++report_.given_up;
    return;
  }
  Schedule(
      {.parcel = attempt.parcel, .retry_number = attempt.retry_number + 1, .retry_reason = reason},
      Scaled(kRetryWaits[attempt.retry_number]));
}

// Without the lock: deliveries that end in the meantime need it. Shorter while some are under way,
// because a failed one may be due again at once.
void Sender::Pause(Nanoseconds length, Lock* lock) {
  const Nanoseconds longest = under_way_ > 0 ? kLongestPauseWhileBusy : kLongestPause;
  lock->unlock();
  sleeper_.Sleep(std::min(length, longest));
  lock->lock();
}

Sender::Nanoseconds Sender::Scaled(Nanoseconds length) const {
  return Nanoseconds(static_cast<int64_t>(static_cast<double>(length.count()) / options_.speed));
}

bool Sender::Happens(double share) {
  constexpr uint64_t kSteps = 1'000'000;
  return static_cast<double>(random_.Below(kSteps)) < share * static_cast<double>(kSteps);
}

void Sender::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

SenderReport Sender::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

}  // namespace tidemark::demo
