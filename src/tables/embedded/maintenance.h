// Housekeeping: filling new indexes and expiry lists, sweeping expired items, trimming streams
// and tokens. All of it goes through the committer in small steps, so that writers never wait long.
// After a crash the work continues with the next step.
//
// Beside it, the watch: it syncs in the every-second mode, checks the free space, and opens the
// store again after a full disk. Housekeeping may take minutes. So the watch has a thread of its
// own, and is never late.
//
// Run starts both threads, which work every second. Without them, RunOnce does all work that is
// due.
#pragma once

#include <chrono>
#include <mutex>
#include <span>
#include <string>

#include "base/failure_log.h"
#include "base/result.h"
#include "base/runtime.h"
#include "tables/embedded/catalog.h"
#include "tables/embedded/committer.h"
#include "tables/embedded/store.h"
#include "tables/embedded/ticker.h"

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
        watch_failures_({.level = LogLevel::kError, .work = "the watch over the tables"}, runtime),
        failures_({.level = LogLevel::kError, .work = "housekeeping of the tables"}, runtime) {}
  ~Maintenance() { Stop(); }

  // Does all work that is due and returns when it is complete.
  Status RunOnce();

  void Run();
  void Stop();                           // Waits for the running step.
  void Poke() { housekeeping_.Poke(); }  // There is something to fill.

 private:
  static constexpr std::chrono::seconds kFirstRecoveryPause{1};
  static constexpr std::chrono::seconds kMaxRecoveryPause{64};

  Status Watch();
  Status KeepHouse();
  void Note(const Status& outcome, FailureLog* failures);
  bool stopping() const { return housekeeping_.stopping(); }
  Status Recover();
  Status FillAll();
  Status FillTable(const std::string& table);
  Status SweepItems();
  Status SweepTable(const TablePtr& table);
  Status SweepFrom(EpochSeconds start, EpochSeconds now, const TablePtr& table);
  Status SweepRows(const TablePtr& table, std::span<const std::string> row_keys);
  Status TrimStreams();
  Status TrimStream(StreamId id);
  Status SweepTokens();

  Store* store_;
  Catalog* catalog_;
  Committer* committer_;
  const Runtime runtime_;
  EngineMetrics* metrics_;
  FailureLog watch_failures_;  // For the thread of the watch alone.
  FailureLog failures_;        // For the thread of housekeeping alone.

  std::mutex watching_;
  std::chrono::nanoseconds next_recovery_{0};
  std::chrono::seconds recovery_pause_ = kFirstRecoveryPause;
  std::mutex keeping_house_;
  std::chrono::nanoseconds next_token_sweep_{0};
  Ticker watch_;
  Ticker housekeeping_;
};

}  // namespace tidemark::embedded
