// The whole front door in the process of a test: the service over the embedded tables in a
// temporary folder, a pretend Slack on loopback, and a client. Sockets and files are real. The
// pretend Slack is stricter than Slack.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/sleeper.h"
#include "http/client.h"
#include "objects/objects.h"
#include "objects/watcher.h"
#include "servers/api/service.h"
#include "servers/demo/pretend_slack.h"
#include "tables/embedded/embedded_tables.h"
#include "tests/support/faulty_objects.h"
#include "tests/support/faulty_tables.h"
#include "tests/support/manual_time.h"
#include "tests/support/temp_folder.h"

namespace tidemark::testing {

// A log that may be read while other threads write to it.
class LogCapture : public std::ostream {
 public:
  LogCapture();
  ~LogCapture() override;
  std::string text() const;

 private:
  class Buffer;
  std::unique_ptr<Buffer> buffer_;
};

class FrontDoor {
 public:
  static constexpr const char* kSigningSecret = "0123456789abcdef0123456789abcdef";
  static constexpr const char* kBotToken = "xoxb-of-the-tests";
  // Far longer than an answer takes on a busy machine, and shorter than the client waits. Only a
  // test that fails waits so long.
  static constexpr std::chrono::seconds kLongEnough{20};

  // For the constructor: turns the archive on. Its files come from the pretend Slack.
  static void WithArchive(api::ServiceOptions* options) {
    options->archive.emplace();
    options->archive->files.first_wait = std::chrono::seconds(0);
  }

  // For the constructor: turns attempts on, with a key for e-mail addresses.
  static void WithAttempts(api::ServiceOptions* options) {
    options->attempts.emplace();
    options->attempts->email_key = Secret("the key of the tests");
  }
  static void WithDocuments(api::ServiceOptions* options) {
    options->documents.emplace();
    options->documents->limits_calls = false;  // As the program has it by default.
  }
  static void WithEverything(api::ServiceOptions* options) {
    WithArchive(options);
    WithAttempts(options);
    WithDocuments(options);
  }

  // The time of the service: the machine's, or one that only its waits and the test move on.
  enum class Time { kReal, kManual };
  // The Slack behind it, and the time. The default has no limits, and the machine's time.
  struct Surroundings {
    demo::Workspace workspace = demo::MakeWorkspace({});
    demo::PretendSlack::Options slack = {};
    Time time = Time::kReal;
    const Clock* clock = nullptr;  // In place of the one of `time`.
    Sleeper* sleeper = nullptr;
  };

  // Adjusts the options before the service starts.
  using Adjust = std::function<void(api::ServiceOptions*)>;
  explicit FrontDoor(const Adjust& adjust = [](api::ServiceOptions*) {})
      : FrontDoor(adjust, Surroundings{}) {}
  FrontDoor(const Adjust& adjust, Time time) : FrontDoor(adjust, Surroundings{.time = time}) {}
  FrontDoor(const Adjust& adjust, Surroundings surroundings);
  ~FrontDoor();

  // How a request to /slack/events differs from a valid one.
  struct Signing {
    EpochSeconds offset = 0;                                   // Added to the timestamp.
    std::optional<EpochSeconds> timestamp = std::nullopt;      // nullopt: now.
    std::optional<std::string> timestamp_text = std::nullopt;  // When it is not a number.
    std::optional<std::string> secret = std::nullopt;
    bool without_timestamp = false;
    bool without_signature = false;
    http::Headers more = {};
    std::optional<std::string> signed_body = std::nullopt;  // When it is not the one sent.
  };
  http::Response Send(std::string_view body, const Signing& signing);
  http::Response Send(std::string_view body) { return Send(body, {}); }
  // The headers of a valid request to /slack/events with this body.
  http::Headers SignedHeaders(std::string_view body, const Signing& signing) const;

  // A request to the API, with a token.
  http::Response Call(http::Method method, const std::string& path, std::string body = {},
                      const http::Headers& more = {});
  // GET with another token.
  http::Response CallAs(const std::string& token, const std::string& path);
  http::Response CallWithoutToken(http::Method method, const std::string& path);

  // {"type":"event_callback", …}: a message with these ids, in a public channel unless `more` has
  // another channel_type.
  struct Ids {
    std::string team;
    std::string user;
    std::string channel;
  };
  Ids real_ids() const;
  static std::string Message(const std::string& event_id, const Ids& ids,
                             std::string_view more = "");
  // The same with any inner event.
  static std::string Callback(const std::string& event_id, const Ids& ids, std::string_view event);

  // How many events the inbox and the quarantine hold.
  size_t InboxSize();
  size_t QuarantineSize();
  // The rows of the archive.
  std::vector<item::Item> Archived();

  double CounterOf(const std::string& line);  // "tidemark_events_total{result=\"accepted\"}"

  const std::string& url() const { return url_; }
  const std::string& token() const { return token_; }
  api::Service& service() { return *service_; }
  demo::PretendSlack& slack() { return *slack_; }
  embedded::EmbeddedTables& tables() { return *tables_; }
  // The tables as the service sees them, with injected faults.
  FaultyTables& faults() { return *faulty_; }
  objects::Objects& objects() { return *objects_; }
  // The objects as the service sees them, with injected faults.
  FaultyObjects& object_faults() { return *faulty_objects_; }
  // Where its files are.
  std::string objects_folder() const { return folder_.path() + "/objects"; }
  std::string log() const { return log_.text(); }
  // With Time::kManual.
  ManualClock& manual_clock() { return manual_clock_; }
  const ManualSleeper& manual_sleeper() const { return manual_sleeper_; }
  const Metrics& metrics() const { return metrics_; }

 private:
  size_t CountOf(const std::string& table);

  TempFolder folder_;
  SystemClock system_clock_;
  SystemSleeper system_sleeper_;
  ManualClock manual_clock_{SystemClock().NowSeconds()};
  ManualSleeper manual_sleeper_{&manual_clock_};
  const Clock& clock_;
  Sleeper& sleeper_;
  SystemRandom random_;
  Metrics metrics_;
  LogCapture log_;
  Logger logger_{{.level = LogLevel::kDebug}, clock_, &log_};
  http::CurlClient client_{{}, &clock_, &sleeper_};
  std::unique_ptr<demo::PretendSlack> slack_;
  std::unique_ptr<embedded::EmbeddedTables> tables_;
  std::optional<FaultyTables> faulty_;
  std::unique_ptr<objects::Objects> objects_;
  std::optional<FaultyObjects> faulty_objects_;
  std::unique_ptr<objects::Watcher> watcher_;
  std::unique_ptr<api::Service> service_;
  std::string token_;
  std::string url_;
};

}  // namespace tidemark::testing
