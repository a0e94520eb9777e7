// Slack's envelopes: a body is refused or parsed, and the result has the properties that
// slack/event.h describes.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "slack/event.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::slack;
  const auto envelope = ParseEnvelope({reinterpret_cast<const char*>(data), size});
  if (!envelope) {
    CHECK(envelope.error().code == tidemark::ErrorCode::kInvalid);
    CHECK(!envelope.error().message.empty());
    return 0;
  }
  if (const auto* callback = std::get_if<EventCallback>(&*envelope)) {
    CHECK(!callback->event.type.empty());
    CHECK(callback->event_team_id.empty() || !callback->team_id.empty());
    CHECK(callback->document != nullptr && callback->document->root().Find("event").has_value());
  }
  if (const auto* unknown = std::get_if<UnknownEnvelope>(&*envelope)) {
    CHECK(!unknown->type.empty());
    CHECK(unknown->type != "event_callback");
  }
  return 0;
}
