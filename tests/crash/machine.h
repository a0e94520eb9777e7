// A machine whose disk fails when the test says so, with a data folder that is opened again and
// again. The clock does not move and housekeeping does not run by itself, so only the test causes
// writes.
//
//   Machine machine(seed);
//   machine.files().Arm(...);
//   auto tables = machine.Open();
//
// Close the tables before Restart, as the end of a process would.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/crash/ledger.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"

namespace tidemark {
// GoogleTest uses this to print errors.
inline void PrintTo(const Error& error, std::ostream* out) {
  *out << ToString(error.code) << ": " << error.message;
}
}  // namespace tidemark

namespace tidemark::crash {

// The disk of these tests is simulated. Its files are kept in a folder in memory, if the machine
// has one, which makes the tests several times faster. A TMPDIR that is already set is not changed.
inline bool KeepTemporaryFilesInMemory() {
  return std::filesystem::is_directory("/dev/shm") && setenv("TMPDIR", "/dev/shm", 0) == 0;
}

class Machine {
 public:
  explicit Machine(uint64_t seed)
      : random_(seed), files_(std::make_shared<FaultFileSystem>(folder_.path(), &random_)) {}

  Random& random() { return random_; }
  FaultFileSystem& files() { return *files_; }
  ManualClock& clock() { return clock_; }
  std::string folder() const { return folder_.path() + "/data"; }
  std::string PathOf(const std::string& name) const { return folder_.path() + "/" + name; }

  embedded::Options options() {
    return {.folder = folder(),
            .background = false,
            .block_cache_bytes = 1 << 20,
            .disk_reserve_bytes = 0,
            .clock = &clock_,
            .random = &random_,
            .file_system = files_};
  }
  Result<std::unique_ptr<embedded::EmbeddedTables>> Open() {
    return embedded::EmbeddedTables::Open(options());
  }

  // Switches the power on and removes all faults.
  void Repair() {
    files_->Disarm();
    files_->SetFreeBytes(std::nullopt);
    files_->Restart();
  }

 private:
  const bool in_memory_ = KeepTemporaryFilesInMemory();
  TempFolder folder_;
  SeededRandom random_;
  ManualClock clock_;
  std::shared_ptr<FaultFileSystem> files_;
};

// Creates the table when it is missing: a crash may have come before its creation.
inline Status EnsureTable(tables::Tables& tables) {
  auto made = tables.CreateTable(TheTable());
  if (!made && made.error().code != ErrorCode::kInUse) return made.error();
  return Done{};
}

// Runs the next operations of the writer, at most `count`, until one fails. Returns that error.
inline std::optional<Error> Work(tables::Tables& tables, Ledger* ledger, uint32_t writer,
                                 uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const auto outcome = Perform(tables, OperationOf(ledger->seed(), writer, ledger->next(writer)));
    if (!outcome) return outcome.error();
    ledger->Acknowledge(writer, *outcome);
  }
  return std::nullopt;
}

}  // namespace tidemark::crash
