// Housekeeping: filling new indexes and expiry lists, sweeping expired items, trimming streams
// and tokens, syncing in the every-second mode, watching the disk. All of it goes through the
// committer in small steps, so that writers never wait long, and each step can be cut short by a
// crash and taken up again.
//
// Run starts a thread that works every second, or at once when poked; without it, RunOnce does
// all that is due.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "tables/embedded/catalog.h"
#include "tables/embedded/committer.h"
#include "tables/embedded/store.h"

namespace tidemark::embedded {

class Maintenance {
 public:
  // The logger may be null.
  Maintenance(Store* store, Catalog* catalog, Committer* committer, const Clock& clock,
              EngineMetrics* metrics, Logger* logger)
      : store_(store),
        catalog_(catalog),
        committer_(committer),
        clock_(clock),
        metrics_(metrics),
        logger_(logger) {}
  ~Maintenance() { Stop(); }

  // Does everything that is due, to its end. One caller at a time.
  Status RunOnce();

  void Run();
  void Stop();  // Waits for the step under way.
  void Poke();  // There is something to fill.

 private:
  void Loop();
  void Report(const Error& error);
  bool stopping();
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
  const Clock& clock_;
  EngineMetrics* metrics_;
  Logger* logger_;

  std::mutex running_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool poked_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace tidemark::embedded
