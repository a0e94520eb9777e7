// DocumentsWatch keeps the cache in step with documents that other programs write straight into
// the object store: what the store's watcher notices goes the way of an event from S3. When the
// watcher has missed something, fsck goes over all documents.
//
// It works on a thread of its own, between Run and Stop. What fails because a store is away is
// tried again; what can never succeed is dropped with a line in the log.
#pragma once

#include <chrono>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "apps/documents/documents.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "objects/watcher.h"

namespace tidemark::api {

// All outlive the watch; logger and metrics may be null.
struct DocumentsWatchParts {
  documents::Documents* documents = nullptr;
  objects::Watcher* watcher = nullptr;
  const Clock* clock = nullptr;
  const Logger* logger = nullptr;
  Metrics* metrics = nullptr;
};

class DocumentsWatch {
 public:
  // Of documents in this bucket.
  DocumentsWatch(std::string bucket, const DocumentsWatchParts& parts);
  ~DocumentsWatch();

  // At most once.
  void Run();
  // Waits for what is under way, which gives up soon. Also before Run.
  void Stop();

 private:
  void Work();
  std::chrono::milliseconds Patience() const;
  void Take(objects::News news);
  void CarryOver();
  void LookAtAll();
  void Fail(std::string_view message, std::string_view error);
  // Until then what failed rests.
  void Rest();

  const std::string bucket_;
  const DocumentsWatchParts parts_;
  Counter* changes_ = nullptr;
  Counter* failures_ = nullptr;
  Counter* overflows_ = nullptr;

  // Of the thread.
  std::set<std::string> due_;
  std::set<std::string> failed_;  // To be tried again.
  bool all_due_ = false;
  std::string checked_to_;  // How far the look at all has come.
  std::chrono::nanoseconds rests_until_{0};

  std::stop_source stopped_;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace tidemark::api
