// The InboxWorker does the work that takes longer than Slack waits. It follows the stream of the
// inbox, posts each piece of work to a URL, and logs messages whose text was seen before.
//
// The receiver gets POST {"key": …, "kind": …, "file_id": …, "event": the envelope as Slack sent
// it}, and the key also in X-Tidemark-Key. With a secret the request is signed as Slack signs its
// own: X-Tidemark-Signature is "v0=" and the HMAC-SHA-256 of "v0:TIMESTAMP:BODY" in hexadecimal,
// and X-Tidemark-Request-Timestamp is TIMESTAMP, in epoch seconds.
//
// A 2xx completes the work. Work that was not accepted is deferred (deferred_work.h): it is posted
// again after growing waits, and the work after it does not wait. Every status but 408, 429 and
// 503, and every delivery without a whole answer, counts as a failure of the work, and after
// dedup.max-failures of them it is given up, which is logged and counted. 408, 429 and 503 say that
// the receiver is busy, so they do not count. While no connection to the receiver can be made, all
// work waits. After a crash a piece may be posted a second time, with the same key. Work that waits
// for longer than the inbox keeps its events is lost; that is logged and counted.
//
// Step is for one thread; Stop may be called from any. The receiver's URL may contain a secret, so
// messages show only its origin.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apps/dedup/content.h"
#include "apps/dedup/deduplicator.h"
#include "apps/dedup/runner.h"
#include "base/result.h"
#include "base/runtime.h"
#include "base/secret.h"
#include "http/client.h"
#include "servers/api/front_door/deferred_work.h"
#include "slack/event.h"
#include "tables/follower.h"
#include "tables/tables.h"

namespace tidemark::api {

struct InboxWorkerOptions {
  std::string inbox_table = {};
  std::string url = {};                                        // Empty: no work is posted.
  Secret secret = {};                                          // Empty: deliveries are not signed.
  std::chrono::seconds first_wait = std::chrono::seconds(15);  // Before the second try.
  int64_t max_failures = 5;                                    // As the deduplicator has it.
  dedup::WorkOptions work = {};
  std::optional<dedup::ContentOptions> contents = std::nullopt;  // nullopt: no advice.
};

// All outlive the worker.
struct InboxWorkerParts {
  dedup::Deduplicator* dedup = nullptr;
  tables::Tables* tables = nullptr;
  http::Client* client = nullptr;
};

class InboxWorker {
 public:
  InboxWorker(InboxWorkerOptions options, InboxWorkerParts parts, const Runtime& runtime);
  ~InboxWorker();

  // Handles everything that waits in the inbox, and then deferred work that is due. Fails when the
  // receiver cannot be reached, or the store fails; the next step begins with the same piece. Does
  // nothing when neither a URL nor content advice is configured.
  Status Step();

  // A running Step ends after the current delivery, and later calls end at once.
  void Stop() { stopping_ = true; }

 private:
  // How far the work of an event has come.
  struct Progress {
    bool settled = false;   // Nothing of it is left to do.
    bool counted = false;   // A piece failed in a way that counts.
    bool given_up = false;  // A piece has failed too often, now or before.
  };

  Status Open();
  // Whether this worker is the one that delivers.
  Result<bool> Drain();
  Status RetryDue();
  void ReportGap();
  Status Handle(const tables::StreamRecord& record);
  Result<Progress> Work(DeferredEvent event, const std::string& body);
  Result<Progress> HandOut(const slack::EventCallback& callback, const std::string& body);
  Status Conclude(const DeferredEvent& event, const Progress& progress);
  void ReportGivenUp(const std::string& key, std::string_view why);
  Status Deliver(const dedup::Work& work, const std::string& body, bool* away);
  http::Exchange Post(const dedup::Work& work, std::string body);
  void NoteContent(const slack::EventCallback& callback);

  const InboxWorkerOptions options_;
  const InboxWorkerParts parts_;
  const Runtime runtime_;
  const std::string receiver_;  // Its origin, for messages.
  std::atomic<bool> stopping_ = false;
  dedup::WorkRunner runner_;
  std::optional<dedup::Contents> contents_;
  DeferredWork deferred_;
  std::optional<tables::Follower> follower_;
  Counter& delivered_;
  Counter& failed_;
  Counter& given_up_;
  Counter& content_duplicates_;
  Counter& gaps_;
  Gauge& lag_;
};

}  // namespace tidemark::api
