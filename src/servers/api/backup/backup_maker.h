// A BackupMaker copies the stores of a running server into a folder. `programs` implements it,
// because only it knows which stores these are.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace tidemark::api {

enum class BackupPhase { kTables, kObjects, kVerifying };

// How far a backup is. The maker writes it, and any thread may read it.
struct BackupProgress {
  std::atomic<BackupPhase> phase = BackupPhase::kTables;
  std::atomic<uint64_t> objects = 0;       // Copied or, in the last phase, verified.
  std::atomic<uint64_t> object_bytes = 0;  // The same.
  // If another thread sets it, the work ends and fails with kCancelled. May be null.
  const std::atomic<bool>* stop = nullptr;
};

struct BackupReport {
  uint64_t objects = 0;
  uint64_t object_bytes = 0;
  // Objects that were damaged before the backup; the copy does not have them.
  std::vector<std::string> problems;
};

class BackupMaker {
 public:
  virtual ~BackupMaker() = default;

  // Copies all tables and objects into `folder`, which must be missing or empty, and verifies the
  // copy. Blocks until the copy is verified or `progress->stop` is set. The folder appears only
  // when it is complete. For one thread at a time.
  virtual Result<BackupReport> Make(const std::string& folder, BackupProgress* progress) = 0;
};

}  // namespace tidemark::api
