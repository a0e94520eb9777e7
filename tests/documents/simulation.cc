#include "tests/documents/simulation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tests/documents/write_world.h"
#include "tests/support/manual_time.h"

namespace tidemark::documents {

namespace {

using namespace std::chrono_literals;

// Thrown to end a process in the middle of its work.
struct Died {};

constexpr size_t kMaxDepth = 3;
// A client gives up a request after this time.
constexpr auto kRequestTime = 5s;
const std::vector<std::string> kIds = {"CHG-1", "CHG-2"};

}  // namespace

std::optional<size_t> ObjectHistory::Find(const std::string& etag, const std::string& json) const {
  for (size_t i = 0; i < versions_.size(); ++i) {
    if (versions_[i].etag == etag && versions_[i].json == json) return i;
  }
  return std::nullopt;
}

std::optional<size_t> ObjectHistory::FindText(const std::string& json) const {
  for (size_t i = versions_.size(); i-- > 0;) {
    if (versions_[i].json == json) return i;
  }
  return std::nullopt;
}

std::optional<size_t> ObjectHistory::FindAbsent(size_t from) const {
  for (size_t i = from; i < versions_.size(); ++i) {
    if (!versions_[i].json) return i;
  }
  return std::nullopt;
}

bool ObjectHistory::WasAbsentSince(std::chrono::milliseconds time) const {
  for (size_t i = 0; i < versions_.size(); ++i) {
    const bool ended_before = i + 1 < versions_.size() && versions_[i + 1].since < time;
    if (!versions_[i].json && !ended_before) return true;
  }
  return false;
}

// The object store. It records the history of each object and sends events about changes.
class Simulation::Bucket final : public objects::Objects {
 public:
  explicit Bucket(Simulation* simulation) : simulation_(*simulation) {}

  Result<objects::PutReply> Put(const objects::PutRequest& request) override {
    return Write<objects::PutReply>([this, request] { return ApplyPut(request); });
  }
  Result<objects::DeleteReply> Delete(const objects::DeleteRequest& request) override {
    return Write<objects::DeleteReply>([this, request] { return ApplyDelete(request); });
  }
  Result<std::optional<objects::ObjectInfo>> Head(const std::string& key) override {
    if (auto fault = Fault()) return fault->error;
    return memory.Head(key);
  }
  Result<std::unique_ptr<objects::OpenObject>> Open(const std::string& key) override {
    if (auto fault = Fault()) return fault->error;
    return memory.Open(key);
  }
  Result<objects::ListReply> List(const objects::ListRequest& request) override {
    if (auto fault = Fault()) return fault->error;
    return memory.List(request);
  }

  objects::PutReply ApplyPut(const objects::PutRequest& request) {
    const objects::PutReply reply = *memory.Put(request);
    if (reply.applied) Note(request.key, {reply.etag, request.bytes}, "ObjectCreated:Put");
    return reply;
  }
  objects::DeleteReply ApplyDelete(const objects::DeleteRequest& request) {
    const bool was_there = memory.Bytes(request.key).has_value();
    const objects::DeleteReply reply = *memory.Delete(request);
    if (was_there && reply.applied) Note(request.key, {}, "ObjectRemoved:Delete");
    return reply;
  }
  // Delivers a request that its client gave up and that is still on its way.
  void Arrive() {
    if (late_.empty()) return;
    const auto at = late_.begin() + static_cast<ptrdiff_t>(Below(late_.size()));
    const std::function<void()> request = std::move(*at);
    late_.erase(at);
    request();
  }
  bool HasLate() const { return !late_.empty(); }

  testing::MemoryObjects memory;

 private:
  uint64_t Below(uint64_t bound) { return simulation_.random_.Below(bound); }

  template <typename Reply>
  Result<Reply> Write(const std::function<Reply()>& apply) {
    const auto fault = Fault();
    if (fault && !fault->applied) {
      const bool may_arrive = fault->error.code == ErrorCode::kUnknown;
      if (may_arrive && simulation_.options_.outsiders && Below(2) == 0) {
        late_.emplace_back([apply] { apply(); });
      }
      return fault->error;
    }
    Reply reply = apply();
    if (fault) return fault->error;
    return reply;
  }

  std::optional<testing::ObjectFault> Fault() {
    if (simulation_.quiet_) return std::nullopt;
    const auto began = simulation_.clock_.Monotonic();
    simulation_.Interrupt();
    if (simulation_.clock_.Monotonic() - began > kRequestTime) {
      return testing::ObjectRequestLost();
    }
    if (simulation_.objects_away_) return testing::ObjectsAway();
    switch (Below(40)) {
      case 0:
      case 1:
        return testing::ObjectReplyLost();
      case 2:
        return testing::ObjectRequestLost();
      case 3:
        return testing::ObjectsAway();
      case 4:
        // S3's 409: another conditional request was under way.
        return testing::ObjectFault{{ErrorCode::kConflict, "conditional request conflict"}};
      default:
        return std::nullopt;
    }
  }

  void Note(const std::string& key, ObjectHistory::Version version, const char* event) {
    const auto id = IdOfKey(simulation_.documents_, key);
    if (!id) return;
    ObjectHistory& history = simulation_.histories_[*id];
    version.since = simulation_.clock_.Now();
    history.Add(std::move(version));
    simulation_.events_.push_back(fmt::format(
        R"({{"Records":[{{"eventSource":"aws:s3","eventName":"{}","s3":{{"bucket":{{"name":"{}"}},)"
        R"("object":{{"key":"{}","sequencer":"{:08X}"}}}}}}]}})",
        event, simulation_.documents_.bucket, key, history.Last()));
  }

  Simulation& simulation_;
  std::vector<std::function<void()>> late_;
};

// A process that is restarted whenever it dies. Only the stores keep their content.
class Simulation::Process {
 public:
  Process(Simulation* simulation, std::chrono::seconds offset, WriteMode mode)
      : simulation_(*simulation), clock_(&simulation->clock_, offset) {
    options_ = simulation_.documents_;
    options_.write_mode = mode;
    Start();
  }

  void Write(const std::string& id) {
    const Document document = DocumentOf(
        {.id = id, .status = "draft", .title = "v" + std::to_string(++simulation_.last_version_)});
    const Result<WriteResult> written = parts_->writer.Write(NewContext(), {.document = document});
    ObjectHistory& history = simulation_.histories_[id];
    if (!written) return NoteFailure(id, document.json(), written.error());
    const auto index = history.Find(written->etag, document.json());
    ASSERT_TRUE(index.has_value()) << "acknowledged, and never in the object";
    ++simulation_.counts_.written;
    if (written->cached) Raise(id, *index);
  }

  void Delete(const std::string& id) {
    // Another program may have deleted the object, and the row may not have been updated yet.
    const size_t floor = simulation_.floors_[id];
    const Result<WriteResult> deleted = parts_->writer.Delete(NewContext(), {.id = id});
    if (!deleted || !deleted->changed) return;
    const auto index = simulation_.histories_[id].FindAbsent(floor);
    ASSERT_TRUE(index.has_value()) << "acknowledged, and never absent";
    if (deleted->cached) Raise(id, *index);
  }

  void Read(const std::string& id) {
    const size_t floor = simulation_.floors_[id];
    const Result<std::optional<ReadReply>> read = ReadNow(parts_->reader, NewContext(), id);
    ObjectHistory& history = simulation_.histories_[id];
    if (!read && read.error().code != ErrorCode::kNotFound) return;
    if (!read || !*read) {
      ASSERT_TRUE(history.FindAbsent(floor).has_value()) << id << " was there since it was shown";
      return;
    }
    const auto index = history.Find((*read)->etag, (*read)->document.json());
    ASSERT_TRUE(index.has_value()) << id << " was shown and never committed";
    ASSERT_GE(*index, floor) << id << " went back";
    if ((*read)->source != ReadSource::kCache) return;
    ++simulation_.counts_.hits;
    Raise(id, *index);
  }

  // The ids that it found; nullopt when it failed or was not complete.
  std::optional<std::set<std::string>> FindAll(Beyond beyond) {
    const std::map<std::string, size_t> floors = simulation_.floors_;
    const Result<RangeReply> range = parts_->ranges.Read(
        NewContext(), {.from = kToday - 30 * kDay, .to = kToday + kDay}, beyond);
    if (!range) return std::nullopt;
    std::set<std::string> found;
    for (const FoundDocument& document : range->documents) {
      found.insert(document.id());
      const auto index = simulation_.histories_[document.id()].FindText(document.json());
      EXPECT_TRUE(index.has_value()) << document.id() << " was found and never committed";
      if (index) EXPECT_GE(*index, FloorIn(floors, document.id())) << document.id() << " went back";
    }
    if (!range->coverage.complete) return std::nullopt;
    if (!range->coverage.searched_objects) ++simulation_.counts_.complete_ranges;
    for (const std::string& id : kIds) {
      if (found.contains(id)) continue;
      const ObjectHistory& history = simulation_.histories_[id];
      EXPECT_TRUE(history.FindAbsent(FloorIn(floors, id)).has_value())
          << id << " is left out of a complete range";
      // A first write that is under way may have reached its object; the range tells of it.
      if (range->coverage.in_flight > 0) continue;
      // The clocks of processes differ by twice the skew at most.
      EXPECT_TRUE(history.WasAbsentSince(range->coverage.as_of - 2 * options_.skew))
          << id << " is left out of a complete range, and was there";
    }
    return found;
  }

  void Backfill() {
    const auto report = parts_->backfill.Run(NewContext(), {});
    if (report && report->marked) ++simulation_.counts_.marks;
  }
  Result<FsckReport> Fsck() { return parts_->fsck.Run(NewContext(), {}, nullptr); }

  void Handle(const std::string& event) { parts_->events.Handle(NewContext(), event); }

  void Housekeep() {
    (void)parts_->synchronizer.SettleStale(NewContext());
    (void)parts_->repairs.Run(NewContext());
  }

  // Runs the action. The process may die during it.
  void Live(const std::function<void(Process&)>& action) {
    simulation_.running_.push_back(this);
    bool died = false;
    try {
      action(*this);
    } catch (const Died&) {
      died = true;
    }
    simulation_.running_.pop_back();
    if (!died) return;
    ++simulation_.counts_.deaths;
    Start();
  }

 private:
  struct Parts {
    Parts(const DocumentsOptions& options, Simulation& simulation, Sleeper* sleeper,
          const Clock* clock)
        : runtime{.clock = *clock,
                  .random = simulation.random_,
                  .sleeper = *sleeper,
                  .logger = logger,
                  .metrics = metrics},
          retrier(runtime),
          rows(options, &simulation.tables_, &retrier, runtime),
          store(options, simulation.bucket_.get(), &retrier, runtime),
          observer(runtime),
          synchronizer(options, &rows, &store, &observer, runtime),
          repairs(options, simulation.bucket_.get(), &retrier, &synchronizer, &observer),
          writer(options, &rows, &store, &synchronizer, &repairs, &observer, runtime),
          reader(options, &rows, &store, &synchronizer, &observer),
          ranges(options, &rows, &store, &synchronizer, &observer),
          backfill(options, &rows, &store, &synchronizer, &observer),
          fsck(options, &rows, &store, &synchronizer, &observer),
          events(options, &synchronizer, &observer) {}

    // The log and the metrics are not checked.
    std::ostringstream log;
    ManualClock log_clock;
    Logger logger{{.level = LogLevel::kError}, log_clock, &log};
    Metrics metrics;
    const Runtime runtime;
    Retrier retrier;
    RowStore rows;
    DocumentStore store;
    Observer observer;
    Synchronizer synchronizer;
    Repairs repairs;
    WriteThrough writer;
    FallbackReader reader;
    RangeReader ranges;
    documents::Backfill backfill;
    documents::Fsck fsck;
    EventHandler events;
  };

  void Start() { parts_ = std::make_unique<Parts>(options_, simulation_, &sleeper_, &clock_); }
  Context NewContext() {
    return {.deadline = Deadline::After(simulation_.clock_, options_.deadline)};
  }
  static size_t FloorIn(const std::map<std::string, size_t>& floors, const std::string& id) {
    const auto found = floors.find(id);
    return found == floors.end() ? 0 : found->second;
  }
  void Raise(const std::string& id, size_t index) {
    size_t& floor = simulation_.floors_[id];
    floor = std::max(floor, index);
  }
  // An error means that nothing was written, unless it says that this is not known.
  void NoteFailure(const std::string& id, const std::string& json, const Error& error) {
    if (error.message.find("not known") != std::string::npos) {
      ++simulation_.counts_.unknown;
      return;
    }
    ++simulation_.counts_.refused;
    simulation_.failed_[id].insert(json);
  }

  Simulation& simulation_;
  testing::OffsetClock clock_;
  ManualSleeper sleeper_{&simulation_.clock_};
  DocumentsOptions options_;
  std::unique_ptr<Parts> parts_;
};

Simulation::Simulation(const SimulationOptions& options)
    : options_(options), random_(options.seed), bucket_(std::make_unique<Bucket>(this)) {
  CHECK(EnsureCacheTable(tables_, documents_.table).has_value());
  const std::chrono::seconds offsets[] = {0s, 2s, -2s, 1s};
  for (const std::chrono::seconds offset : offsets) {
    const WriteMode mode = offset == 1s ? WriteMode::kLenient : WriteMode::kStrict;
    processes_.push_back(std::make_unique<Process>(this, offset, mode));
  }
  tables_.decide = [this](testing::Operation operation) { return AtTable(operation); };
}

Simulation::~Simulation() = default;

void Simulation::Run(int steps) {
  for (int i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
    DoSomething();
    PassTime();
  }
  ComeToRest();
}

void Simulation::DoSomething() {
  Process* process = PickIdle();
  const std::string id = PickId();
  const uint64_t kind = random_.Below(26);
  if (kind < 7) return process->Live([&](Process& one) { one.Write(id); });
  if (kind < 9) return process->Live([&](Process& one) { one.Delete(id); });
  if (kind < 15) return process->Live([&](Process& one) { one.Read(id); });
  if (kind < 17) return DeliverEvent();
  if (kind < 18) return process->Live([](Process& one) { one.Housekeep(); });
  if (kind < 20) {
    if (options_.outsiders) Change();
    return;
  }
  if (kind < 23) {
    const Beyond beyond = random_.Below(2) == 0 ? Beyond::kFlag : Beyond::kSearchObjects;
    return process->Live([&](Process& one) { one.FindAll(beyond); });
  }
  if (kind < 25) return process->Live([](Process& one) { one.Backfill(); });
  process->Live([](Process& one) { (void)one.Fsck(); });
}

void Simulation::PassTime() {
  const uint64_t kind = random_.Below(20);
  if (kind < 8) clock_.Advance(std::chrono::milliseconds(random_.Below(3000)));
  if (kind == 8) clock_.Advance(documents_.intent_lease);
  if (kind == 9) clock_.Advance(45s);
  if (kind == 10) model_.Maintain();
  // An outage lasts for a while.
  if (kind == 11) table_away_ = true;
  if (kind == 12) objects_away_ = true;
  if (kind >= 14) table_away_ = objects_away_ = false;
}

void Simulation::Change() {
  if (random_.Below(3) == 0) return bucket_->Arrive();
  const std::string key = ObjectKey(documents_, PickId());
  if (random_.Below(4) == 0) {
    bucket_->ApplyDelete({.key = key});
    return;
  }
  const std::string id = *IdOfKey(documents_, key);
  bucket_->ApplyPut(
      {.key = key,
       .bytes =
           JsonOf({.id = id, .status = "draft", .title = "v" + std::to_string(++last_version_)})});
}

// Events arrive in any order. Some arrive twice, and some never.
void Simulation::DeliverEvent() {
  if (events_.empty()) return;
  const auto at = events_.begin() + static_cast<ptrdiff_t>(random_.Below(events_.size()));
  const std::string event = *at;
  const uint64_t fate = random_.Below(4);
  if (fate > 0) events_.erase(at);
  if (fate == 1) return;
  PickIdle()->Live([&](Process& one) { one.Handle(event); });
}

Simulation::Process* Simulation::PickIdle() {
  while (true) {
    Process* picked = processes_[random_.Below(processes_.size())].get();
    if (std::find(running_.begin(), running_.end(), picked) == running_.end()) return picked;
  }
}

const std::string& Simulation::PickId() { return kIds[random_.Below(kIds.size())]; }

void Simulation::Interrupt() {
  if (running_.size() < kMaxDepth && random_.Below(6) == 0) DoSomething();
  if (random_.Below(8) == 0) clock_.Advance(std::chrono::milliseconds(random_.Below(400)));
  if (random_.Below(50) == 0) throw Died{};
}

std::optional<testing::Fault> Simulation::AtTable(testing::Operation operation) {
  if (quiet_ || running_.empty()) return std::nullopt;
  Interrupt();
  if (table_away_) return testing::Throttled();
  switch (random_.Below(40)) {
    case 0:
    case 1:
      return testing::Writes(operation) ? testing::LostReply() : testing::LostRequest();
    case 2:
      return testing::LostRequest();
    case 3:
    case 4:
      return testing::Throttled();
    default:
      return std::nullopt;
  }
}

// Failures and writes have ended. If outsiders wrote, fsck compares all objects with their rows.
// Otherwise the intents and notes that are left must be enough to make rows and objects
// equal.
void Simulation::ComeToRest() {
  quiet_ = true;
  while (bucket_->HasLate()) bucket_->Arrive();
  clock_.Advance(documents_.intent_lease + 4 * documents_.skew);
  Process& last = *processes_.front();
  last.Housekeep();
  if (options_.outsiders) EXPECT_TRUE(last.Fsck());
  std::set<std::string> stored;
  for (const std::string& id : kIds) {
    last.Read(id);
    if (bucket_->memory.Bytes(ObjectKey(documents_, id))) stored.insert(id);
    EXPECT_TRUE(RowEqualsObject(documents_, model_, bucket_->memory, id));
    for (const std::string& json : failed_[id]) {
      EXPECT_FALSE(histories_[id].FindText(json)) << "said to have failed: " << json;
    }
  }
  EXPECT_EQ(last.Fsck()->differing, 0U);
  EXPECT_EQ(last.FindAll(Beyond::kFlag), stored) << "fsck has marked the cache as complete";
  const auto notes = *bucket_->memory.List({.prefix = documents_.repair_prefix});
  EXPECT_TRUE(notes.objects.empty()) << "repairs are left";
}

}  // namespace tidemark::documents
