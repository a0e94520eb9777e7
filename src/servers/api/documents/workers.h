// DocumentsWorkers has the threads on which the routes of documents work. They may wait there for a
// store, for a retry or for each other. No other job uses these threads, so a wait of documents
// makes no other job wait; and reads by id, reads of objects, ranges, writes and upkeep do not make
// each other wait.
//
// May be called from any thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/later.h"
#include "base/worker_pool.h"
#include "http/router.h"

namespace tidemark::api {

class DocumentsWorkers {
 public:
  using Work = std::function<http::Response()>;

  // Each gives kUnavailable when too much is waiting already, and after Stop.
  // A read gives a response, or one that comes later: then it does not wait on its thread.
  template <typename Reading>
  Later<http::Response> Read(Reading work) {
    return reads_.Run(std::move(work));
  }
  // Reads a page of a range. There are few threads for this: a range may read all objects, and a
  // page that is being made is in memory.
  Later<http::Response> Find(Work work) { return ranges_.Run(std::move(work)); }
  // Reads an object and fills the cache, for all readers that wait for it. False: not accepted.
  bool Fill(std::function<void()> work) { return fills_.Submit(std::move(work)); }
  Later<http::Response> Maintain(Work work) { return upkeep_.Run(std::move(work)); }
  // Writes of one document are done one after the other, in the order in which they came. Those
  // that wait hold no thread.
  Later<http::Response> Write(const std::string& id, Work work);

  // Takes no more, and ends the threads when what was taken is done.
  void Stop();

 private:
  struct Waiting {
    Work work;
    Promise<http::Response> promise;
  };

  void Start(const std::string& id, Waiting write);
  // Starts the next write of the document, if there is one.
  void Continue(const std::string& id);

  WorkerPool reads_{{.threads = 16, .max_waiting = 2048}};
  WorkerPool fills_{{.threads = 16, .max_waiting = 2048}};
  WorkerPool ranges_{{.threads = 4, .max_waiting = 2048}};
  WorkerPool upkeep_{{.threads = 4, .max_waiting = 256}};
  WorkerPool writes_{{.threads = 32, .max_waiting = 2048}};
  std::mutex mutex_;
  // By id, as long as a write of the document is under way.
  std::map<std::string, std::deque<Waiting>> turns_;
};

}  // namespace tidemark::api
