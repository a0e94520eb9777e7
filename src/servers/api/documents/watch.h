// DocumentsWatch keeps the cache up to date with documents that other programs write into the
// folder of objects. At the start it compares all documents, because changes before the start were
// not watched. Afterwards a change that the store's watcher notices is handled like an event from
// S3. When the watcher has missed something, all documents are compared again.
//
// It works on its own thread between Run and Stop. A change that fails because a store is
// unavailable is tried again. A change that can never succeed is dropped with a warning in the log.
// The comparison at the next start finds changes that were not handled when it stopped.
#pragma once

#include <chrono>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "apps/documents/documents.h"
#include "base/runtime.h"
#include "objects/watcher.h"

namespace tidemark::api {

// All outlive the watch.
struct DocumentsWatchParts {
  documents::Documents* documents = nullptr;
  objects::Watcher* watcher = nullptr;  // Null: all documents are compared at the start, no more.
  Runtime runtime;
};

class DocumentsWatch {
 public:
  // `bucket` is the name that events carry.
  DocumentsWatch(std::string bucket, const DocumentsWatchParts& parts);
  ~DocumentsWatch();

  // At most once. When it returns, no row is trusted that was not compared.
  void Run();
  // Waits for the change that is being handled, which ends soon. May be called before Run.
  void Stop();

 private:
  void Work();
  // Waits for news and handles a part of what is due. False when nothing is noticed any more.
  bool Step();
  std::chrono::milliseconds TimeToWait() const;
  Result<objects::News> WaitForNews();
  void Take(objects::News news);
  // From now on no row is trusted that was not compared.
  void MakeAllDue();
  void ApplyBatch();
  void CompareAll();
  void ReportFailure(std::string_view message, std::string_view error);
  void PauseRetries();

  const std::string bucket_;
  const DocumentsWatchParts parts_;
  Counter& changes_;
  Counter& failures_;
  Counter& overflows_;

  // Used by the thread only.
  std::set<std::string> due_;
  std::set<std::string> failed_;  // To be tried again when the pause is over.
  bool all_due_ = true;
  std::chrono::nanoseconds paused_until_{0};

  std::stop_source stopped_;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace tidemark::api
