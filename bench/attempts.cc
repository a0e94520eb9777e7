// Measures decisions a second, each on disk before its answer. An attempt is two decisions: one
// takes the slot, one settles it. Redis does the same number of steps in the same run and on the
// same disk: for each decision one script that adds one and sets the expiry, with appendfsync
// always.
#include "apps/attempts/attempts.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/attempts/account_table.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/hashing.h"
#include "base/random.h"
#include "base/runtime.h"
#include "base/turn.h"
#include "base/worker_pool.h"
#include "bench/connections.h"
#include "bench/flags.h"
#include "bench/harness.h"
#include "bench/keep_alive_client.h"
#include "bench/raw_store.h"
#include "bench/redis_peer.h"
#include "bench/running_service.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::bench {
namespace {

using attempts::Attempts;
using attempts::Subject;

constexpr int kMany = 64;

constexpr char kHelp[] =
    "Decisions a second, synced, beside Redis with appendfsync always. An attempt is two\n"
    "decisions (reserve, settle), and Redis runs two scripts for it.\n"
    "\n"
    "  bench_attempts                    all comparisons, about six minutes\n"
    "  bench_attempts --seconds 0.5      quicker and rougher\n"
    "  bench_attempts --rounds 5         more rounds; the median of them is printed\n"
    "  bench_attempts --only flight      one part: flight, threads, http\n"
    "  bench_attempts --json FILE        also adds a line of JSON for each comparison to the "
    "file\n";

const attempts::Name& Password() {
  static const attempts::Name name{
      .journey = "SIGN_IN", .count = "ERROR_COUNT", .classifier = "PASSWORD_ENTRY"};
  return name;
}

// A new person for each call.
std::string NextPerson() {
  static std::atomic<uint64_t> next = 0;
  return fmt::format("urn:person:{:016}", next++);
}

struct Try {
  std::string person;
  std::string attempt_id;
};

Try NextTryOf(std::string person) {
  static std::atomic<uint64_t> next = 0;
  return {.person = std::move(person), .attempt_id = fmt::format("attempt-{}", next++)};
}

// Decide again when another request changes the account first.
WorkerPool& Workers() {
  static WorkerPool workers({.threads = 2, .max_waiting = 4096});
  return workers;
}

// Waits for two durable writes, the slot and its outcome.
void TryOnce(Attempts* attempts, const std::string& who, bool right) {
  const Try one = NextTryOf(who);
  const Subject person = Must(Subject::Of(one.person));
  const auto slot =
      Must(attempts
               ->Reserve({.subject = person, .name = Password(), .attempt_id = one.attempt_id},
                         &Workers())
               .Wait());
  CHECK(slot.verdict == attempts::Verdict::kPermitted);
  CHECK(Must(attempts
                 ->Settle({.subject = person,
                           .name = Password(),
                           .attempt_id = one.attempt_id,
                           .right = right},
                          &Workers())
                 .Wait())
            .known);
}

void TryRight(Attempts* attempts) { TryOnce(attempts, NextPerson(), true); }
void TryWrong(Attempts* attempts) { TryOnce(attempts, NextPerson(), false); }

// One durable write.
void Increment(Attempts* attempts) {
  const Try one = NextTryOf(NextPerson());
  Must(attempts->Increment({.subject = Must(Subject::Of(one.person)),
                            .name = Password(),
                            .attempt_id = one.attempt_id}));
}

// Whose tries are measured. A new person has no rows. A known person has tried before, so a
// decision reads rows and changes them. One thread at a time.
enum class Who { kNew, kKnown };

class People {
 public:
  // `know` is called once for each known person before, by several threads with their numbers.
  template <typename Know>
  People(Who who, double seconds, const Know& know) {
    if (who == Who::kNew) return;
    const auto count = static_cast<size_t>(std::max(0.1, seconds) * kKnownForASecond);
    for (size_t i = 0; i < count; ++i) known_.push_back(NextPerson());
    std::vector<std::thread> threads;
    for (size_t thread = 0; thread < kMany; ++thread) {
      threads.emplace_back([&, thread] {
        for (size_t i = thread; i < known_.size(); i += kMany) know(thread, known_[i]);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  Try Next() {
    if (known_.empty()) return NextTryOf(NextPerson());
    // The limit is 6, and a person who reached it would be refused and not measured.
    CHECK(next_ < known_.size() * kTriesOfOne);
    return NextTryOf(known_[next_++ % known_.size()]);
  }

 private:
  static constexpr size_t kTriesOfOne = 5;
  // Enough for 100,000 tries a second.
  static constexpr double kKnownForASecond = 20'000;
  std::vector<std::string> known_;
  size_t next_ = 0;
};

// A queue of work for one thread, like a loop with many requests in flight.
class Turns {
 public:
  void Add(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    if (waiting_.size() == 1) added_.notify_one();
  }
  // Waits until there is work, and takes it.
  std::vector<std::function<void()>> Take() {
    std::unique_lock lock(mutex_);
    added_.wait(lock, [&] { return !waiting_.empty(); });
    return std::exchange(waiting_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<std::function<void()>> waiting_;
};

// The same two writes for many people at once, without blocking on any of them.
class InFlight {
 public:
  InFlight(Attempts* attempts, People* people, bool right)
      : attempts_(*attempts), people_(*people), right_(right) {}

  // Decisions a second.
  double Rate(double seconds, int in_flight) {
    const double start = Seconds();
    for (int i = 0; i < in_flight; ++i) Begin();
    uint64_t reported = 0;
    while (Seconds() - start < seconds || under_way_ > 0) {
      const auto ready = turns_.Take();
      // As in the loop of a server: what is submitted now goes to the committer at once.
      const Turn turn;
      for (const auto& work : ready) work();
      for (; reported < done_; ++reported) {
        if (Seconds() - start < seconds) Begin();
      }
    }
    return 2 * static_cast<double>(done_) / (Seconds() - start);
  }

 private:
  void Begin() {
    ++under_way_;
    const Try one = people_.Next();
    attempts_
        .Reserve({.subject = Must(Subject::Of(one.person)),
                  .name = Password(),
                  .attempt_id = one.attempt_id},
                 &workers_)
        .Then([this, one](Result<attempts::Decision> slot) {
          turns_.Add([this, one, slot = std::move(slot)] { End(one, slot); });
        });
  }
  void End(const Try& one, const Result<attempts::Decision>& slot) {
    CHECK(Must(slot).verdict == attempts::Verdict::kPermitted);
    attempts_
        .Settle({.subject = Must(Subject::Of(one.person)),
                 .name = Password(),
                 .attempt_id = one.attempt_id,
                 .right = right_},
                &workers_)
        .Then([this](Result<attempts::SettleReply> settled) {
          turns_.Add([this, settled = std::move(settled)] {
            CHECK(Must(settled).known);
            --under_way_;
            ++done_;
          });
        });
  }

  Attempts& attempts_;
  People& people_;
  const bool right_;
  Turns turns_;
  WorkerPool workers_{{.threads = 2, .max_waiting = 4096}};
  // Used only by the thread that calls Rate.
  int under_way_ = 0;
  uint64_t done_ = 0;
};

// The same two writes as two HTTP requests of a connection.
class OverHttp {
 public:
  OverHttp(std::string token, size_t connections, People* people, bool right)
      : token_(std::move(token)), tries_(connections), people_(*people), right_(right) {}

  std::string Next(size_t connection, const std::string& answer) {
    std::optional<Try>& slot = tries_[connection];
    if (!slot) {
      CHECK(answer.empty() || answer.find(R"("known":true)") != std::string::npos);
      slot = people_.Next();
      return Request(*slot, "reserve", "");
    }
    CHECK(answer.find(R"("verdict":"permitted")") != std::string::npos);
    const Try settled = *std::exchange(slot, std::nullopt);
    return Request(settled, "settle", right_ ? R"(,"right":true)" : R"(,"right":false)");
  }

 private:
  std::string Request(const Try& one, std::string_view step, std::string_view outcome) const {
    return PostRequest(fmt::format("/api/v1/subjects/{}/attempts/{}", one.person, step), token_,
                       fmt::format(R"({{"journey":"SIGN_IN","count_type":"ERROR_COUNT",)"
                                   R"("classifier":"PASSWORD_ENTRY","attempt_id":"{}"{}}})",
                                   one.attempt_id, outcome));
  }

  const std::string token_;
  std::vector<std::optional<Try>> tries_;  // By connection: the try that must be settled.
  People& people_;
  const bool right_;
};

// Counts without ids or locks, as the original program of the seed does, but atomically.
constexpr char kScript[] =
    "local n = redis.call('INCR', KEYS[1]) "
    "if n == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end "
    "return n";

std::vector<std::string> CountOf(const std::string& person) {
  return {"EVAL", kScript, "1", "code-attempts:" + person, "900"};
}

void RedisCount(RedisClient* redis) { CHECK(redis->Run(CountOf(NextPerson()))); }

// Two durable steps, like ours: one before the verification and one after it.
void RedisCountTwice(RedisClient* redis) {
  const std::vector<std::string> count = CountOf(NextPerson());
  for (int step = 0; step < 2; ++step) CHECK(redis->Run(count));
}

// The same two scripts as a client sends them, for connections that are driven like ours.
class OverRedis {
 public:
  OverRedis(size_t connections, People* people) : persons_(connections), people_(*people) {}

  std::string Next(size_t connection, const std::string& answer) {
    CHECK(answer.empty() || answer.starts_with(':'));
    std::string& person = persons_[connection];
    if (!person.empty()) return Request(std::exchange(person, ""));
    person = people_.Next().person;
    return Request(person);
  }

 private:
  static std::string Request(const std::string& person) { return RedisCommand(CountOf(person)); }

  std::vector<std::string> persons_;  // By connection: who needs a second script; or empty.
  People& people_;
};

struct Peers {
  Attempts* attempts;
  int redis_port = 0;
  std::vector<std::unique_ptr<RedisClient>> redis;  // One a thread.
};

// People of whom each store that is measured knows the same.
People PeopleOfOurs(const Settings& settings, Who who, const Peers& peers) {
  return {who, settings.seconds,
          [&](size_t, const std::string& person) { TryOnce(peers.attempts, person, true); }};
}
People PeopleOfRedis(const Settings& settings, Who who, const Peers& peers) {
  return {who, settings.seconds, [&](size_t thread, const std::string& person) {
            CHECK(peers.redis[thread]->Run(CountOf(person)));
          }};
}

// Scripts a second.
double RedisRate(const Settings& settings, Who who, const Peers& peers, Connections* connections) {
  People people = PeopleOfRedis(settings, who, peers);
  OverRedis scripts(connections->count(), &people);
  return connections->Rate(settings.seconds, [&](size_t connection, const std::string& answer) {
    return scripts.Next(connection, answer);
  });
}

struct Contest {
  std::string name;
  double steps = 2;  // Durable steps of one call.
  void (*ours)(Attempts*);
  void (*redis)(RedisClient*);
};

bool CompareAt(const Settings& settings, int threads, const Contest& contest, Peers* peers) {
  return Compare(
      settings,
      {.name = fmt::format("{}, {} thread{}", contest.name, threads, threads == 1 ? "" : "s"),
       .unit = "steps/s",
       .ours =
           [&] {
             return contest.steps * ParallelRate(settings.seconds, threads,
                                                 [&](int) { contest.ours(peers->attempts); });
           },
       .raw =
           [&] {
             return contest.steps * ParallelRate(settings.seconds, threads, [&](int client) {
                      contest.redis(peers->redis[static_cast<size_t>(client)].get());
                    });
           }});
}

// The upper limit of the store: RocksDB is called directly with the rows of as many people. All
// slots are in one synced batch and all outcomes in the next, without any decision.
class BareRows {
 public:
  explicit BareRows(const std::string& folder) : store_(folder) {}

  // Steps a second: a slot or an outcome.
  double Rate(double seconds, int people) {
    uint64_t done = 0;
    const double start = Seconds();
    while (Seconds() - start < seconds) {
      std::vector<std::string> persons;
      for (int i = 0; i < people; ++i) persons.push_back(NextKey());
      rocksdb::WriteBatch slots;
      for (const std::string& person : persons) CHECK(slots.Put(person, kHead).ok());
      store_.Write(&slots, true);
      rocksdb::WriteBatch outcomes;
      for (const std::string& person : persons) {
        CHECK(outcomes.Put(person, kHead).ok());
        CHECK(outcomes.Put(kEnds + person, "").ok());
      }
      store_.Write(&outcomes, true);
      done += 2 * static_cast<uint64_t>(people);
    }
    return static_cast<double>(done) / (Seconds() - start);
  }

 private:
  // Partitions are stored in the order of their hashes, so keys are written in random order.
  static std::string NextKey() {
    const std::string person = NextPerson();
    return Sha256(person).substr(0, 8) + person;
  }
  // As long as the row of a person with one attempt.
  inline static const std::string kHead = std::string(200, 'h');
  inline static const std::string kEnds = "ends at 1763251200 ";

  RawStore store_;
};

// Right and wrong tries of new and of known people.
struct Kind {
  Who who;
  bool right;
  std::string name;
};
const std::vector<Kind> kKinds = {{Who::kNew, true, "right, new person"},
                                  {Who::kNew, false, "wrong, new person"},
                                  {Who::kKnown, true, "right, known person"},
                                  {Who::kKnown, false, "wrong, known person"}};

// Both sides have the same number of requests in flight, and one thread drives each side.
bool CompareInFlight(const Settings& settings, int in_flight, const Peers& peers) {
  bool met = true;
  Connections redis(peers.redis_port, in_flight, IsWholeRedis);
  Folder bare_folder("bare-rows");
  BareRows bare(bare_folder.path());
  met &= Compare(settings, {.name = fmt::format("bare RocksDB, {} in flight", in_flight),
                            .unit = "steps/s",
                            .ours = [&] { return bare.Rate(settings.seconds, in_flight); },
                            .raw = [&] { return RedisRate(settings, Who::kNew, peers, &redis); }});
  for (const Kind& kind : kKinds) {
    const auto ours = [&] {
      People people = PeopleOfOurs(settings, kind.who, peers);
      return InFlight(peers.attempts, &people, kind.right).Rate(settings.seconds, in_flight);
    };
    met &= Compare(settings, {.name = fmt::format("{}, {} in flight", kind.name, in_flight),
                              .unit = "dec./s",
                              .ours = ours,
                              .raw = [&] { return RedisRate(settings, kind.who, peers, &redis); },
                              .goal_ratio = in_flight == 1 ? 0 : 1.3});
  }
  return met;
}

bool CompareOverHttp(const Settings& settings, int connections, const RunningService& service,
                     const Peers& peers) {
  bool met = true;
  Connections http(PortOf(service.address()), connections, IsWholeHttp);
  Connections redis(peers.redis_port, connections, IsWholeRedis);
  for (const Kind& kind : kKinds) {
    const auto ours = [&] {
      People people = PeopleOfOurs(settings, kind.who, peers);
      OverHttp requests(service.token(), http.count(), &people, kind.right);
      return http.Rate(settings.seconds, [&](size_t connection, const std::string& answer) {
        return requests.Next(connection, answer);
      });
    };
    met &= Compare(settings, {.name = fmt::format("{}, HTTP, {}", kind.name, connections),
                              .unit = "dec./s",
                              .ours = ours,
                              .raw = [&] { return RedisRate(settings, kind.who, peers, &redis); },
                              .goal_ratio = connections == 1 ? 0 : 0.75});
  }
  return met;
}

bool CompareAll(const Settings& settings, Peers* peers) {
  bool met = true;
  for (const int threads : {1, kMany}) {
    const std::vector<Contest> contests = {
        {.name = "increment", .steps = 1, .ours = Increment, .redis = RedisCount},
        {.name = "right, new person", .ours = TryRight, .redis = RedisCountTwice},
        {.name = "wrong, new person", .ours = TryWrong, .redis = RedisCountTwice}};
    for (const Contest& contest : contests) met &= CompareAt(settings, threads, contest, peers);
  }
  return met;
}

int Main(int argc, char** argv) {
  const Flags flags(argc, argv, kHelp, {"--seconds", "--rounds", "--only", "--json"});
  const Settings settings = flags.MeasuredFor();
  const auto has = [only = flags.Text("--only")](std::string_view part) {
    return only.empty() || only == part;
  };
  Folder redis_folder("redis");
  Folder folder("attempts");
  const RedisServer server(redis_folder.path());
  auto tables = Must(embedded::EmbeddedTables::Open({.folder = folder.path()}));
  SystemClock clock;
  SystemRandom random;
  SystemSleeper sleeper;
  const Logger logger({.level = LogLevel::kWarning}, clock);
  Metrics metrics;
  const Runtime runtime{
      .clock = clock, .random = random, .sleeper = sleeper, .logger = logger, .metrics = metrics};
  attempts::AccountTable table(attempts::kDefaultTable, tables.get());
  Must(table.Create());
  Attempts attempts(attempts::Policy::Default(), &table, runtime);
  Peers peers{.attempts = &attempts, .redis_port = server.port(), .redis = {}};
  for (int i = 0; i < kMany; ++i) {
    peers.redis.push_back(std::make_unique<RedisClient>(server.port()));
  }
  fmt::print("{:<44} {:>12} {:>12} {:>7}  {}\n", "", "tidemark", "Redis", "ratio", "goal");
  bool met = true;
  for (const int in_flight : {1, kMany}) {
    if (has("flight")) met &= CompareInFlight(settings, in_flight, peers);
  }
  if (has("threads")) met &= CompareAll(settings, &peers);
  api::ServiceOptions options;
  options.attempts.emplace();
  const RunningService service(folder.path(), tables.get(), std::move(options));
  for (const int connections : {1, kMany}) {
    if (has("http")) met &= CompareOverHttp(settings, connections, service, peers);
  }
  fmt::print("{}\n", met ? "all goals met" : "some goals MISSED");
  return 0;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
