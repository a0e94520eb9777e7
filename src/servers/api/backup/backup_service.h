// /api/v1/backups: copies of tables and objects, made while the server serves.
//
//   POST /api/v1/backups         {"name":"monday"} begins a backup
//   GET  /api/v1/backups/{name}  how far it is, and whether it is complete
//
// A backup is a folder of that name in the server's folder of backups (backup.folder). A caller
// names no paths, because a token must not allow writes to other places of the machine. One backup
// is made at a time, on a thread of its own. Only the newest one can be asked about.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/log.h"
#include "base/result.h"
#include "http/router.h"
#include "servers/api/api_tokens.h"
#include "servers/api/backup/backup_maker.h"

namespace tidemark::api {

class BackupService {
 public:
  // Both outlive this. Without a maker, every backup is refused.
  BackupService(std::string folder, BackupMaker* maker, const Logger& logger);
  // Like Stop.
  ~BackupService();

  void AddRoutes(http::Router* router, TokenFile* tokens);
  // Ends a backup that is being made, and waits for that. Its folder does not appear.
  void Stop();

 private:
  struct Job;

  // Both return the JSON that describes the job.
  Result<std::string> Begin(const std::string& name);
  // nullopt when the newest backup has another name.
  std::optional<std::string> Show(const std::string& name);
  void Run(Job* job);

  const std::string folder_;
  BackupMaker* const maker_;
  const Logger& logger_;
  std::mutex mutex_;
  bool stopping_ = false;
  std::shared_ptr<Job> job_;  // The newest; null before the first.
  std::thread thread_;
};

}  // namespace tidemark::api
