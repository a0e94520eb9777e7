#include "tests/crash/crash_writer.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/crash/machine.h"

namespace tidemark::crash {
namespace {

[[noreturn]] void Die(const Error& error) {
  std::fprintf(stderr, "crash_writer: %s\n", error.message.c_str());
  // Exits without destructors, because the other writers are still running.
  std::_Exit(2);
}

void Write(tables::Tables& tables, uint64_t seed, uint32_t writer, uint64_t number) {
  for (;; ++number) {
    const Result<Outcome> outcome = Perform(tables, OperationOf(seed, writer, number));
    if (!outcome) Die(outcome.error());
    const Acknowledgement told{writer, outcome->applied ? 1u : 0u, outcome->count};
    if (write(STDOUT_FILENO, &told, sizeof(told)) != sizeof(told)) {
      Die({ErrorCode::kInternal, "nobody listens"});
    }
  }
}

}  // namespace

void RunCrashWriter(const std::vector<std::string>& arguments) {
  embedded::Options options{.folder = arguments.at(0)};
  if (arguments.at(1) == "every_second") options.durability = embedded::Durability::kEverySecond;
  const uint64_t seed = std::stoull(arguments.at(2));
  auto tables = embedded::EmbeddedTables::Open(options);
  if (!tables) Die(tables.error());
  std::vector<std::thread> threads;
  for (uint32_t writer = 0; writer + 3 < arguments.size(); ++writer) {
    const uint64_t number = std::stoull(arguments.at(writer + 3));
    threads.emplace_back([&, writer, number] { Write(**tables, seed, writer, number); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tidemark::crash
