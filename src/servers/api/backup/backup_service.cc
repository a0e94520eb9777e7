#include "servers/api/backup/backup_service.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/json_body.h"
#include "servers/api/json_object.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

constexpr size_t kMaxNameLength = 100;

// A name is a part of a path, so it has no slashes and is not hidden. Other programs would take one
// that begins with '-' for an option.
Status CheckName(const std::string& name) {
  const bool is_plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  // A folder with the ending is a backup that is not complete, and the next one removes it.
  const bool is_partial = name.ends_with(".making") || name.ends_with(".restoring");
  const bool is_short = !name.empty() && name.size() <= kMaxNameLength;
  const bool begins_well = !name.starts_with('.') && !name.starts_with('-');
  if (is_plain && is_short && !is_partial && begins_well) return Done{};
  return Invalid(
      fmt::format("'{}' is not the name of a backup: use letters, digits, '-', '_' and '.', such "
                  "as monday, and begin with a letter, a digit or '_'. The name has at most {} "
                  "characters and not the ending .making or .restoring. The server writes the "
                  "backup into its folder of backups (backup.folder)",
                  name, kMaxNameLength));
}

std::string_view ToString(BackupPhase phase) {
  switch (phase) {
    case BackupPhase::kTables:
      return "tables";
    case BackupPhase::kObjects:
      return "objects";
    case BackupPhase::kVerifying:
      return "verifying";
  }
  return "";
}

}  // namespace

struct BackupService::Job {
  std::string name;
  std::string folder;
  std::atomic<bool> stop = false;
  BackupProgress progress = {.stop = &stop};
  std::optional<Result<BackupReport>> outcome;  // Under the mutex of the service.

  std::string ToJson() const {
    return ObjectOf([&](JsonWriter* writer) {
      const bool is_done = outcome && outcome->has_value();
      writer->Key("name");
      writer->String(name);
      writer->Key("folder");
      writer->String(folder);
      writer->Key("state");
      writer->String(!outcome ? "running" : is_done ? "done" : "failed");
      writer->Key("phase");
      writer->String(ToString(progress.phase));
      writer->Key("objects");
      writer->Int(static_cast<int64_t>(is_done ? (*outcome)->objects : progress.objects.load()));
      writer->Key("object_bytes");
      writer->Int(
          static_cast<int64_t>(is_done ? (*outcome)->object_bytes : progress.object_bytes.load()));
      if (outcome && !is_done) {
        writer->Key("error");
        writer->String(outcome->error().message);
      }
      if (!is_done) return;
      writer->Key("problems");
      writer->BeginArray();
      for (const std::string& problem : (*outcome)->problems) writer->String(problem);
      writer->EndArray();
    });
  }
};

BackupService::BackupService(std::string folder, BackupMaker* maker, const Logger& logger)
    : folder_(std::move(folder)), maker_(maker), logger_(logger) {}

BackupService::~BackupService() { Stop(); }

void BackupService::AddRoutes(http::Router* router, TokenFile* tokens) {
  router->Add(
      {.method = http::Method::kPost,
       .pattern = "/api/v1/backups",
       .handler = WithToken(
           tokens, AnswerJson([this](const http::RoutedRequest& routed) -> Result<std::string> {
             const JsonBody body = TRY(JsonBody::Parse(routed.request.body, {"name"}));
             return Begin(TRY(body.Text("name")));
           }))});
  router->Add({.method = http::Method::kGet,
               .pattern = "/api/v1/backups/{name}",
               .handler = WithToken(tokens, [this](const http::RoutedRequest& routed) {
                 const auto shown = Show(routed.parameters.find("name")->second);
                 return shown ? http::Json(200, *shown)
                              : http::Problem(404, "no such backup was made since the start");
               })});
}

Result<std::string> BackupService::Begin(const std::string& name) {
  TRY(CheckName(name));
  if (maker_ == nullptr) {
    return Error{ErrorCode::kUnavailable, "this server has no stores that it can copy"};
  }
  const std::lock_guard lock(mutex_);
  if (stopping_) return Error{ErrorCode::kUnavailable, "the server is stopping"};
  if (job_ != nullptr && !job_->outcome) {
    return Error{
        ErrorCode::kInUse,
        fmt::format("the backup '{}' is being made: wait until it is complete", job_->name)};
  }
  // The thread of the previous job has ended, or is about to.
  if (thread_.joinable()) thread_.join();
  const auto job = std::make_shared<Job>();
  job->name = name;
  job->folder = folder_ + "/" + name;
  thread_ = std::thread([this, job] { Run(job.get()); });
  // After the thread has started: a job without a thread would never end.
  job_ = job;
  return job->ToJson();
}

std::optional<std::string> BackupService::Show(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (job_ == nullptr || job_->name != name) return std::nullopt;
  return job_->ToJson();
}

void BackupService::Run(Job* job) {
  logger_.Log(LogLevel::kInfo, "a backup begins", {{"folder", job->folder}});
  auto outcome = [&]() -> Result<BackupReport> {
    try {
      return maker_->Make(job->folder, &job->progress);
    } catch (const std::exception& error) {  // It would end the server.
      return Error{ErrorCode::kInternal, fmt::format("the backup failed: {}", error.what())};
    }
  }();
  if (outcome) {
    logger_.Log(outcome->problems.empty() ? LogLevel::kInfo : LogLevel::kError,
                "a backup is complete",
                {{"folder", job->folder},
                 {"objects", outcome->objects},
                 {"damaged_objects", outcome->problems.size()}});
  } else {
    logger_.Log(LogLevel::kError, "a backup failed",
                {{"folder", job->folder}, {"error", outcome.error().message}});
  }
  const std::lock_guard lock(mutex_);
  job->outcome = std::move(outcome);
}

void BackupService::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (job_ != nullptr) job_->stop = true;
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace tidemark::api
