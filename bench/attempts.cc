// Measures attempts a second, with every slot and every outcome on disk before the answer. It is
// compared with the most similar operation of Redis (one script that adds one and sets the expiry,
// with appendfsync always), in the same run and on the same disk.
#include "apps/attempts/attempts.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apps/attempts/account_table.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/hashing.h"
#include "base/random.h"
#include "base/runtime.h"
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
    "Attempts a second, synced, beside Redis with appendfsync always.\n"
    "\n"
    "  bench_attempts                    all comparisons, about three minutes\n"
    "  bench_attempts --seconds 0.5      quicker and rougher\n"
    "  bench_attempts --rounds 5         more rounds; the median of them is printed\n"
    "  bench_attempts --only flight      one part: flight, threads, http\n";

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

// Two durable writes: the slot and its outcome.
void TryOnce(Attempts* attempts, bool right) {
  const Subject person = Must(Subject::Of(NextPerson()));
  const auto slot =
      Must(attempts->Reserve({.subject = person, .name = Password(), .attempt_id = "attempt-1"}));
  CHECK(slot.verdict == attempts::Verdict::kPermitted);
  CHECK(
      Must(attempts->Settle(
               {.subject = person, .name = Password(), .attempt_id = "attempt-1", .right = right}))
          .known);
}

void TryRight(Attempts* attempts) { TryOnce(attempts, true); }
void TryWrong(Attempts* attempts) { TryOnce(attempts, false); }

// One durable write.
void Increment(Attempts* attempts) {
  const Subject person = Must(Subject::Of(NextPerson()));
  Must(attempts->Increment({.subject = person, .name = Password(), .attempt_id = "attempt-1"}));
}

// A queue of work for one thread, like a loop with many requests in flight.
class Turns {
 public:
  void Add(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    if (waiting_.size() == 1) added_.notify_one();
  }
  // Does the added work, and waits when there is none.
  void Run() {
    std::vector<std::function<void()>> taken;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [&] { return !waiting_.empty(); });
      taken.swap(waiting_);
    }
    for (const auto& work : taken) work();
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<std::function<void()>> waiting_;
};

// The same two writes for many people at once, without blocking on any of them.
class InFlight {
 public:
  InFlight(Attempts* attempts, bool right) : attempts_(*attempts), right_(right) {}

  double Rate(double seconds, int people) {
    const double start = Seconds();
    for (int i = 0; i < people; ++i) Begin();
    uint64_t reported = 0;
    while (Seconds() - start < seconds || under_way_ > 0) {
      turns_.Run();
      for (; reported < done_; ++reported) {
        if (Seconds() - start < seconds) Begin();
      }
    }
    return static_cast<double>(done_) / (Seconds() - start);
  }

 private:
  void Begin() {
    ++under_way_;
    const Subject person = Must(Subject::Of(NextPerson()));
    attempts_.Reserve({.subject = person, .name = Password(), .attempt_id = "attempt-1"}, &workers_)
        .Then([this, person](Result<attempts::Decision> slot) {
          turns_.Add([this, person, slot = std::move(slot)] { End(person, slot); });
        });
  }
  void End(const Subject& person, const Result<attempts::Decision>& slot) {
    CHECK(Must(slot).verdict == attempts::Verdict::kPermitted);
    attempts_
        .Settle({.subject = person, .name = Password(), .attempt_id = "attempt-1", .right = right_},
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
  OverHttp(std::string token, size_t connections, bool right)
      : token_(std::move(token)), people_(connections), right_(right) {}

  std::string Next(size_t connection, const std::string& answer) {
    constexpr std::string_view kName =
        R"("journey":"SIGN_IN","count_type":"ERROR_COUNT","classifier":"PASSWORD_ENTRY",)"
        R"("attempt_id":"attempt-1")";
    std::string& person = people_[connection];
    if (person.empty()) {
      CHECK(answer.empty() || answer.find(R"("known":true)") != std::string::npos);
      person = "/api/v1/subjects/" + NextPerson();
      return PostRequest(person + "/attempts/reserve", token_, fmt::format("{{{}}}", kName));
    }
    CHECK(answer.find(R"("verdict":"permitted")") != std::string::npos);
    return PostRequest(std::exchange(person, "") + "/attempts/settle", token_,
                       fmt::format(R"({{{},"right":{}}})", kName, right_));
  }

 private:
  const std::string token_;
  std::vector<std::string>
      people_;  // By connection: the person whose slot must be settled; or empty.
  const bool right_;
};

// Counts after the verification, without ids or locks, as the original program of the seed does,
// but atomically.
constexpr char kScript[] =
    "local n = redis.call('INCR', KEYS[1]) "
    "if n == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end "
    "return n";

void RedisCount(RedisClient* redis) {
  CHECK(redis->Run({"EVAL", kScript, "1", "code-attempts:" + NextPerson(), "900"}));
}

// The same in two durable steps, like ours: one before the verification and one after it.
void RedisCountTwice(RedisClient* redis) {
  const std::string key = "code-attempts:" + NextPerson();
  for (int step = 0; step < 2; ++step) CHECK(redis->Run({"EVAL", kScript, "1", key, "900"}));
}

// The script as a client sends it, for a connection that is driven like ours.
std::string RedisRequest(size_t, const std::string& answer) {
  CHECK(answer.empty() || answer.starts_with(':'));
  std::string request;
  const std::vector<std::string> words = {"EVAL", kScript, "1", "code-attempts:" + NextPerson(),
                                          "900"};
  request = fmt::format("*{}\r\n", words.size());
  for (const std::string& word : words) request += fmt::format("${}\r\n{}\r\n", word.size(), word);
  return request;
}

struct Peers {
  Attempts* attempts;
  int redis_port = 0;
  std::vector<std::unique_ptr<RedisClient>> redis;  // One a thread.
};

struct Contest {
  std::string name;
  void (*ours)(Attempts*);
  void (*redis)(RedisClient*);
};

bool CompareAt(const Settings& settings, int threads, const Contest& contest, Peers* peers) {
  return Compare(settings, {.name = fmt::format("{}, {} thread{}", contest.name, threads,
                                                threads == 1 ? "" : "s"),
                            .unit = "/s",
                            .ours =
                                [&] {
                                  return ParallelRate(settings.seconds, threads,
                                                      [&](int) { contest.ours(peers->attempts); });
                                },
                            .raw =
                                [&] {
                                  return ParallelRate(settings.seconds, threads, [&](int client) {
                                    contest.redis(peers->redis[static_cast<size_t>(client)].get());
                                  });
                                }});
}

// The upper limit of the store: RocksDB is called directly with the rows of as many people. All
// slots are in one synced batch and all outcomes in the next, without any decision.
class BareRows {
 public:
  explicit BareRows(const std::string& folder) : store_(folder) {}

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
      done += static_cast<uint64_t>(people);
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

// Both sides have the same number of requests in flight, and one thread drives each side.
bool CompareInFlight(const Settings& settings, int in_flight, const Peers& peers) {
  bool met = true;
  Folder bare_folder("bare-rows");
  BareRows bare(bare_folder.path());
  met &= Compare(settings,
                 {.name = fmt::format("the same rows, bare RocksDB, {} in flight", in_flight),
                  .unit = "/s",
                  .ours = [&] { return bare.Rate(settings.seconds, in_flight); },
                  .raw =
                      [&] {
                        return Connections(peers.redis_port, in_flight, IsWholeRedis)
                            .Rate(settings.seconds, RedisRequest);
                      }});
  Connections redis(peers.redis_port, in_flight, IsWholeRedis);
  for (const bool right : {true, false}) {
    met &= Compare(
        settings,
        {.name =
             fmt::format("reserve+settle {}, {} in flight", right ? "right" : "wrong", in_flight),
         .unit = "/s",
         .ours = [&] { return InFlight(peers.attempts, right).Rate(settings.seconds, in_flight); },
         .raw = [&] { return redis.Rate(settings.seconds, RedisRequest); },
         .goal_ratio = in_flight == 1 ? 0 : 1.0});
  }
  return met;
}

bool CompareOverHttp(const Settings& settings, int connections, const RunningService& service,
                     const Peers& peers) {
  bool met = true;
  Connections http(PortOf(service.address()), connections, IsWholeHttp);
  Connections redis(peers.redis_port, connections, IsWholeRedis);
  for (const bool right : {true, false}) {
    const auto ours = [&] {
      OverHttp requests(service.token(), static_cast<size_t>(connections), right);
      const auto next = [&](size_t connection, const std::string& answer) {
        return requests.Next(connection, answer);
      };
      return http.Rate(settings.seconds, next) / 2;
    };
    met &= Compare(settings, {.name = fmt::format("reserve+settle {}, HTTP, {} connection{}",
                                                  right ? "right" : "wrong", connections,
                                                  connections == 1 ? "" : "s"),
                              .unit = "/s",
                              .ours = ours,
                              .raw = [&] { return redis.Rate(settings.seconds, RedisRequest); },
                              .goal_ratio = connections == 1 ? 0 : 0.7});
  }
  return met;
}

bool CompareAll(const Settings& settings, Peers* peers) {
  bool met = true;
  for (const int threads : {1, kMany}) {
    const std::vector<Contest> contests = {
        {"increment, one script", Increment, RedisCount},
        {"reserve+settle right, one script", TryRight, RedisCount},
        {"reserve+settle wrong, one script", TryWrong, RedisCount},
        {"reserve+settle right, two scripts", TryRight, RedisCountTwice},
        {"reserve+settle wrong, two scripts", TryWrong, RedisCountTwice}};
    for (const Contest& contest : contests) met &= CompareAt(settings, threads, contest, peers);
  }
  return met;
}

int Main(int argc, char** argv) {
  const Flags flags(argc, argv, kHelp, {"--seconds", "--rounds", "--only"});
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
