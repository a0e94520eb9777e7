// Attempts a second, every slot and every outcome on disk before it is answered, beside Redis doing
// the nearest it can (one script that adds one and sets the end, with appendfsync always) in the
// same run, on the same disk.
#include "apps/attempts/attempts.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "bench/harness.h"
#include "bench/keep_alive_client.h"
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
    "  bench_attempts --rounds 5         more rounds; the median of them is printed\n";

const attempts::Name& Password() {
  static const attempts::Name name{
      .journey = "SIGN_IN", .count = "ERROR_COUNT", .classifier = "PASSWORD_ENTRY"};
  return name;
}

// Somebody who has not tried before within a run.
std::string NextPerson() {
  static std::atomic<uint64_t> next = 0;
  return fmt::format("urn:person:{:016}", next++);
}

// Two durable writes: the slot, and what became of it.
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

// Two requests, which are the same two writes.
void TryOverHttp(KeepAliveClient* client, bool right) {
  constexpr std::string_view kName =
      R"("journey":"SIGN_IN","count_type":"ERROR_COUNT","classifier":"PASSWORD_ENTRY",)"
      R"("attempt_id":"attempt-1")";
  const std::string person = "/api/v1/subjects/" + NextPerson();
  CHECK(client->Post(person + "/attempts/reserve", fmt::format("{{{}}}", kName))
            .find(R"("verdict":"permitted")") != std::string::npos);
  CHECK(client->Post(person + "/attempts/settle", fmt::format(R"({{{},"right":{}}})", kName, right))
            .find(R"("known":true)") != std::string::npos);
}

// Counts after the verification, without ids or locks: what the seed's origin does, but atomic.
constexpr char kScript[] =
    "local n = redis.call('INCR', KEYS[1]) "
    "if n == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end "
    "return n";

void RedisCount(RedisClient* redis) {
  CHECK(redis->Run({"EVAL", kScript, "1", "code-attempts:" + NextPerson(), "900"}));
}

// The same in two durable steps, as we do it: one before the verification, one after.
void RedisCountTwice(RedisClient* redis) {
  const std::string key = "code-attempts:" + NextPerson();
  for (int step = 0; step < 2; ++step) CHECK(redis->Run({"EVAL", kScript, "1", key, "900"}));
}

struct Peers {
  Attempts* attempts;
  std::vector<std::unique_ptr<RedisClient>> redis;  // One a thread.
};

struct Contest {
  std::string name;
  void (*ours)(Attempts*);
  void (*redis)(RedisClient*);
  double goal = 0;
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
                                },
                            .goal_ratio = threads == 1 ? 0 : contest.goal});
}

bool CompareOverHttp(const Settings& settings, int connections, const RunningService& service,
                     Peers* peers) {
  std::vector<KeepAliveClient> clients;
  for (int i = 0; i < connections; ++i) clients.push_back(service.Connect());
  bool met = true;
  for (const bool right : {true, false}) {
    met &= Compare(
        settings,
        {.name = fmt::format("reserve+settle {}, HTTP, {} connection{}", right ? "right" : "wrong",
                             connections, connections == 1 ? "" : "s"),
         .unit = "/s",
         .ours =
             [&] {
               return ParallelRate(settings.seconds, connections, [&](int client) {
                 TryOverHttp(&clients[static_cast<size_t>(client)], right);
               });
             },
         .raw =
             [&] {
               return ParallelRate(settings.seconds, connections, [&](int client) {
                 RedisCount(peers->redis[static_cast<size_t>(client)].get());
               });
             },
         .goal_ratio = connections == 1 ? 0 : 0.7});
  }
  return met;
}

bool CompareAll(const Settings& settings, Peers* peers) {
  bool met = true;
  for (const int threads : {1, kMany}) {
    const std::vector<Contest> contests = {
        {"increment, one script", Increment, RedisCount},
        {"reserve+settle right, one script", TryRight, RedisCount, 1.0},
        {"reserve+settle wrong, one script", TryWrong, RedisCount, 1.0},
        {"reserve+settle right, two scripts", TryRight, RedisCountTwice},
        {"reserve+settle wrong, two scripts", TryWrong, RedisCountTwice}};
    for (const Contest& contest : contests) met &= CompareAt(settings, threads, contest, peers);
  }
  return met;
}

Settings SettingsOf(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--help") {
      fmt::print("{}", kHelp);
      std::exit(0);
    }
    if (i + 1 == argc) Give(fmt::format("{} needs a value; see --help", flag));
    const char* value = argv[++i];
    if (flag == "--seconds") settings.seconds = std::atof(value);
    if (flag == "--rounds") settings.rounds = std::atoi(value);
  }
  return settings;
}

int Main(int argc, char** argv) {
  const Settings settings = SettingsOf(argc, argv);
  Folder redis_folder("redis");
  Folder folder("attempts");
  const RedisServer server(redis_folder.path());
  auto tables = Must(embedded::EmbeddedTables::Open({.folder = folder.path()}));
  SystemClock clock;
  SystemRandom random;
  Attempts attempts({}, attempts::Policy::Default(), tables.get(), &clock, &random, nullptr,
                    nullptr);
  Must(attempts.CreateTable());
  Peers peers{.attempts = &attempts, .redis = {}};
  for (int i = 0; i < kMany; ++i) {
    peers.redis.push_back(std::make_unique<RedisClient>(server.port()));
  }
  fmt::print("{:<44} {:>12} {:>12} {:>7}  {}\n", "", "tidemark", "Redis", "ratio", "goal");
  bool met = CompareAll(settings, &peers);
  api::ServiceOptions options;
  options.attempts.emplace();
  const RunningService service(folder.path(), tables.get(), std::move(options));
  for (const int connections : {1, kMany}) {
    met &= CompareOverHttp(settings, connections, service, &peers);
  }
  fmt::print("{}\n", met ? "all goals met" : "some goals MISSED");
  return 0;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
