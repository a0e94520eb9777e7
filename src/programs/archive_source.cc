#include "programs/archive_source.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.h"
#include "base/secret.h"
#include "base/sleeper.h"
#include "base/worker_pool.h"
#include "http/client.h"
#include "http/router.h"
#include "http/url.h"
#include "programs/archive_folder.h"
#include "servers/api/archive_routes.h"
#include "slack/ids.h"

namespace tidemark::programs {

namespace {

constexpr std::chrono::seconds kTimeout(60);
constexpr std::chrono::hours kDownloadTimeout(6);
constexpr size_t kPieceBytes = 1 << 20;
constexpr const char* kTokenVariable = "TIDEMARK_API_TOKEN";
constexpr size_t kMaxNamedChannels = 10;

// ---- In this process ----

class FolderSource final : public ArchiveSource {
 public:
  FolderSource(std::unique_ptr<ArchiveFolder> folder, objects::Objects* objects)
      : folder_(std::move(folder)), router_(&workers_, nullptr) {
    api::AddArchiveRoutes(&router_,
                          {.reader = &folder_->reader(),
                           .index = &folder_->index(),
                           .ledger = &folder_->ledger(),
                           .state = &folder_->state(),
                           .objects = objects,
                           .tables = &folder_->tables(),
                           .table = folder_->options().archive.table,
                           .clock = &folder_->clock()},
                          nullptr);
  }
  ~FolderSource() override { workers_.Stop(); }

 private:
  Result<http::Response> Ask(const std::string& path, const Take& take) override {
    const size_t mark = path.find('?');
    http::Request request{.path = path.substr(0, mark)};
    if (mark != std::string::npos) request.query = path.substr(mark + 1);
    auto answer = std::make_shared<std::promise<http::Response>>();
    router_.Handle(std::move(request),
                   [answer](http::Response response) { answer->set_value(std::move(response)); });
    http::Response response = answer->get_future().get();
    if (take != nullptr && response.status == 200) TRY(Hand(response, take));
    return response;
  }

  static Status Hand(const http::Response& response, const Take& take) {
    if (!response.source) return take(response.body);
    for (uint64_t at = 0; at < response.source_size; at += kPieceBytes) {
      const auto size = std::min<uint64_t>(kPieceBytes, response.source_size - at);
      const std::string piece = TRY(response.source->Read(at, size));
      TRY(take(piece));
    }
    return Done{};
  }

  std::unique_ptr<ArchiveFolder> folder_;
  WorkerPool workers_{{.threads = 1, .max_waiting = 1}};
  http::Router router_;
};

// ---- At a server ----

class ServerSource final : public ArchiveSource {
 public:
  ServerSource(std::string server, Secret token)
      : server_(std::move(server)), token_(std::move(token)) {}

 private:
  Result<http::Response> Ask(const std::string& path, const Take& take) override {
    http::OutgoingRequest request{
        .url = server_ + path,
        .headers = {{"Authorization", fmt::format("Bearer {}", token_.Reveal())}},
        .timeout = take ? std::chrono::milliseconds(kDownloadTimeout) : kTimeout};
    Status taken = Done{};
    if (take != nullptr) {
      request.sink = [&](std::string_view piece) {
        if (taken) taken = take(piece);
        return taken.has_value();
      };
    }
    const auto deadline = Deadline::After(clock_, request.timeout);
    http::Exchange exchange = client_.Send(request, deadline);
    if (!taken) return std::move(taken).error();
    if (exchange.outcome == http::Outcome::kAnswered) return std::move(exchange.response);
    return Error{ErrorCode::kUnavailable,
                 fmt::format("no answer from {}: {}", server_, exchange.detail)};
  }

  const std::string server_;
  const Secret token_;
  SystemClock clock_;
  SystemSleeper sleeper_;
  http::CurlClient client_{{}, &clock_, &sleeper_};
};

Result<Secret> ReadToken(const std::optional<std::string>& file) {
  std::string text;
  if (file) {
    std::ifstream stream(*file);
    if (!(stream >> text)) {
      return Invalid(fmt::format("there is no token in '{}'", *file));
    }
  } else if (const char* variable = std::getenv(kTokenVariable)) {
    text = variable;
  }
  if (text.empty()) {
    return Invalid(fmt::format(
        "a server asks for a token: name a file that has one with --token-file, or set {} "
        "('tidemark token create NAME' makes one)",
        kTokenVariable));
  }
  return Secret(std::move(text));
}

// What a problem says, as an error with the code by which the program ends.
Error ToError(const http::Response& response, const std::string& path) {
  std::string detail;
  if (const auto problem = JsonDocument::Parse(response.body)) {
    const auto text = problem->root().Find("detail");
    if (text) detail = text->AsString().value_or("");
  }
  const bool is_callers = response.status == 400 || response.status == 404;
  const ErrorCode code = is_callers               ? ErrorCode::kInvalid
                         : response.status == 401 ? ErrorCode::kDenied
                                                  : ErrorCode::kUnavailable;
  if (detail.empty()) detail = fmt::format("{} for {}", http::StatusText(response.status), path);
  return {code, detail};
}

}  // namespace

Result<std::unique_ptr<ArchiveSource>> ArchiveSource::Open(const SourceOptions& options) {
  if (options.server) {
    std::string server = *options.server;
    while (!server.empty() && server.back() == '/') server.pop_back();
    Secret token = TRY(ReadToken(options.token_file));
    return std::unique_ptr<ArchiveSource>(
        std::make_unique<ServerSource>(std::move(server), std::move(token)));
  }
  auto folder = TRY(ArchiveFolder::Open(options.folder, Use::kRead));
  objects::Objects* const objects = TRY(folder->OpenFiles());
  return std::unique_ptr<ArchiveSource>(std::make_unique<FolderSource>(std::move(folder), objects));
}

Result<std::optional<JsonDocument>> ArchiveSource::Get(const std::string& path) {
  const http::Response response = TRY(Ask(path, nullptr));
  if (response.status == 404) return std::optional<JsonDocument>();
  if (response.status != 200) return ToError(response, path);
  auto document = JsonDocument::Parse(response.body);
  if (!document) {
    return Error{ErrorCode::kUnavailable, fmt::format("what answers at {} is no Tidemark: {}", path,
                                                      document.error().message)};
  }
  return std::optional<JsonDocument>(*std::move(document));
}

Result<JsonDocument> ArchiveSource::Need(const std::string& path) {
  std::optional<JsonDocument> document = TRY(Get(path));
  if (document) return *std::move(document);
  return Invalid(
      fmt::format("there is nothing at {}: is it Tidemark, with its archive enabled?", path));
}

Result<bool> ArchiveSource::Read(const std::string& path, const Take& take) {
  const http::Response response = TRY(Ask(path, take));
  if (response.status == 404) return false;
  if (response.status != 200) return ToError(response, path);
  return true;
}

Result<std::string> TeamPath(ArchiveSource& source, const SourceOptions& options) {
  std::string team;
  if (options.team) {
    team = TRY(slack::TeamId::Parse(*options.team)).text();
  } else {
    const JsonDocument answer = TRY(source.Need("/api/v1/teams"));
    std::vector<std::string> teams;
    if (const auto list = answer.root().Find("teams")) {
      for (const Json one : list->Elements()) teams.emplace_back(one.AsString().value_or(""));
    }
    if (teams.empty()) {
      return Error{ErrorCode::kNotFound, "the archive is empty: it has no team yet"};
    }
    if (teams.size() > 1) {
      return Invalid(fmt::format("the archive has several teams: choose one with --team: {}",
                                 fmt::join(teams, ", ")));
    }
    team = teams.front();
  }
  return "/api/v1/teams/" + team;
}

namespace {

// The ids of the channels of this name, by the index.
Result<std::vector<std::string>> FindByName(ArchiveSource& source, const std::string& team_path,
                                            const std::string& name) {
  std::vector<std::string> ids;
  std::string cursor;
  do {
    const JsonDocument page = TRY(
        source.Need(fmt::format("{}/channel-index?limit=1000{}", team_path,
                                cursor.empty() ? "" : "&cursor=" + http::PercentEncode(cursor))));
    if (const auto channels = page.root().Find("channels")) {
      for (const auto& [id, value] : channels->Members()) {
        if (value.AsString() == name) ids.emplace_back(id);
      }
    }
    const auto next = page.root().Find("cursor");
    cursor = next ? next->AsString().value_or("") : "";
  } while (!cursor.empty());
  return ids;
}

}  // namespace

Result<std::string> ChannelPath(ArchiveSource& source, const SourceOptions& options,
                                const std::string& channel) {
  const std::string team_path = TRY(TeamPath(source, options));
  if (slack::ChannelId::Parse(channel)) return fmt::format("{}/channels/{}", team_path, channel);
  const std::string name = channel.starts_with('#') ? channel.substr(1) : channel;
  std::vector<std::string> ids = TRY(FindByName(source, team_path, name));
  if (ids.empty()) {
    return Error{
        ErrorCode::kNotFound,
        fmt::format("no channel is called '{}': 'tidemark archive channels' lists them", name)};
  }
  if (ids.size() > 1) {
    const size_t count = ids.size();
    ids.resize(std::min(count, kMaxNamedChannels));
    return Invalid(fmt::format("{} channels are called '{}': give the id of one: {}", count, name,
                               fmt::join(ids, ", ")));
  }
  return fmt::format("{}/channels/{}", team_path, ids.front());
}

}  // namespace tidemark::programs
