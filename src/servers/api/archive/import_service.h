// /api/v1/archive/imports: imports of exports of Slack while the server serves.
//
//   PUT  /api/v1/archive/imports/{id}?offset=N  a piece of the zip file
//   POST /api/v1/archive/imports/{id}/start     begins the import of what was sent
//   GET  /api/v1/archive/imports/{id}           how much was sent, how far it is, and its report
//
// The id is the SHA-256 hash of the file: see import_uploads.h. One import runs at a time, on
// threads of its own, and few of them, so that events are stored meanwhile. The newest one can be
// asked about. A stopped server keeps the file: sending and starting again goes on with it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "apps/archive/import.h"
#include "base/result.h"
#include "base/runtime.h"
#include "base/worker_pool.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"
#include "servers/api/archive/import_uploads.h"

namespace tidemark::api {

class ImportService {
 public:
  // What the parts refer to outlives this.
  ImportService(ImportUploadsOptions options, archive::ImportParts parts, const Runtime& runtime);
  // Like Stop.
  ~ImportService();

  // The routes run on these workers, because they wait for the disk. They outlive the router.
  void AddRoutes(http::Router* router, TokenFile* tokens, WorkerPool* workers);
  // Ends an import that is running, and waits for that.
  void Stop();

 private:
  struct Job;

  // Each returns the JSON that describes the import.
  Result<std::string> Receive(const http::RoutedRequest& routed);
  Result<std::string> Begin(const http::RoutedRequest& routed);
  Result<http::Response> Show(const http::RoutedRequest& routed);
  // nullopt when there is neither an import nor an upload with this id.
  std::optional<std::string> Describe(const std::string& id);
  void Run(Job* job);
  Result<archive::ImportReport> Import(Job* job);

  ImportUploads uploads_;
  const archive::ImportParts parts_;
  const Logger& logger_;
  std::mutex mutex_;
  bool stopping_ = false;
  std::shared_ptr<Job> job_;  // The newest; null before the first.
  std::thread thread_;
};

}  // namespace tidemark::api
