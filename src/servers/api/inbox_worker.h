// The InboxWorker does what takes longer than Slack waits. It follows the inbox's stream, hands
// each piece of work to a URL, once, and reports messages whose text was seen before.
//
// The receiver gets POST {"key": …, "kind": …, "file_id": …, "event": the envelope as Slack sent
// it}, with the key in X-Tidemark-Key as well; a 2xx completes the work. Any 4xx but 408 and 429
// counts as a failure, and dedup.max-failures of them end it. While the receiver is away nothing
// counts: the work waits, and all behind it. After a crash a piece may be handed over a second
// time, under the same key. What waits for longer than the inbox keeps its changes is lost, which
// is logged and counted.
//
// Step belongs to one thread; Stop may be called from any. The receiver's URL, which may hold a
// secret, goes into no message: its origin stands for it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "apps/dedup/content.h"
#include "apps/dedup/deduplicator.h"
#include "apps/dedup/runner.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/result.h"
#include "http/client.h"
#include "slack/event.h"
#include "tables/follower.h"
#include "tables/tables.h"

namespace tidemark::api {

struct InboxWorkerOptions {
  std::string inbox_table = {};
  std::string url = {};  // Empty: no work is handed out.
  dedup::WorkOptions work = {};
  std::optional<dedup::ContentOptions> contents = std::nullopt;  // nullopt: no advice.
};

// All outlive the worker.
struct InboxWorkerParts {
  dedup::Deduplicator* dedup = nullptr;
  tables::Tables* tables = nullptr;
  http::Client* client = nullptr;
  const Clock* clock = nullptr;
  Random* random = nullptr;
  const Logger* logger = nullptr;
  Metrics* metrics = nullptr;
};

class InboxWorker {
 public:
  InboxWorker(InboxWorkerOptions options, InboxWorkerParts parts);
  ~InboxWorker();

  // Handles all that waits in the inbox. Fails when a piece could not be handed over: it is the
  // first of the next step. Does nothing when there is nothing to do for anybody.
  Status Step();

  // Steps end after the delivery that they are at, now and ever after.
  void Stop() { stopping_ = true; }

 private:
  // Step, once there is a follower.
  Status Drain();
  void TellGap();
  Status Handle(const tables::StreamRecord& record);
  Status HandOut(const slack::EventCallback& callback, const std::string& body);
  Status Deliver(const dedup::Work& work, const std::string& body);
  void Advise(const slack::EventCallback& callback);

  const InboxWorkerOptions options_;
  const InboxWorkerParts parts_;
  const std::string receiver_;  // As messages name it.
  std::atomic<bool> stopping_ = false;
  dedup::WorkRunner runner_;
  std::optional<dedup::Contents> contents_;
  std::optional<tables::Follower> follower_;
  Counter& delivered_;
  Counter& failed_;
  Counter& content_duplicates_;
  Counter& gaps_;
  Gauge& lag_;
};

}  // namespace tidemark::api
