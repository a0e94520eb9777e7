// The archive's routes over a running service, with rows as the front door stores them. Nothing is
// asked of Slack, and no file is fetched.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apps/archive/archive.h"
#include "base/json.h"
#include "tests/archive/store_event.h"
#include "tests/front_door/front_door.h"
#include "tests/support/test_runtime.h"

namespace tidemark::testing {

using http::Method;

inline constexpr char kBase[] = "/api/v1/teams/T1X/channels/C1X";

inline std::string Quote(std::string_view text) {
  std::string json;
  JsonWriter(&json).String(text);
  return json;
}

class ArchiveApiTest : public ::testing::Test {
 protected:
  // `stores` is what the archive keeps of the events.
  explicit ArchiveApiTest(archive::DeletedPolicy policy = {}, archive::ArchiveOptions stores = {})
      : door_([policy](api::ServiceOptions* options) {
          FrontDoor::WithArchive(options);
          options->archive->deleted = policy;
          options->archive->fetch_files = false;
        }),
        archive_(std::move(stores), &door_.tables(), test_.runtime(), &door_.objects()) {}

  // Stores an event as the front door does after it was accepted.
  void Store(const std::string& event) {
    const std::string body = fmt::format(
        R"({{"type":"event_callback","team_id":"T1X","event_id":"Ev1","event_time":1700000000,)"
        R"("event":{}}})",
        event);
    const auto envelope = slack::ParseEnvelope(body);
    ASSERT_TRUE(envelope.has_value()) << body;
    const auto outcome =
        archive::StoreEvent(archive_, door_.tables(), std::get<slack::EventCallback>(*envelope));
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
  }
  void Post(const std::string& ts, const std::string& text, const std::string& more = "",
            const std::string& channel = "C1X") {
    Store(fmt::format(R"({{"type":"message","channel":"{}","channel_type":"channel","user":"U1X",)"
                      R"("ts":"{}","event_ts":"{}","text":{}{}}})",
                      channel, ts, ts, Quote(text), more));
  }
  void PostFile(const std::string& ts, const std::string& name, const std::string& mimetype,
                const std::string& bytes) {
    Post(ts, "with a file",
         fmt::format(R"(,"files":[{{"id":"F1X","name":{},"mimetype":{},"size":{}}}])", Quote(name),
                     Quote(mimetype), bytes.size()));
    ASSERT_TRUE(
        door_.objects().Put({.key = "slack/T1X/C1X/" + ts + "/F1X", .bytes = bytes}).has_value());
  }
  http::Response Get(const std::string& path, http::Headers headers = {},
                     Method method = Method::kGet) {
    headers.Add("Authorization", "Bearer " + door_.token());
    return client_
        .Send({.method = method, .url = door_.url() + path, .headers = std::move(headers)},
              Deadline::After(clock_, std::chrono::seconds(60)))
        .response;
  }
  static std::string Header(const http::Response& response, std::string_view name) {
    return std::string(response.headers.Find(name).value_or(""));
  }
  // A member of the reply's object as JSON; "" when there is none.
  static std::string In(const http::Response& response, std::string_view name) {
    const auto document = JsonDocument::Parse(response.body);
    const auto member = document ? document->root().Find(name) : std::nullopt;
    return member ? ToText(*member) : "";
  }
  // The texts of all messages, page by page.
  std::string Pages(const std::string& path) {
    std::string texts;
    std::string cursor;
    do {
      const http::Response page = Get(path + (cursor.empty() ? "" : "&cursor=" + cursor));
      EXPECT_EQ(page.status, 200) << page.body;
      const auto document = JsonDocument::Parse(page.body);
      for (const Json message : document->root().Find("messages")->Elements()) {
        texts += std::string(*message.Find("text")->AsString()) + " ";
      }
      const auto next = document->root().Find("cursor");
      cursor = next ? std::string(*next->AsString()) : "";
    } while (!cursor.empty());
    return texts;
  }

  FrontDoor door_;
  SystemClock clock_;
  SystemSleeper sleeper_;
  http::CurlClient client_{{}, &clock_, &sleeper_};
  testing::TestRuntime test_;
  archive::Archive archive_;
};

}  // namespace tidemark::testing
