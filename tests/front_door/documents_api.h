// The fixture of the tests of documents over HTTP: requests, and what is in their replies.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "http/url.h"
#include "tests/front_door/front_door.h"

namespace tidemark::testing {

inline constexpr const char* kDocumentsPath = "/api/v1/documents";
inline constexpr const char* kCachePath = "/api/v1/document-cache";
inline constexpr const char* kDocumentsTable = "ccoe-customer-contact-manager-cache";

class DocumentsApiTest : public ::testing::Test {
 protected:
  explicit DocumentsApiTest(const FrontDoor::Adjust& adjust = FrontDoor::WithDocuments)
      : door_(adjust), now_(SystemClock().NowSeconds()) {}

  static std::string Of(const std::string& id) { return fmt::format("{}/{}", kDocumentsPath, id); }
  // With a space that would be lost if the JSON were parsed and written again.
  std::string Change(const std::string& id, const std::string& status = "submitted",
                     int seconds_ago = 60, const std::string& customers = R"("hts")") const {
    return fmt::format(R"({{"object_type":"change", "changeId":"{}","changeTitle":"A change",)"
                       R"("status":"{}","createdAt":{},"customers":[{}]}})",
                       id, status, now_ - seconds_ago, customers);
  }
  std::string Announcement(const std::string& id) const {
    return fmt::format(R"({{"object_type":"announcement_finops","announcement_id":"{}",)"
                       R"("title":"News","status":"approved","created_at":{},)"
                       R"("customers":["cds"]}})",
                       id, now_ - 30);
  }
  http::Response Put(const std::string& id, const std::string& body,
                     const http::Headers& more = {}) {
    return door_.Call(http::Method::kPut, Of(id), body, more);
  }
  http::Response Get(const std::string& rest) {
    return door_.Call(http::Method::kGet, kDocumentsPath + rest);
  }
  http::Response Delete(const std::string& id) { return door_.Call(http::Method::kDelete, Of(id)); }
  http::Response Tell(const std::string& notification) {
    return door_.Call(http::Method::kPost, "/api/v1/documents/events", notification);
  }

  // Runs to the end over all documents, with this query. Returns the last reply.
  http::Response RunAll(const std::string& run, const std::string& query) {
    const std::string path = fmt::format("{}/{}?{}", kCachePath, run, query);
    http::Response answer = door_.Call(http::Method::kPost, path);
    for (int i = 0; i < 20 && answer.body.find(R"("finished":false)") != std::string::npos; ++i) {
      answer =
          door_.Call(http::Method::kPost,
                     path + "&checkpoint=" + http::PercentEncode(TextIn(answer, "checkpoint")));
    }
    return answer;
  }

  static std::string TextIn(const http::Response& response, std::string_view member) {
    const auto document = JsonDocument::Parse(response.body);
    if (!document) return "no JSON: " + response.body;
    const auto value = document->root().Find(member);
    return value ? std::string(value->AsString().value_or("no text")) : "no member";
  }
  // The ids on a page, in order.
  static std::string IdsIn(const http::Response& response) {
    const auto page = JsonDocument::Parse(response.body);
    const auto documents = page ? page->root().Find("documents") : std::nullopt;
    if (!documents) return "no page: " + response.body;
    std::string ids;
    for (const Json document : documents->Elements()) {
      auto id = document.Find("changeId");
      if (!id) id = document.Find("announcement_id");
      ids += fmt::format("{}{}", ids.empty() ? "" : " ", *id->AsString());
    }
    return ids;
  }
  // Writes the object as another program does, without the cache.
  void Upload(const std::string& id, const std::string& json) {
    ASSERT_TRUE(door_.objects().Put({.key = "archive/" + id + ".json", .bytes = json}));
  }
  static std::string RecordOf(const std::string& event, const std::string& key) {
    return fmt::format(R"({{"eventSource":"aws:s3","eventName":"{}","s3":{{"bucket":)"
                       R"({{"name":"ccoe-change-metadata"}},"object":{{"key":"{}"}}}}}})",
                       event, key);
  }

  FrontDoor door_;
  const EpochSeconds now_;
};

}  // namespace tidemark::testing
