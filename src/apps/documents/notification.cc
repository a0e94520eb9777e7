#include "apps/documents/notification.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/json_members.h"
#include "base/rfc3339.h"
#include "base/utf8.h"

namespace tidemark::documents {

namespace {

std::optional<unsigned> HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A' + 10);
  return std::nullopt;
}

// Decodes a key, which is encoded as forms are. nullopt when a '%' is not followed by two digits.
std::optional<std::string> DecodeKey(std::string_view text) {
  std::string key;
  key.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      key.push_back(text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const auto high = HexDigit(text[i + 1]);
    const auto low = HexDigit(text[i + 2]);
    if (!high || !low) return std::nullopt;
    key.push_back(static_cast<char>(*high * 16 + *low));
    i += 2;
  }
  return key;
}

ChangeOfObject ChangeOf(std::string_view name) {
  if (name.starts_with("ObjectCreated:")) return ChangeOfObject::kWritten;
  if (name.starts_with("ObjectRemoved:") || name.starts_with("LifecycleExpiration:")) {
    return ChangeOfObject::kDeleted;
  }
  return ChangeOfObject::kOther;
}

// "2025-10-17T00:04:16.123Z"; nullopt when it is not a time. A wrong time is not a reason to drop
// an event.
std::optional<std::chrono::milliseconds> ParseTime(std::string_view text) {
  const std::optional<EpochSeconds> seconds = ParseRfc3339(text);
  if (!seconds) return std::nullopt;
  const size_t dot = text.find('.');
  int64_t fraction_ms = 0;
  for (size_t i = 1; i <= 3; ++i) {
    const bool has_digit = dot != std::string_view::npos && dot + i < text.size() &&
                           text[dot + i] >= '0' && text[dot + i] <= '9';
    if (!has_digit) break;
    constexpr std::array<int64_t, 4> kWeights = {0, 100, 10, 1};
    fraction_ms += (text[dot + i] - '0') * kWeights.at(i);
  }
  return std::chrono::seconds(*seconds) + std::chrono::milliseconds(fraction_ms);
}

NotificationRecord Problem(std::string problem) { return {.problem = std::move(problem)}; }

NotificationRecord ParseRecord(Json json) {
  // "aws:s3", "minio:s3", "ceph:s3".
  const std::string source = TextIn(json, "eventSource");
  if (!source.ends_with(":s3")) {
    return Problem(fmt::format("its eventSource is '{}', which is not an object store", source));
  }
  std::string name = TextIn(json, "eventName");
  if (name.starts_with("s3:")) name.erase(0, 3);
  if (name.empty()) return Problem("it has no eventName");
  const MaybeJson s3 = FindIn(json, "s3");
  const MaybeJson object = FindIn(s3, "object");
  std::string bucket = TextIn(FindIn(s3, "bucket"), "name");
  if (bucket.empty()) return Problem("it has no s3.bucket.name");
  std::optional<std::string> key = DecodeKey(TextIn(object, "key"));
  if (!key || !IsUtf8(*key)) return Problem("its s3.object.key is not encoded correctly");
  if (key->empty()) return Problem("it has no s3.object.key");
  ObjectEvent event{.change = ChangeOf(name),
                    .name = std::move(name),
                    .bucket = std::move(bucket),
                    .key = *std::move(key),
                    .etag = TextIn(object, "eTag"),
                    .principal = TextIn(FindIn(json, "userIdentity"), "principalId"),
                    .time = ParseTime(TextIn(json, "eventTime"))};
  return {.event = std::move(event)};
}

// EventBridge: {"source":"aws.s3","detail-type":"Object Created","detail":{…}}. Its key is not
// encoded.
NotificationRecord ParseEventBridge(Json root) {
  const std::string type = TextIn(root, "detail-type");
  const MaybeJson detail = FindIn(root, "detail");
  const MaybeJson object = FindIn(detail, "object");
  ObjectEvent event{.change = type == "Object Created"   ? ChangeOfObject::kWritten
                              : type == "Object Deleted" ? ChangeOfObject::kDeleted
                                                         : ChangeOfObject::kOther,
                    .name = type,
                    .bucket = TextIn(FindIn(detail, "bucket"), "name"),
                    .key = TextIn(object, "key"),
                    .etag = TextIn(object, "etag"),
                    .principal = TextIn(detail, "requester"),
                    .time = ParseTime(TextIn(root, "time"))};
  if (type.empty()) return Problem("it has no detail-type");
  if (event.bucket.empty()) return Problem("it has no detail.bucket.name");
  if (event.key.empty()) return Problem("it has no detail.object.key");
  return {.event = std::move(event)};
}

Status ParseText(std::string_view text, int envelopes, Notification& notification);

Status ParseMessage(const MaybeJson& text, int envelopes, Notification& notification) {
  // S3 → SNS → SQS are two; more is a loop or an attack.
  constexpr int kMaxEnvelopes = 3;
  if (!text || !text->AsString()) return Invalid("an envelope of SNS or SQS has no text in it");
  if (envelopes == kMaxEnvelopes) return Invalid("the notification is in too many envelopes");
  return ParseText(*text->AsString(), envelopes + 1, notification);
}

// Records of S3, or of SQS as a Lambda function gets them.
Status ParseRecords(Json records, int envelopes, Notification& notification) {
  for (const Json record : records.Elements()) {
    if (TextIn(record, "eventSource") == "aws:sqs") {
      TRY(ParseMessage(FindIn(record, "body"), envelopes, notification));
    } else {
      notification.records.push_back(ParseRecord(record));
    }
  }
  return Done{};
}

Status ParseRoot(Json root, int envelopes, Notification& notification) {
  if (TextIn(root, "Event") == "s3:TestEvent") {
    notification.is_test = true;
    return Done{};
  }
  const MaybeJson records = root.Find("Records");
  if (records && records->IsArray()) return ParseRecords(*records, envelopes, notification);
  // What ReceiveMessage of SQS gives.
  const MaybeJson messages = root.Find("Messages");
  if (messages && messages->IsArray()) {
    for (const Json message : messages->Elements()) {
      TRY(ParseMessage(FindIn(message, "Body"), envelopes, notification));
    }
    return Done{};
  }
  const std::string type = TextIn(root, "Type");
  if (type == "Notification") return ParseMessage(root.Find("Message"), envelopes, notification);
  if (type == "SubscriptionConfirmation") {
    return Invalid("SNS asks to confirm a subscription: open the address in its SubscribeURL");
  }
  if (TextIn(root, "source") == "aws.s3") {
    notification.records.push_back(ParseEventBridge(root));
    return Done{};
  }
  return Invalid(
      "the notification is not from S3, MinIO, SNS, SQS or EventBridge: it has no Records");
}

Status ParseText(std::string_view text, int envelopes, Notification& notification) {
  const JsonDocument document = TRY(JsonDocument::Parse(text).WithContext("the notification"));
  return ParseRoot(document.root(), envelopes, notification);
}

}  // namespace

Result<Notification> ParseNotification(std::string_view json) {
  Notification notification;
  TRY(ParseText(json, 0, notification));
  return notification;
}

}  // namespace tidemark::documents
