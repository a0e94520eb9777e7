// The promise under test: an acknowledged write survives the death of the process. A writer
// process is killed again and again; its acknowledgements are kept by this one.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "tests/crash/acknowledgement.h"
#include "tests/crash/machine.h"

namespace tidemark::crash {
namespace {

using embedded::EmbeddedTables;
using ::testing::IsEmpty;

constexpr uint64_t kSeed = 55'001;
constexpr uint32_t kWriters = 8;
constexpr uint64_t kKillsOfAFolder = 25;

// A running crash_writer and the pipe it tells its acknowledgements on.
class WriterProcess {
 public:
  WriterProcess(const std::string& folder, const char* durability, const Ledger& ledger) {
    std::vector<std::string> words = {Program(), folder, durability, std::to_string(ledger.seed())};
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

  // False when the process is gone and has nothing more to tell.
  bool Listen(Ledger* ledger) {
    Acknowledgement told;
    const ssize_t got = read(pipe_, &told, sizeof(told));
    if (got != sizeof(told)) return false;
    ledger->Acknowledge(told.writer, {.applied = told.applied != 0, .count = told.count});
    return true;
  }
  void Kill() const { kill(id_, SIGKILL); }
  // The signal it died of; 0 when it ended by itself.
  int Wait() const {
    int status = 0;
    CHECK(waitpid(id_, &status, 0) == id_);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  static std::string Program() {
    return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "crash_writer")
        .string();
  }

  pid_t id_ = 0;
  int pipe_ = -1;
};

// Lets a writer process live for `acknowledgements`, kills it, and hears its last words.
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

class KillTest : public ::testing::TestWithParam<const char*> {
 protected:
  // Opens what the killed process left behind.
  std::unique_ptr<EmbeddedTables> Reopen(const std::string& folder) {
    const auto start = std::chrono::steady_clock::now();
    auto tables = EmbeddedTables::Open({.folder = folder, .background = false});
    slowest_ = std::max(slowest_, std::chrono::steady_clock::now() - start);
    if (tables) return std::move(*tables);
    ADD_FAILURE() << tables.error().message;
    return nullptr;
  }

  // Kills a process of one folder up to kKillsOfAFolder times; how often.
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

  std::chrono::steady_clock::duration slowest_{};
  uint64_t acknowledged_ = 0;
};

// The relaxed mode is for the machine's death: the death of the process costs nothing there
// either, since what was written is in the machine's cache.
INSTANTIATE_TEST_SUITE_P(Every, KillTest, ::testing::Values("synced", "every_second"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(KillTest, LosesNothingAcknowledged) {
  const uint64_t kills = Repetitions("TIDEMARK_KILLS", 100, 5'000);
  for (uint64_t done = 0; done < kills && !HasFailure();) {
    done += KillOften(kSeed + done, kills - done);
  }
  const auto slowest_ms = std::chrono::duration_cast<std::chrono::milliseconds>(slowest_).count();
  RecordProperty("slowest_reopen_ms", static_cast<int>(slowest_ms));
  RecordProperty("acknowledged", static_cast<int>(acknowledged_));
  EXPECT_LT(slowest_ms, 5'000) << "opening after a kill takes too long";
}

}  // namespace
}  // namespace tidemark::crash
