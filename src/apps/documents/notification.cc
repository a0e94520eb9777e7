#include "apps/documents/notification.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"

namespace tidemark::documents {

namespace {

using MaybeJson = std::optional<Json>;

MaybeJson Find(const MaybeJson& json, std::string_view name) {
  return json ? json->Find(name) : std::nullopt;
}

// Empty when it is missing or no text.
std::string Text(const MaybeJson& json, std::string_view name) {
  const MaybeJson value = Find(json, name);
  return std::string(value ? value->AsString().value_or("") : "");
}

std::optional<unsigned> HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A' + 10);
  return std::nullopt;
}

// As forms are encoded, which is how keys come. nullopt when a '%' has not two digits behind it.
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

NotificationRecord Problem(std::string problem) { return {.problem = std::move(problem)}; }

NotificationRecord ParseRecord(Json json) {
  // "aws:s3", "minio:s3", "ceph:s3".
  const std::string source = Text(json, "eventSource");
  if (!source.ends_with(":s3")) {
    return Problem(fmt::format("its eventSource is '{}', not that of an object store", source));
  }
  std::string name = Text(json, "eventName");
  if (name.starts_with("s3:")) name.erase(0, 3);
  if (name.empty()) return Problem("it has no eventName");
  const MaybeJson s3 = Find(json, "s3");
  const MaybeJson object = Find(s3, "object");
  std::string bucket = Text(Find(s3, "bucket"), "name");
  if (bucket.empty()) return Problem("it has no s3.bucket.name");
  std::optional<std::string> key = DecodeKey(Text(object, "key"));
  if (!key) return Problem("its s3.object.key is not encoded as keys are");
  if (key->empty()) return Problem("it has no s3.object.key");
  ObjectEvent event{.change = ChangeOf(name),
                    .name = std::move(name),
                    .bucket = std::move(bucket),
                    .key = *std::move(key),
                    .etag = Text(object, "eTag"),
                    .sequencer = Text(object, "sequencer"),
                    .principal = Text(Find(json, "userIdentity"), "principalId")};
  return {.event = std::move(event)};
}

}  // namespace

Result<Notification> ParseNotification(std::string_view json) {
  const JsonDocument document = TRY(JsonDocument::Parse(json).WithContext("the notification"));
  const Json root = document.root();
  Notification notification{.is_test = Text(root, "Event") == "s3:TestEvent"};
  if (notification.is_test) return notification;
  const MaybeJson records = root.Find("Records");
  if (!records || !records->IsArray()) {
    return Error{ErrorCode::kInvalid, "the notification has no Records"};
  }
  notification.records.reserve(records->Size());
  for (const Json record : records->Elements()) notification.records.push_back(ParseRecord(record));
  return notification;
}

bool SequencerIsNotNewer(std::string_view candidate, std::string_view known) {
  if (candidate.empty() || known.empty()) return false;
  // As if the shorter had zeros behind it.
  const auto digit = [](std::string_view text, size_t i) {
    return i < text.size() ? text[i] : '0';
  };
  for (size_t i = 0; i < std::max(candidate.size(), known.size()); ++i) {
    if (digit(candidate, i) != digit(known, i)) return digit(candidate, i) < digit(known, i);
  }
  return true;
}

}  // namespace tidemark::documents
