// Housekeeping: filling new indexes and expiry lists, sweeping expired items, trimming streams
// and tokens, syncing in the every-second mode, watching the disk. All of it goes through the
// committer in small steps, so that writers never wait long. After a crash the work continues with
// the next step.
//
// Run starts a thread that works every second, or at once after Poke. Without the thread, RunOnce
// does all work that is due.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/failure_log.h"
#include "base/result.h"
#include "base/runtime.h"
#include "tables/embedded/catalog.h"
#include "tables/embedded/committer.h"
#include "tables/embedded/store.h"

namespace tidemark::embedded {

class Maintenance {
 public:
  Maintenance(Store* store, Catalog* catalog, Committer* committer, const Runtime& runtime,
              EngineMetrics* metrics)
      : store_(store),
        catalog_(catalog),
        committer_(committer),
        runtime_(runtime),
        metrics_(metrics),
        failures_({.level = LogLevel::kError, .work = "housekeeping of the tables"}, runtime) {}
  ~Maintenance() { Stop(); }

  // Does all work that is due and returns when it is complete. One caller at a time.
  Status RunOnce();

  void Run();
  void Stop();  // Waits for the running step.
  void Poke();  // There is something to fill.

 private:
  static constexpr std::chrono::seconds kInterval{1};
  static constexpr std::chrono::seconds kMaxRecoveryPause{64};

  void Loop();
  bool stopping();
  Status Recover();
  Status FillAll();
  Status FillTable(const std::string& table);
  Status SweepItems();
  Status SweepTable(const TablePtr& table);
  Status TrimStreams();
  Status TrimStream(StreamId id);
  Status SweepTokens();

  Store* store_;
  Catalog* catalog_;
  Committer* committer_;
  const Runtime runtime_;
  EngineMetrics* metrics_;
  FailureLog failures_;  // For the thread alone.

  std::mutex running_;
  std::chrono::nanoseconds next_recovery_{0};
  std::chrono::seconds recovery_pause_ = kInterval;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool poked_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tidemark::embedded
