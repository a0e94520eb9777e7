#include "apps/documents/notification.h"

#include <gtest/gtest.h>

namespace tidemark::documents {
namespace {

// As AWS documents it.
TEST(NotificationTest, ReadsWhatAwsSends) {
  const auto notification = ParseNotification(R"({"Records":[{"eventVersion":"2.1",
      "eventSource":"aws:s3","awsRegion":"us-west-2","eventTime":"1970-01-01T00:00:00.000Z",
      "eventName":"ObjectCreated:Put","userIdentity":{"principalId":"AIDAJDPLRKLG7UEXAMPLE"},
      "s3":{"s3SchemaVersion":"1.0","bucket":{"name":"amzn-s3-demo-bucket"},
            "object":{"key":"HappyFace.jpg","size":1024,
                      "eTag":"d41d8cd98f00b204e9800998ecf8427e",
                      "sequencer":"0055AED6DCD90281E5"}}}]})");
  ASSERT_TRUE(notification.has_value()) << notification.error().message;
  EXPECT_FALSE(notification->is_test);
  ASSERT_EQ(notification->records.size(), 1U);
  const auto& event = notification->records.front().event;
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->change, ChangeOfObject::kWritten);
  EXPECT_EQ(event->name, "ObjectCreated:Put");
  EXPECT_EQ(event->bucket, "amzn-s3-demo-bucket");
  EXPECT_EQ(event->key, "HappyFace.jpg");
  EXPECT_EQ(event->etag, "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(event->principal, "AIDAJDPLRKLG7UEXAMPLE");
}

TEST(NotificationTest, ReadsWhatMinioSends) {
  const auto notification = ParseNotification(R"({"EventName":"s3:ObjectRemoved:Delete",
      "Key":"bucket/archive/a.json","Records":[{"eventSource":"minio:s3",
      "eventName":"s3:ObjectRemoved:Delete","s3":{"bucket":{"name":"bucket"},
      "object":{"key":"archive%2Fa.json","sequencer":"16B1"}}}]})");
  ASSERT_TRUE(notification.has_value()) << notification.error().message;
  const auto& event = notification->records.front().event;
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->change, ChangeOfObject::kDeleted);
  EXPECT_EQ(event->name, "ObjectRemoved:Delete");
  EXPECT_EQ(event->key, "archive/a.json");
}

// A malformed record does not affect the others.
TEST(NotificationTest, SaysWhatIsWrongWithARecord) {
  const auto notification = ParseNotification(R"({"Records":[
      {"eventSource":"aws:ses"}, null,
      {"eventSource":"aws:s3"},
      {"eventSource":"aws:s3","eventName":"ObjectCreated:Put","s3":{"object":{"key":"a"}}},
      {"eventSource":"aws:s3","eventName":"ObjectCreated:Put","s3":{"bucket":{"name":"b"}}},
      {"eventSource":"aws:s3","eventName":"ObjectCreated:Put",
       "s3":{"bucket":{"name":"b"},"object":{"key":"a%4"}}},
      {"eventSource":"aws:s3","eventName":"ObjectCreated:Put",
       "s3":{"bucket":{"name":"b"},"object":{"key":"archive/%FF.json"}}}]})");
  ASSERT_TRUE(notification.has_value());
  ASSERT_EQ(notification->records.size(), 7U);
  for (const NotificationRecord& record : notification->records) {
    EXPECT_FALSE(record.event.has_value());
    EXPECT_FALSE(record.problem.empty());
  }
}

// The key of the only event in it.
std::string OnlyKeyIn(std::string_view json) {
  const auto notification = ParseNotification(json);
  if (!notification) return notification.error().message;
  const bool is_one = notification->records.size() == 1 && notification->records.front().event;
  return is_one ? notification->records.front().event->key : "not one event";
}

// Review: D7
TEST(NotificationTest, OpensTheEnvelopesOfSnsSqsAndEventBridge) {
  const std::string s3 =
      R"({\"Records\":[{\"eventSource\":\"aws:s3\",\"eventName\":\"ObjectCreated:Put\",)"
      R"(\"s3\":{\"bucket\":{\"name\":\"b\"},\"object\":{\"key\":\"archive/a+b.json\"}}}]})";
  EXPECT_EQ(OnlyKeyIn(R"({"Type":"Notification","Message":")" + s3 + R"("})"), "archive/a b.json");
  EXPECT_EQ(OnlyKeyIn(R"({"Records":[{"eventSource":"aws:sqs","body":")" + s3 + R"("}]})"),
            "archive/a b.json");
  EXPECT_EQ(OnlyKeyIn(R"({"Messages":[{"Body":")" + s3 + R"("}]})"), "archive/a b.json");
  EXPECT_EQ(OnlyKeyIn(R"({"source":"aws.s3","detail-type":"Object Deleted","detail":)"
                      R"({"bucket":{"name":"b"},"object":{"key":"archive/a+b.json"}}})"),
            "archive/a+b.json");
}

// Review: D7
TEST(NotificationTest, RefusesWhatItDoesNotUnderstand) {
  for (const char* json :
       {"{}", R"({"Type":"SubscriptionConfirmation"})", R"({"Type":"Notification"})",
        R"({"Messages":[{}]})", R"({"Type":"Notification","Message":"hello"})",
        R"({"source":"aws.ec2","detail-type":"x"})"}) {
    EXPECT_FALSE(ParseNotification(json)) << json;
  }
}

}  // namespace
}  // namespace tidemark::documents
