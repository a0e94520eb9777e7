// Measures claims a second, each on disk before the answer. It is compared with the most similar
// operation of Redis (SET NX EX with appendfsync always), in the same run and on the same disk.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "apps/dedup/claims.h"
#include "bench/connections.h"
#include "bench/flags.h"
#include "bench/harness.h"
#include "bench/keep_alive_client.h"
#include "bench/redis_peer.h"
#include "bench/running_service.h"
#include "programs/program_runtime.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::bench {
namespace {

constexpr int kMany = 64;
constexpr int kWindowSeconds = 21'600;

constexpr char kHelp[] =
    "Claims a second, synced, beside Redis with appendfsync always.\n"
    "\n"
    "  bench_dedup                    all comparisons, about a minute\n"
    "  bench_dedup --seconds 0.5      quicker and rougher\n"
    "  bench_dedup --rounds 5         more rounds; the median of them is printed\n"
    "  bench_dedup --only http        one part: process, http\n";

const dedup::Metadata& EventMetadata() {
  static const dedup::Metadata metadata = {{"file_id", "F0123456789"},
                                           {"channel_id", "C0123456789"},
                                           {"user_id", "U0123456789"},
                                           {"lambda_instance_id", "i-0123456789abcdef"}};
  return metadata;
}

// The same facts as one text.
constexpr char kRedisValue[] =
    R"({"processed_at":1700000000,"file_id":"F0123456789","channel_id":"C0123456789",)"
    R"("user_id":"U0123456789","lambda_instance_id":"i-0123456789abcdef","status":"done"})";

// Keys that never repeat within a run.
std::string NextKey() {
  static std::atomic<uint64_t> next = 0;
  return fmt::format("T01234567:F0123456789_{:016}", next++);
}

struct Peers {
  dedup::Claims* claims;
  std::vector<std::unique_ptr<RedisClient>> redis;  // One a thread.
};

// ---- Check and mark in one call ----

void Mark(dedup::Claims* claims) {
  const auto reply = Must(claims->Mark({.keys = {NextKey()}, .metadata = EventMetadata()}));
  CHECK(reply.outcome == dedup::ClaimOutcome::kNew);
}

void RedisMark(RedisClient* redis) {
  CHECK(redis->Run({"SET", NextKey(), kRedisValue, "NX", "EX", std::to_string(kWindowSeconds)}));
}

// ---- Claim, then complete ----

void ClaimAndComplete(dedup::Claims* claims) {
  const auto reply = Must(claims->Take({.keys = {NextKey()}, .metadata = EventMetadata()}));
  CHECK(Must(claims->Complete(*reply.claim)) == dedup::SettleOutcome::kSettled);
}

// It does not check who completes the claim, because Redis can check a value only in a script.
void RedisClaimAndComplete(RedisClient* redis) {
  const std::string key = NextKey();
  CHECK(redis->Run({"SET", key, kRedisValue, "NX", "EX", "60"}));
  CHECK(redis->Run({"SET", key, kRedisValue, "XX", "EX", std::to_string(kWindowSeconds)}));
}

bool CompareInProcess(const Settings& settings, Peers* peers) {
  bool met = true;
  for (const int threads : {1, kMany}) {
    const std::string clients = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
    const auto ours = [&, threads](auto work) {
      return [&, threads, work] {
        return ParallelRate(settings.seconds, threads, [&](int) { work(peers->claims); });
      };
    };
    const auto redis = [&, threads](auto work) {
      return [&, threads, work] {
        return ParallelRate(settings.seconds, threads, [&](int client) {
          work(peers->redis[static_cast<size_t>(client)].get());
        });
      };
    };
    met &= Compare(settings, {.name = "mark, in process, " + clients,
                              .unit = "/s",
                              .ours = ours(Mark),
                              .raw = redis(RedisMark)});
    met &= Compare(settings, {.name = "claim+complete, in process, " + clients,
                              .unit = "/s",
                              .ours = ours(ClaimAndComplete),
                              .raw = redis(RedisClaimAndComplete)});
  }
  return met;
}

// ---- Over HTTP ----

std::string MarkRequest(const std::string& token) {
  const std::string body =
      fmt::format(R"({{"key":"{}","metadata":{{"file_id":"F0123456789","channel_id":"C0123456789",)"
                  R"("user_id":"U0123456789","lambda_instance_id":"i-0123456789abcdef"}}}})",
                  NextKey());
  return PostRequest("/api/v1/claims/mark", token, body);
}

std::string RedisMarkRequest() {
  return RedisCommand({"SET", NextKey(), kRedisValue, "NX", "EX", std::to_string(kWindowSeconds)});
}

// One thread drives all connections of a side, so that the generator needs little of the processor.
bool CompareOverHttp(const Settings& settings, const RunningService& service, int redis_port) {
  bool met = true;
  for (const int count : {1, kMany}) {
    Connections http(PortOf(service.address()), count, IsWholeHttp);
    Connections redis(redis_port, count, IsWholeRedis);
    const auto next = [&](size_t, const std::string& answer) {
      CHECK(answer.empty() || answer.find(R"("outcome":"new")") != std::string::npos);
      return MarkRequest(service.token());
    };
    const auto next_of_redis = [](size_t, const std::string& answer) {
      CHECK(answer.empty() || answer.starts_with("+OK"));
      return RedisMarkRequest();
    };
    met &= Compare(settings, {.name = fmt::format("mark, over HTTP, {} connection{}", count,
                                                  count == 1 ? "" : "s"),
                              .unit = "/s",
                              .ours = [&] { return http.Rate(settings.seconds, next); },
                              .raw = [&] { return redis.Rate(settings.seconds, next_of_redis); },
                              .goal_ratio = count == 1 ? 0 : 0.6});
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
  Folder folder("dedup");
  const RedisServer server(redis_folder.path());
  auto tables = Must(embedded::EmbeddedTables::Open({.folder = folder.path()}));
  programs::ProgramRuntime program;
  dedup::Claims claims({}, tables.get(), program.runtime());
  Must(claims.CreateTable());
  Peers peers{.claims = &claims, .redis = {}};
  for (int i = 0; i < kMany; ++i) {
    peers.redis.push_back(std::make_unique<RedisClient>(server.port()));
  }
  fmt::print("{:<44} {:>12} {:>12} {:>7}  {}\n", "", "tidemark", "Redis", "ratio", "goal");
  bool met = true;
  if (has("process")) met &= CompareInProcess(settings, &peers);
  const RunningService service(folder.path(), tables.get());
  if (has("http")) met &= CompareOverHttp(settings, service, server.port());
  fmt::print("{}\n", met ? "all goals met" : "some goals MISSED");
  return 0;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
