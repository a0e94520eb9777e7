// How the servers of the simulation start, work and die.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "apps/archive/state.h"
#include "tests/simulation/simulation.h"
#include "tests/support/faulty_tables.h"

namespace tidemark::testing {

namespace {

constexpr int64_t kSimulationProcessesSecond = 1000;
constexpr EpochSeconds kSlackPatience = 300;
constexpr int64_t kBeatEvery = 10 * kSimulationProcessesSecond;
constexpr int kMostRounds = 60;
// Long enough for leases of dead processes and for an outage to end.
constexpr std::chrono::seconds kRound(61);
// The quarantine is checked at least every hour.
constexpr std::chrono::seconds kLongRound(3'700);

}  // namespace

// ---- What may happen at a call ----

void Simulation::OnMoment(size_t process) {
  if (quiet_ || dead_[process]) return;
  if (running_.size() == 1 && Chance(30)) Meet(1 - process);
  if (!Chance(death_one_in_)) return;
  dead_[process] = true;
  Tell(fmt::format("{} dies", process));
  throw Killed();
}

std::optional<Fault> Simulation::FaultIn(size_t /*process*/, Operation operation) {
  if (quiet_ || !Chance(fault_one_in_)) return std::nullopt;
  ++report_.faults;
  if (!Writes(operation) || Chance(2)) return Throttled();
  return Chance(2) ? LostReply() : LostRequest();
}

slack::LookupOutcome Simulation::LookUp() {
  if (quiet_ || !Chance(40)) return slack::LookupOutcome::kActive;
  return Chance(2) ? slack::LookupOutcome::kTimeout : slack::LookupOutcome::kApiError;
}

bool Simulation::ObjectsAreAway() { return !quiet_ && fault_one_in_ > 0 && Chance(10); }

// The delivery that is due next, or preferably one about the same message or channel.
Simulation::Attempt Simulation::TakeRelated(size_t event) {
  const std::string& subject = truth_.fact(event).subject;
  const auto related = std::ranges::find_if(deliveries_, [&](const auto& delivery) {
    return truth_.fact(delivery.second.event).subject == subject;
  });
  return deliveries_.extract(related == deliveries_.end() ? deliveries_.begin() : related).mapped();
}

// While one server is in the middle of a call, the other one does a whole operation,
// often with the same event or the same rows.
void Simulation::Meet(size_t other) {
  if (dead_[other]) return;
  ++report_.meetings;
  const std::optional<size_t> event = event_under_way_;
  if (event && Chance(4)) {
    Deliver({.event = *event, .is_duplicate = true});
  } else if (event && !deliveries_.empty() && !Chance(4)) {
    Deliver(TakeRelated(*event));
  } else {
    StepSomething(other);
  }
  event_under_way_ = event;
}

// ---- Life and death ----

bool Simulation::CallIn(size_t process, const std::function<void()>& call) {
  running_.push_back(process);
  try {
    call();
  } catch (const Killed&) {
    dead_[process] = true;
  }
  running_.pop_back();
  if (dead_[process]) Bury(process);
  return !dead_[process];
}

std::optional<size_t> Simulation::PickProcess() {
  std::vector<size_t> alive;
  for (size_t i = 0; i < kProcesses; ++i) {
    if (!dead_[i] && std::ranges::find(running_, i) == running_.end()) alive.push_back(i);
  }
  if (alive.empty()) return std::nullopt;
  return alive[random_.Below(alive.size())];
}

void Simulation::Bury(size_t process) {
  dead_[process] = true;
  if (!processes_[process]) return;
  ++report_.deaths;
  processes_[process].reset();
  const uint64_t longest = Chance(4) ? 250 : 20;
  At(static_cast<Milliseconds>(random_.Below(longest * kSimulationProcessesSecond)),
     [this, process] { Restart(process); });
}

void Simulation::Restart(size_t process) {
  if (processes_[process]) return;
  if (Now() < down_until_) return At(down_until_ - Now(), [this, process] { Restart(process); });
  Start(process);
}

void Simulation::Start(size_t process) {
  processes_[process] = std::make_unique<Process>(
      ProcessParts{.number = process,
                   .chances = this,
                   .tables = &tables_,
                   .objects = &objects_,
                   .client = &host_,
                   .clock = &clock_,
                   .sleeper = &sleeper_,
                   .logger = &logger_,
                   .spool = fmt::format("{}/spool{}", folder_.path(), process)},
      options_.seed * 1000 + lives_++);
  dead_[process] = false;
  const EpochSeconds heard_from = clock_.NowSeconds() - kSlackPatience;
  if (last_possible_beat_ > 0 && heard_from > last_beat_) may_fear_losses_ = true;
  bool is_up = false;
  CallIn(process, [&] { is_up = processes_[process]->Start().has_value(); });
  Tell(fmt::format("{} starts: {}", process, is_up ? "well" : "not"));
  const EpochSeconds last_possible_beat = std::exchange(last_possible_beat_, clock_.NowSeconds());
  if (!is_up) return Bury(process);
  // The servers cannot know what happened before the first start.
  if (last_beat_ > 0 && heard_from > last_possible_beat) {
    ++report_.downtimes;
    known_losses_.push_back({last_possible_beat, heard_from});
  }
  last_beat_ = clock_.NowSeconds();
}

void Simulation::BeatAll() {
  for (size_t i = 0; i < kProcesses; ++i) {
    if (dead_[i] || !processes_[i]) continue;
    last_possible_beat_ = clock_.NowSeconds();
    bool is_noted = false;
    CallIn(i, [&] { is_noted = processes_[i]->Beat().has_value(); });
    if (is_noted) last_beat_ = clock_.NowSeconds();
  }
  At(kBeatEvery, [this] { BeatAll(); });
}

// ---- What the servers do by themselves ----

// A later step tries again what failed.
void Simulation::StepSomething(size_t process) {
  const uint64_t what = random_.Below(10);
  CallIn(process, [&] {
    Process& at_work = *processes_[process];
    if (what < 4) {
      (void)at_work.StepRows();
    } else if (what < 8) {
      (void)at_work.StepFiles();
    } else {
      (void)at_work.Recheck();
    }
  });
}

void Simulation::StepAll() {
  for (size_t i = 0; i < kProcesses; ++i) {
    for (const Status& status : {processes_[i]->StepRows(), processes_[i]->StepFiles(),
                                 processes_[i]->Recheck(), processes_[i]->Beat()}) {
      if (!status) complaints_.push_back("in the quiet: " + status.error().message);
    }
  }
}

bool Simulation::IsIdle() {
  archive::State state("tidemark-archive-state", &tables_);
  return state.CountFetches().value() == 0 &&
         tables_
             .Scan({.table = "tidemark-quarantine",
                    .filter = "attribute_not_exists(given_up_at)",
                    .consistent = true})
             .value()
             .items.empty();
}

// From here on nothing fails. It takes a while until the leases of dead processes have ended.
void Simulation::Quieten() {
  quiet_ = true;
  down_until_ = 0;
  for (size_t i = 0; i < kProcesses; ++i) Restart(i);
  for (int round = 0; round < 5; ++round) {
    clock_.Advance(kRound);
    StepAll();
  }
  int rounds = 0;
  while (!IsIdle() && ++rounds < kMostRounds) {
    clock_.Advance(rounds < kMostRounds / 4 ? kRound : kLongRound);
    StepAll();
  }
  if (!IsIdle()) complaints_.push_back("there is work left that never ends");
}

}  // namespace tidemark::testing
