// Measures what the gate adds to a request: the check of the signature, and the existence check
// when the table has the answer. Each is compared with the minimal work for it, in the same run.
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "apps/gate/existence.h"
#include "bench/flags.h"
#include "bench/harness.h"
#include "slack/signature.h"
#include "tables/embedded/embedded_tables.h"

namespace tidemark::bench {
namespace {

constexpr int kTriples = 1'000;
constexpr size_t kBodyBytes = 16 * 1024;
constexpr double kHitGoalUs = 1'000;
constexpr double kSignatureGoalUs = 50;

// A Slack in which everything exists.
class KindDirectory final : public slack::Directory {
 public:
  std::vector<slack::LookupReply> LookUp(const Secret&, std::span<const slack::Lookup> lookups,
                                         const Deadline&) override {
    return std::vector<slack::LookupReply>(lookups.size(),
                                           {.outcome = slack::LookupOutcome::kActive});
  }
};

// How long single calls took, in microseconds.
class Latencies {
 public:
  void Measure(const std::function<void()>& call) {
    const double start = Seconds();
    call();
    us_.push_back((Seconds() - start) * 1e6);
  }
  // The time within which this share of the calls ended.
  double Percentile(double share) {
    std::sort(us_.begin(), us_.end());
    return us_[std::min(us_.size() - 1,
                        static_cast<size_t>(share * static_cast<double>(us_.size())))];
  }

 private:
  std::vector<double> us_;
};

void PrintHead(const std::string& beside) {
  fmt::print("{:<44} {:>12} {:>12} {:>7}  {}\n", "", "tidemark", beside, "ratio", "goal");
}

// Prints both in microseconds. False when the goal was missed; a goal of 0 is no goal.
bool Print(const std::string& name, double ours, double bare, double goal = 0) {
  const bool met = goal == 0 || ours < goal;
  const std::string verdict =
      goal == 0 ? "" : fmt::format("< {:.0f}: {}", goal, met ? "met" : "MISSED");
  fmt::print("{:<44} {:>12.1f} {:>12.1f} {:>7.2f}  {}\n", name + ", us", ours, bare, ours / bare,
             verdict);
  std::fflush(stdout);
  return met;
}

gate::Subject TripleOf(int number) {
  return {.team = Must(slack::TeamId::Parse("T01234567")),
          .user = Must(slack::UserId::Parse(fmt::format("U{:08}", number % 50))),
          .channel = Must(slack::ChannelId::Parse(fmt::format("C{:08}", number / 50)))};
}

bool MeasureHits(double seconds) {
  Folder folder("gate");
  auto tables = Must(embedded::EmbeddedTables::Open({.folder = folder.path()}));
  KindDirectory slack;
  gate::FixedTokens tokens{Secret(std::string("xoxb-bench"))};
  SystemClock clock;
  SystemRandom random;
  SystemSleeper sleeper;
  const Logger logger({}, clock);
  Metrics metrics;
  gate::Existence existence(
      {.checks_per_team_minute = 0}, tables.get(), &slack, &tokens,
      {.clock = clock, .random = random, .sleeper = sleeper, .logger = logger, .metrics = metrics});
  Must(existence.CreateTable());
  std::vector<gate::Subject> triples;
  std::vector<item::Item> keys;
  for (int i = 0; i < kTriples; ++i) {
    triples.push_back(TripleOf(i));
    keys.push_back({{"cache_key", Must(gate::CacheKey(triples.back()))}});
    existence.Check(triples.back());
  }
  Latencies hits;
  Latencies gets;
  size_t misses = 0;
  const double end = Seconds() + seconds;
  // Both are measured in turns, so that they see the same load of the machine.
  for (size_t i = 0; Seconds() < end; ++i) {
    const size_t which = i * 7 % triples.size();
    hits.Measure([&] {
      if (existence.Check(triples[which]).reason != gate::Reason::kCached) ++misses;
    });
    gets.Measure([&] {
      Must(tables->Get({.table = std::string(gate::kDefaultCacheTable), .key = keys[which]}));
    });
  }
  if (misses > 0) fmt::print("{} checks were no hits\n", misses);
  PrintHead("bare Get");
  bool met = misses == 0;
  met &= Print("existence hit, p50", hits.Percentile(0.50), gets.Percentile(0.50));
  met &= Print("existence hit, p95", hits.Percentile(0.95), gets.Percentile(0.95));
  met &= Print("existence hit, p99", hits.Percentile(0.99), gets.Percentile(0.99), kHitGoalUs);
  return met;
}

bool MeasureSignature(double seconds) {
  const std::string key = "8f742231b10e8888abcd99yyyzzz85a5";
  const std::string timestamp = "1700000000";
  const std::string body(kBodyBytes, 'x');
  const std::string signature = slack::Sign(Secret(std::string(key)), timestamp, body);
  const slack::SignatureVerifier verifier({{.id = "bench", .value = Secret(std::string(key))}});
  const slack::SignedRequest request{
      .timestamps = {timestamp}, .signatures = {signature}, .body = body};
  // Here the hashed text is contiguous; in a request it is not.
  const std::string hashed = "v0:" + timestamp + ":" + body;
  Latencies ours;
  Latencies bare;
  size_t refused = 0;
  const double end = Seconds() + seconds;
  while (Seconds() < end) {
    ours.Measure([&] {
      if (verifier.Verify(request, 1'700'000'000).verdict != slack::SignatureVerdict::kValid) {
        ++refused;
      }
    });
    bare.Measure([&] {
      unsigned char digest[EVP_MAX_MD_SIZE];
      unsigned length = 0;
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(hashed.data()), hashed.size(), digest, &length);
    });
  }
  if (refused > 0) fmt::print("{} good signatures were refused\n", refused);
  PrintHead("HMAC()");
  bool met = refused == 0;
  met &= Print("signature of a 16 KB body, p50", ours.Percentile(0.50), bare.Percentile(0.50),
               kSignatureGoalUs);
  met &= Print("signature of a 16 KB body, p99", ours.Percentile(0.99), bare.Percentile(0.99));
  return met;
}

constexpr char kHelp[] =
    "usage: bench_gate [--seconds S]\n"
    "  --seconds S   how long each measurement takes (default 3)\n"
    "  example: bench_gate --seconds 1\n"
    "Data goes to a folder bench-data-gate below the current one, removed at the end.\n";

int Main(int argc, char** argv) {
  const double seconds = Flags(argc, argv, kHelp, {"--seconds"}).Number("--seconds", 3);
  bool met = MeasureHits(seconds);
  met &= MeasureSignature(seconds);
  fmt::print("{}\n", met ? "all goals met" : "some goals MISSED");
  return 0;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) { return tidemark::bench::Main(argc, argv); }
