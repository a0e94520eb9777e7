// Tests that an acknowledged write survives the kill of the process. A writer process is killed
// again and again; this process keeps its acknowledgements.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "tests/crash/crash_writer.h"
#include "tests/crash/machine.h"

namespace tidemark::crash {
namespace {

using embedded::EmbeddedTables;
using ::testing::IsEmpty;

constexpr uint64_t kSeed = 55'001;
constexpr uint32_t kWriters = 8;
constexpr uint64_t kKillsOfAFolder = 25;

// A running writer process, and the pipe with its acknowledgements.
class WriterProcess {
 public:
  WriterProcess(const std::string& folder, const char* durability, const Ledger& ledger) {
    std::vector<std::string> words = {"/proc/self/exe", kCrashWriterFlag, folder, durability,
                                      std::to_string(ledger.seed())};
    for (uint32_t i = 0; i < ledger.writers(); ++i) words.push_back(std::to_string(ledger.next(i)));
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int ends[2];
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    CHECK(posix_spawn(&id_, arguments[0], &actions, nullptr, arguments.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    pipe_ = ends[0];
  }
  ~WriterProcess() { close(pipe_); }
  WriterProcess(const WriterProcess&) = delete;
  WriterProcess& operator=(const WriterProcess&) = delete;

  // False when the process has ended and the pipe is empty.
  bool Listen(Ledger* ledger) {
    Acknowledgement told;
    const ssize_t got = read(pipe_, &told, sizeof(told));
    if (got != sizeof(told)) return false;
    ledger->Acknowledge(told.writer, {.applied = told.applied != 0, .count = told.count});
    return true;
  }
  void Kill() const { kill(id_, SIGKILL); }
  // The signal that killed it; 0 when it exited.
  int Wait() const {
    int status = 0;
    CHECK(waitpid(id_, &status, 0) == id_);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t id_ = 0;
  int pipe_ = -1;
};

// Lets a writer process run until it has sent `acknowledgements`, kills it, and reads the rest of
// its pipe.
void LetLive(const std::string& folder, const char* durability, uint64_t acknowledgements,
             Ledger* ledger) {
  WriterProcess process(folder, durability, *ledger);
  for (uint64_t i = 0; i < acknowledgements; ++i) {
    ASSERT_TRUE(process.Listen(ledger)) << "the writer ended by itself";
  }
  process.Kill();
  while (process.Listen(ledger)) {
  }
  ASSERT_EQ(process.Wait(), SIGKILL);
}

// The processor time that this process has used. Unlike the elapsed time, it does not depend on the
// load of the machine.
std::chrono::milliseconds ProcessorTime() {
  rusage used{};
  CHECK(getrusage(RUSAGE_SELF, &used) == 0);
  const auto length = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return std::chrono::duration_cast<std::chrono::milliseconds>(length(used.ru_utime) +
                                                               length(used.ru_stime));
}

class KillTest : public ::testing::TestWithParam<const char*> {
 protected:
  // Opens the folder of the killed process.
  std::unique_ptr<EmbeddedTables> Reopen(const std::string& folder) {
    const auto start = ProcessorTime();
    auto tables = EmbeddedTables::Open({.folder = folder, .background = false});
    slowest_ = std::max(slowest_, ProcessorTime() - start);
    if (tables) return std::move(*tables);
    ADD_FAILURE() << tables.error().message;
    return nullptr;
  }

  // Kills processes on one folder, up to kKillsOfAFolder times. Returns how often.
  uint64_t KillOften(uint64_t seed, uint64_t kills) {
    TempFolder temporary;
    const std::string folder = temporary.path() + "/data";
    Ledger ledger(seed, kWriters);
    SeededRandom random(seed);
    {
      auto tables = Reopen(folder);
      EXPECT_TRUE(tables && EnsureTable(*tables));
    }
    uint64_t kill = 0;
    for (; kill < std::min(kills, kKillsOfAFolder) && !HasFailure(); ++kill) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", kill " + std::to_string(kill));
      LetLive(folder, GetParam(), 1 + random.Below(400), &ledger);
      auto tables = Reopen(folder);
      if (!tables) break;
      EXPECT_THAT(ledger.Check(*tables), IsEmpty());
    }
    acknowledged_ += ledger.acknowledged();
    return kill;
  }

  std::chrono::milliseconds slowest_{};  // The slowest reopening, in processor time.
  uint64_t acknowledged_ = 0;
};

// The every-second mode may lose writes only when the machine fails. A kill of the process loses
// nothing, because the writes are in the kernel's cache.
INSTANTIATE_TEST_SUITE_P(Every, KillTest, ::testing::Values("synced", "every_second"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(KillTest, LosesNothingAcknowledged) {
  const uint64_t kills =
      Repetitions("TIDEMARK_KILLS", {.usual = 100, .release = 5'000, .debug = 10});
  for (uint64_t done = 0; done < kills && !HasFailure();) {
    done += KillOften(kSeed + done, kills - done);
  }
  RecordProperty("slowest_reopen_ms", static_cast<int>(slowest_.count()));
  RecordProperty("acknowledged", static_cast<int>(acknowledged_));
}

}  // namespace
}  // namespace tidemark::crash

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == tidemark::crash::kCrashWriterFlag) {
    tidemark::crash::RunCrashWriter({argv + 2, argv + argc});
    return 0;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
