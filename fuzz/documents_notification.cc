// S3 notifications: a text is refused or parsed, and what was parsed keeps the header's promises.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apps/documents/notification.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::documents;
  const auto notification = ParseNotification({reinterpret_cast<const char*>(data), size});
  if (!notification) {
    CHECK(notification.error().code == tidemark::ErrorCode::kInvalid);
    CHECK(!notification.error().message.empty());
    return 0;
  }
  for (const NotificationRecord& record : notification->records) {
    CHECK(record.event.has_value() == record.problem.empty());
    if (!record.event) continue;
    CHECK(!record.event->bucket.empty() && !record.event->key.empty());
  }
  return 0;
}
