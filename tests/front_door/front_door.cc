#include "tests/front_door/front_door.h"

#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/json.h"
#include "objects/directory/directory_objects.h"
#include "objects/directory/folder_watcher.h"
#include "servers/api/api_tokens.h"
#include "slack/signature.h"

namespace tidemark::testing {

namespace {

constexpr std::chrono::seconds kFrontDoorPatience(30);

}  // namespace

class LogCapture::Buffer : public std::streambuf {
 public:
  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 protected:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    const std::lock_guard lock(mutex_);
    text_.append(bytes, static_cast<size_t>(count));
    return count;
  }
  int_type overflow(int_type c) override {
    const char byte = traits_type::to_char_type(c);
    xsputn(&byte, 1);
    return c;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

LogCapture::LogCapture() : std::ostream(nullptr), buffer_(std::make_unique<Buffer>()) {
  rdbuf(buffer_.get());
}
LogCapture::~LogCapture() = default;
std::string LogCapture::text() const { return buffer_->text(); }

FrontDoor::FrontDoor(const Adjust& adjust, Surroundings surroundings)
    : clock_(surroundings.clock                 ? *surroundings.clock
             : surroundings.time == Time::kReal ? static_cast<const Clock&>(system_clock_)
                                                : manual_clock_),
      sleeper_(surroundings.sleeper               ? *surroundings.sleeper
               : surroundings.time == Time::kReal ? static_cast<Sleeper&>(system_sleeper_)
                                                  : manual_sleeper_) {
  surroundings.slack.bot_token = Secret(std::string(kBotToken));
  slack_ =
      demo::PretendSlack::Start(std::move(surroundings.slack), std::move(surroundings.workspace),
                                {.clock = &clock_, .random = &random_})
          .value();
  tables_ = embedded::EmbeddedTables::Open(
                {.folder = folder_.path() + "/data", .background = false, .metrics = &metrics_})
                .value();
  faulty_.emplace(tables_.get());
  objects_ = directory::DirectoryObjects::Open(objects_folder(), clock_, random_).value();
  faulty_objects_.emplace(objects_.get());
  api::ServiceOptions options;
  options.server = {.listen = "127.0.0.1:0", .loops = 2};
  options.workers = 32;
  options.tokens_file = folder_.path() + "/tokens";
  options.signing_secrets.push_back(
      {.id = "signing-secret", .value = Secret(std::string(kSigningSecret))});
  options.bot_token = Secret(std::string(kBotToken));
  options.work.own_bot_id = "B0OWN";
  options.web_api.url = slack_->api_url();
  options.background = false;
  adjust(&options);
  if (options.archive) {
    options.archive->files.spool = folder_.path() + "/spool";
    options.archive->download.origins.push_back("http://" + slack_->address());
  }
  if (options.documents) {
    watcher_ = directory::FolderWatcher::Open(
                   {.folder = objects_folder(), .prefix = options.documents->prefix})
                   .value();
  }
  token_ = api::CreateToken(options.tokens_file, "test", clock_, random_).value();
  service_ = api::Service::Start(std::move(options), {.tables = &*faulty_,
                                                      .objects = &*faulty_objects_,
                                                      .watcher = watcher_.get(),
                                                      .client = &client_,
                                                      .runtime = {.clock = clock_,
                                                                  .random = random_,
                                                                  .sleeper = sleeper_,
                                                                  .logger = logger_,
                                                                  .metrics = metrics_}})
                 .value();
  url_ = "http://" + service_->address();
}

FrontDoor::~FrontDoor() {
  slack_->Release();
  service_->Stop(std::chrono::milliseconds(0));
}

http::Headers FrontDoor::SignedHeaders(std::string_view body, const Signing& signing) const {
  const EpochSeconds signed_at = signing.timestamp.value_or(clock_.NowSeconds());
  const std::string timestamp =
      signing.timestamp_text.value_or(std::to_string(signed_at + signing.offset));
  http::Headers headers = signing.more;
  headers.Add("Content-Type", "application/json");
  if (!signing.without_timestamp) headers.Add(std::string(slack::kTimestampHeader), timestamp);
  if (!signing.without_signature) {
    const Secret secret(std::string(signing.secret.value_or(kSigningSecret)));
    headers.Add(std::string(slack::kSignatureHeader),
                slack::Sign(secret, timestamp, signing.signed_body.value_or(std::string(body))));
  }
  return headers;
}

http::Response FrontDoor::Send(std::string_view body, const Signing& signing) {
  const http::OutgoingRequest request{.method = http::Method::kPost,
                                      .url = url_ + "/slack/events",
                                      .headers = SignedHeaders(body, signing),
                                      .body = std::string(body),
                                      .timeout = kFrontDoorPatience};
  return client_.Send(request, Deadline::After(clock_, kFrontDoorPatience)).response;
}

http::Response FrontDoor::Call(http::Method method, const std::string& path, std::string body,
                               const http::Headers& more) {
  http::Headers headers = more;
  headers.Add("Authorization", "Bearer " + token_);
  return client_
      .Send({.method = method,
             .url = url_ + path,
             .headers = std::move(headers),
             .body = std::move(body),
             .timeout = kFrontDoorPatience},
            Deadline::After(clock_, kFrontDoorPatience))
      .response;
}

http::Response FrontDoor::CallAs(const std::string& token, const std::string& path) {
  return client_
      .Send({.method = http::Method::kGet,
             .url = url_ + path,
             .headers = {{"Authorization", "Bearer " + token}},
             .timeout = kFrontDoorPatience},
            Deadline::After(clock_, kFrontDoorPatience))
      .response;
}

http::Response FrontDoor::CallWithoutToken(http::Method method, const std::string& path) {
  return client_
      .Send({.method = method, .url = url_ + path, .timeout = kFrontDoorPatience},
            Deadline::After(clock_, kFrontDoorPatience))
      .response;
}

FrontDoor::Ids FrontDoor::real_ids() const {
  const demo::Workspace workspace = demo::MakeWorkspace({});
  Ids ids{.team = workspace.team.id};
  for (const demo::User& user : workspace.users) {
    if (!user.deactivated && user.bot_id.empty() && user.id != demo::kSlackbot) ids.user = user.id;
  }
  for (const demo::Channel& channel : workspace.channels) {
    if (!channel.archived && channel.kind == demo::ChannelKind::kPublic) ids.channel = channel.id;
  }
  return ids;
}

std::string FrontDoor::Message(const std::string& event_id, const Ids& ids, std::string_view more) {
  const bool has_type = more.find("channel_type") != std::string_view::npos;
  return fmt::format(
      R"({{"type":"event_callback","team_id":"{0}","api_app_id":"A1","event_id":"{3}",)"
      R"("event_time":1700000000,"event":{{"type":"message","user":"{1}","channel":"{2}",)"
      R"("ts":"1700000000.000100","event_ts":"1700000000.000100","text":"hello"{4}{5}}}}})",
      ids.team, ids.user, ids.channel, event_id, has_type ? "" : R"(,"channel_type":"channel")",
      more);
}

std::string FrontDoor::Callback(const std::string& event_id, const Ids& ids,
                                std::string_view event) {
  return fmt::format(
      R"({{"type":"event_callback","team_id":"{}","api_app_id":"A1","event_id":"{}",)"
      R"("event_time":1700000000,"event":{}}})",
      ids.team, event_id, event);
}

size_t FrontDoor::CountOf(const std::string& table) {
  return tables_->Scan({.table = table, .consistent = true}).value().items.size();
}
std::vector<item::Item> FrontDoor::Archived() {
  return tables_->Scan({.table = "SlackArchive", .consistent = true}).value().items;
}
size_t FrontDoor::InboxSize() { return CountOf("tidemark-inbox"); }
size_t FrontDoor::QuarantineSize() { return CountOf("tidemark-quarantine"); }

double FrontDoor::CounterOf(const std::string& line) {
  const std::string text = "\n" + metrics_.Expose();
  const size_t start = text.find("\n" + line + " ");
  CHECK(start != std::string::npos);
  return std::stod(text.substr(start + line.size() + 2));
}

}  // namespace tidemark::testing
