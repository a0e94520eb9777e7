#include "tests/simulation/simulation.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/hashing.h"
#include "item/json.h"
#include "slack/signature.h"

namespace tidemark::testing {

namespace {

constexpr EpochSeconds kStart = 1'700'000'000;
constexpr int64_t kSecond = 1000;
// When Slack retries a delivery that failed.
constexpr std::array<int64_t, 3> kRetryDelays = {0, 60 * kSecond, 300 * kSecond};

// A small workspace, so that many events are about the same messages and channels.
demo::Workspace MakeSmallWorkspace(uint64_t seed) {
  return demo::MakeWorkspace(
      {.seed = seed, .users = 8, .channels = 10, .archived = 2, .files = 0, .founded = kStart - 9});
}

}  // namespace

Simulation::Simulation(const SimulationOptions& options)
    : options_(options),
      workspace_(MakeSmallWorkspace(options.seed)),
      random_(options.seed),
      death_one_in_(std::array<uint64_t, 4>{0, 150, 500, 2000}[random_.Below(4)]),
      fault_one_in_(std::array<uint64_t, 3>{0, 30, 100}[random_.Below(3)]),
      drop_one_in_(std::array<uint64_t, 3>{0, 5, 20}[random_.Below(3)]),
      clock_(kStart),
      host_(options.seed) {
  // In the quiet at the end no call is under way that another one could meet.
  host_.on_moment = [this] {
    if (!running_.empty()) OnMoment(running_.back());
  };
  Generate();
}

// Processes that still run are killed: the test does not look at an orderly end.
Simulation::~Simulation() {
  for (size_t i = 0; i < kProcesses; ++i) dead_[i] = true;
}

// ---- What happens, and when Slack tells of it ----

void Simulation::Generate() {
  demo::EventGenerator generator({.seed = options_.seed,
                                  .mix = demo::Mix::kEventful,
                                  .start = kStart,
                                  .gap = std::chrono::seconds(4),
                                  .files_url = kFilesUrl},
                                 workspace_);
  for (size_t i = 0; i < options_.events; ++i) {
    Event event{.generated = generator.Next()};
    for (const demo::File& file : event.generated.changes.files) host_.Add(file);
    truth_.Apply(event.generated);
    event.is_doomed = drop_one_in_ > 0 && Chance(100);
    events_.push_back(std::move(event));
  }
}

// Slack may drop a minute of events and say so.
void Simulation::LoseAMinute() {
  if (!Chance(4)) return;
  const EpochSeconds minute = (kStart / 60 + 1 + static_cast<int64_t>(random_.Below(10))) * 60;
  for (size_t i = 0; i < events_.size(); ++i) {
    const EpochSeconds at = std::stoll(truth_.fact(i).time);
    if (at >= minute && at < minute + 60) events_[i].is_doomed = true;
  }
  At((minute + 60 - kStart) * kSecond, [this, minute] { DeliverRateLimit(minute, 0); });
}

void Simulation::ScheduleEvents() {
  for (size_t i = 0; i < events_.size(); ++i) {
    const Milliseconds happens = (std::stoll(truth_.fact(i).time) - kStart) * kSecond;
    // Most arrive at once, some after a while, a few after minutes.
    const uint64_t latest = Chance(3) ? (Chance(5) ? 240 : 20) : 1;
    const auto late = static_cast<Milliseconds>(random_.Below(latest * kSecond));
    Schedule({.event = i}, happens + late);
    if (!Chance(5)) continue;
    const auto again = static_cast<Milliseconds>(Chance(2) ? 0 : random_.Below(600 * kSecond));
    Schedule({.event = i, .is_duplicate = true}, happens + late + again);
  }
}

// All servers are down, for longer than Slack retries.
void Simulation::ScheduleOutage() {
  if (!Chance(4)) return;
  At(static_cast<Milliseconds>(random_.Below(900 * kSecond)), [this] {
    down_until_ = Now() + static_cast<Milliseconds>((250 + random_.Below(300)) * kSecond);
    for (size_t i = 0; i < kProcesses; ++i) Bury(i);
  });
}

void Simulation::Schedule(const Attempt& attempt, Milliseconds delay) {
  deliveries_.emplace(When(Now() + delay, next_place_++), attempt);
}

void Simulation::At(Milliseconds delay, std::function<void()> task) {
  tasks_.emplace(When(Now() + delay, next_place_++), std::move(task));
}

void Simulation::RunTasksUntil(Milliseconds due) {
  while (!tasks_.empty() && tasks_.begin()->first.first <= due) {
    auto task = tasks_.extract(tasks_.begin());
    clock_.Advance(std::chrono::milliseconds(std::max<int64_t>(task.key().first - Now(), 0)));
    task.mapped()();
  }
  clock_.Advance(std::chrono::milliseconds(std::max<int64_t>(due - Now(), 0)));
}

void Simulation::Run() {
  ScheduleEvents();
  LoseAMinute();
  ScheduleOutage();
  for (size_t i = 0; i < kProcesses; ++i) Start(i);
  BeatAll();
  while (!deliveries_.empty()) {
    const Milliseconds due = deliveries_.begin()->first.first;
    RunTasksUntil(due);
    if (deliveries_.empty()) break;
    Deliver(deliveries_.extract(deliveries_.begin()).mapped());
    if (const auto process = PickProcess(); process && Chance(4)) StepSomething(*process);
  }
  Quieten();
  report_.lost = truth_.Settle();
  report_.served = host_.served();
}

void Simulation::Tell(const std::string& line) {
  story_ +=
      fmt::format("{:10.3f} {}\n", static_cast<double>(Now() - kStart * kSecond) / kSecond, line);
}

// ---- Deliveries ----

void Simulation::Deliver(const Attempt& attempt) {
  Event& event = events_[attempt.event];
  ++report_.deliveries;
  if (attempt.is_duplicate) ++report_.duplicates;
  const auto process = PickProcess();
  const std::string what = fmt::format("{} {} about '{}' by retry {}", event.generated.name,
                                       event.generated.event_id, truth_.fact(attempt.event).subject,
                                       attempt.is_duplicate ? -1 : static_cast<int>(attempt.retry));
  if (event.is_doomed || Chance(drop_one_in_) || !process) {
    Tell(what + " was dropped");
    return Retry(attempt);
  }
  truth_.Reached(attempt.event);
  // Slack never signs two deliveries with the same time.
  event.next_timestamp = std::max(event.next_timestamp, clock_.NowSeconds());
  event_under_way_ = attempt.event;
  const auto response = Send(*process, event.generated.body, event.next_timestamp++);
  event_under_way_.reset();
  Tell(fmt::format("{} to {}: {}", what, *process, response ? response->status : -1));
  const bool reply_is_lost = !quiet_ && drop_one_in_ > 0 && Chance(30);
  if (!response || reply_is_lost) return Retry(attempt);
  if (response->status == 200) return truth_.Acknowledged(attempt.event);
  if (response->status == 403) {
    ++report_.quarantined;
    return truth_.Quarantined(attempt.event);
  }
  if (response->status < 500) {
    complaints_.push_back(
        fmt::format("{} was answered with {}", event.generated.event_id, response->status));
  }
  Retry(attempt);
}

std::optional<http::Response> Simulation::Send(size_t process, const std::string& body,
                                               EpochSeconds timestamp) {
  const std::string time = std::to_string(timestamp);
  http::Request request{.method = http::Method::kPost, .path = "/slack/events", .body = body};
  request.id = std::to_string(report_.deliveries);
  request.headers.Add(std::string(slack::kTimestampHeader), time);
  request.headers.Add(std::string(slack::kSignatureHeader),
                      slack::Sign(Secret(std::string(kSigningSecret)), time, body));
  std::optional<http::Response> response;
  CallIn(process, [&] { response = processes_[process]->Receive(request); });
  return response;
}

void Simulation::Retry(const Attempt& attempt) {
  if (attempt.is_duplicate || attempt.retry == kRetryDelays.size()) return;
  Schedule({.event = attempt.event, .retry = attempt.retry + 1}, kRetryDelays[attempt.retry]);
}

void Simulation::DeliverRateLimit(EpochSeconds minute, int attempts) {
  const std::string body = fmt::format(
      R"({{"type":"app_rate_limited","team_id":"{}","api_app_id":"A1","minute_rate_limited":{}}})",
      workspace_.team.id, minute);
  const auto process = PickProcess();
  const auto response = process ? Send(*process, body, clock_.NowSeconds()) : std::nullopt;
  if (response && response->status == 200) {
    known_losses_.push_back({minute, minute + 60});
  } else if (attempts < 20) {
    At(60 * kSecond, [this, minute, attempts] { DeliverRateLimit(minute, attempts + 1); });
  }
}

std::vector<std::string> Simulation::FindFaults() {
  std::vector<std::string> faults = FindDifferences(
      {.truth = &truth_,
       .tables = &tables_,
       .objects = &objects_,
       .clock = &clock_,
       .team = workspace_.team.id,
       .bot_token = kBotToken,
       .log = log_.str(),
       .is_fetchable = [this](const std::string& file) { return host_.IsFetchable(file); },
       .known_losses = known_losses_,
       .may_fear_losses = may_fear_losses_});
  faults.insert(faults.end(), host_.faults().begin(), host_.faults().end());
  faults.insert(faults.end(), complaints_.begin(), complaints_.end());
  return faults;
}

std::string Simulation::Digest() {
  std::string all;
  const std::vector<std::string> names = tables_.ListTables({}).value().tables;
  for (const std::string& table : names) {
    tables::ScanRequest request{.table = table, .consistent = true};
    do {
      tables::Page page = tables_.Scan(request).value();
      for (const item::Item& row : page.items) all += item::ToJson(row) + "\n";
      request.start_after = std::move(page.last);
    } while (request.start_after);
  }
  return ToHex(Sha256(all));
}

}  // namespace tidemark::testing
