#include "servers/api/archive/import_service.h"

#include <atomic>
#include <charconv>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "base/json_body.h"
#include "http/url.h"
#include "servers/api/archive/import_json.h"
#include "servers/api/json_object.h"
#include "servers/api/respond.h"

namespace tidemark::api {

namespace {

// Events come first: an import beside them may take longer.
constexpr size_t kThreads = 2;

Result<uint64_t> OffsetIn(const http::Request& request) {
  const auto query = TRY(http::ParseQuery(request.query));
  const auto found = query.find("offset");
  uint64_t offset = 0;
  const std::string text = found == query.end() ? "" : found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offset);
  if (query.size() == 1 && error == std::errc() && end == text.data() + text.size()) return offset;
  return Invalid(
      "this needs the parameter offset alone: at which byte of the file the piece begins");
}

Result<std::string> IdIn(const http::RoutedRequest& routed) {
  const std::string& id = routed.parameters.find("id")->second;
  TRY(ImportUploads::CheckId(id));
  return id;
}

}  // namespace

struct ImportService::Job {
  std::string id;
  archive::ImportOptions options;
  std::atomic<bool> stop = false;
  archive::ImportProgress progress = {};
  std::optional<Result<archive::ImportReport>> outcome;  // Under the mutex of the service.

  std::string_view State() const {
    return !outcome ? "running" : outcome->has_value() ? "done" : "failed";
  }
};

ImportService::ImportService(ImportUploadsOptions options, archive::ImportParts parts,
                             const Runtime& runtime)
    : uploads_(std::move(options), &runtime.clock), parts_(parts), logger_(runtime.logger) {}

ImportService::~ImportService() { Stop(); }

void ImportService::AddRoutes(http::Router* router, TokenFile* tokens, WorkerPool* workers) {
  const auto add = [&](http::Method method, std::string pattern, http::RouteHandler handler) {
    router->Add({.method = method,
                 .pattern = std::move(pattern),
                 .handler = WithToken(tokens, RunOn(workers, std::move(handler)))});
  };
  const std::string import = "/api/v1/archive/imports/{id}";
  add(http::Method::kPut, import,
      AnswerJson([this](const http::RoutedRequest& routed) { return Receive(routed); }));
  add(http::Method::kPost, import + "/start",
      AnswerJson([this](const http::RoutedRequest& routed) { return Begin(routed); }));
  add(http::Method::kGet, import,
      AnswerWith([this](const http::RoutedRequest& routed) { return Show(routed); }));
}

Result<std::string> ImportService::Receive(const http::RoutedRequest& routed) {
  const std::string id = TRY(IdIn(routed));
  const uint64_t offset = TRY(OffsetIn(routed.request));
  {
    const std::lock_guard lock(mutex_);
    if (job_ != nullptr && !job_->outcome) {
      return Error{ErrorCode::kInUse,
                   "an export is being imported: wait until that is done, and send this one then"};
    }
  }
  TRY(uploads_.Append(id, offset, routed.request.body));
  return Describe(id).value_or("{}");
}

Result<std::string> ImportService::Begin(const http::RoutedRequest& routed) {
  const std::string id = TRY(IdIn(routed));
  const JsonBody body =
      TRY(JsonBody::Parse(routed.request.body, {"teams", "with_private", "dry_run"}));
  const auto job = std::make_shared<Job>();
  job->id = id;
  if (body.Has("teams")) job->options.teams = TRY(body.Texts("teams"));
  job->options.with_private = TRY(body.BoolOr("with_private", false));
  const bool is_dry_run = TRY(body.BoolOr("dry_run", false));
  job->options.mode = is_dry_run ? archive::ImportMode::kDryRun : archive::ImportMode::kStore;
  job->options.threads = kThreads;
  job->options.is_stopped = [&stop = job->stop] { return stop.load(); };
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return Error{ErrorCode::kUnavailable, "the server is stopping"};
    if (job_ != nullptr && !job_->outcome) {
      return Error{ErrorCode::kInUse, "an export is being imported: wait until that is done"};
    }
    if (!uploads_.SizeOf(id)) return Invalid("nothing of this export was sent: send it first");
    uploads_.Finish(id);
    // The thread of the previous job has ended, or is about to.
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([this, job] { Run(job.get()); });
    job_ = job;
  }
  return Describe(id).value_or("{}");
}

Result<http::Response> ImportService::Show(const http::RoutedRequest& routed) {
  const std::string id = TRY(IdIn(routed));
  auto shown = Describe(id);
  if (!shown) return http::Problem(404, "nothing of this export was sent");
  return http::Json(200, *std::move(shown));
}

std::optional<std::string> ImportService::Describe(const std::string& id) {
  const auto received = uploads_.SizeOf(id);
  const std::lock_guard lock(mutex_);
  const Job* const job = job_ != nullptr && job_->id == id ? job_.get() : nullptr;
  if (job == nullptr && !received) return std::nullopt;
  return ObjectOf([&](JsonWriter* writer) {
    const auto count = [&](std::string_view name, uint64_t value) {
      writer->Key(name);
      writer->Int(static_cast<int64_t>(value));
    };
    writer->Key("id");
    writer->String(id);
    writer->Key("state");
    writer->String(job ? job->State() : "receiving");
    count("received", received.value_or(0));
    if (job == nullptr) return;
    count("files", job->progress.files);
    count("total_files", job->progress.total_files);
    count("messages", job->progress.messages);
    if (!job->outcome) return;
    if (!*job->outcome) {
      writer->Key("error");
      writer->String(job->outcome->error().message);
      return;
    }
    writer->Key("report");
    writer->Raw(ToJson(**job->outcome, job->options.mode));
  });
}

Result<archive::ImportReport> ImportService::Import(Job* job) {
  try {
    if (const Status verified = uploads_.Verify(job->id, job->stop); !verified) {
      // Another try begins with an empty file.
      if (verified.error().code == ErrorCode::kInvalid) uploads_.Remove(job->id);
      return verified.error();
    }
    return archive::ImportExport(uploads_.PathOf(job->id), job->options, parts_, &job->progress);
  } catch (const std::exception& error) {  // It would end the server.
    return Error{ErrorCode::kInternal, fmt::format("the import failed: {}", error.what())};
  }
}

void ImportService::Run(Job* job) {
  logger_.Log(LogLevel::kInfo, "an import begins", {{"id", job->id}});
  Result<archive::ImportReport> outcome = Import(job);
  if (outcome) {
    logger_.Log(LogLevel::kInfo,
                outcome->is_stopped ? "an import was stopped" : "an import is complete",
                {{"id", job->id},
                 {"new", outcome->messages.stored_new},
                 {"updated", outcome->messages.updated},
                 {"problems", outcome->problems}});
  } else {
    logger_.Log(LogLevel::kError, "an import failed",
                {{"id", job->id}, {"error", outcome.error().message}});
  }
  // After a dry run the same file is imported next, and after a stop the rest of it.
  const bool is_used_up =
      outcome && !outcome->is_stopped && job->options.mode == archive::ImportMode::kStore;
  if (is_used_up) uploads_.Remove(job->id);
  const std::lock_guard lock(mutex_);
  job->outcome = std::move(outcome);
}

void ImportService::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    if (job_ != nullptr) job_->stop = true;
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace tidemark::api
