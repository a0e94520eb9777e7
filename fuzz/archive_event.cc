// Events in the archive. The bodies, one on each line, are stored one after the other. None may
// fail. A body that is stored again at once must change nothing. The stored rows contain no false
// and can be decoded.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "apps/archive/archive.h"
#include "apps/archive/channel.h"
#include "apps/archive/keys.h"
#include "apps/archive/message.h"
#include "base/check.h"
#include "base/clock.h"
#include "slack/event.h"
#include "tests/archive/store_event.h"
#include "tests/model/model_tables.h"
#include "tests/support/test_runtime.h"

namespace tidemark::archive {
namespace {

constexpr size_t kMaxBodies = 8;  // Keeps a case fast.

bool HoldsFalse(const item::Value& value) {
  if (const auto* flag = value.As<bool>()) return !*flag;
  if (const auto* list = value.As<item::List>()) {
    return std::any_of(list->begin(), list->end(), HoldsFalse);
  }
  const auto* map = value.As<item::Map>();
  return map && std::any_of(map->begin(), map->end(), [](const item::Attribute& attribute) {
           return HoldsFalse(attribute.value);
         });
}

void CheckRow(const item::Item& row) {
  CHECK(!HoldsFalse(row));
  const std::string& item_id = *row.Find("itemId")->As<std::string>();
  if (PlaceOfMessages(item_id)) CHECK(DecodeMessage(row).has_value());
  if (PlaceOfChannelRow(item_id)) CHECK(DecodeChannel(row).has_value());
  CHECK(PlaceOfMessages(item_id) || PlaceOfChannelRow(item_id) || item_id.starts_with("meta#"));
}

void Store(Archive& archive, tables::Tables& tables, std::string_view body) {
  const auto envelope = slack::ParseEnvelope(body);
  if (!envelope) return;
  const auto* callback = std::get_if<slack::EventCallback>(&*envelope);
  if (!callback) return;
  CHECK(StoreEvent(archive, tables, *callback).has_value());
  const auto again = archive.PlanEvent(*callback);
  CHECK(again.has_value() && again->actions.empty());
}

void Run(std::string_view bodies) {
  testing::TestRuntime test;
  model::ModelTables tables(test.clock);
  Archive archive({}, &tables, test.runtime());
  CHECK(archive.CreateTable().has_value());
  for (size_t i = 0; i < kMaxBodies && !bodies.empty(); ++i) {
    const size_t end = std::min(bodies.find('\n'), bodies.size());
    Store(archive, tables, bodies.substr(0, end));
    bodies.remove_prefix(std::min(end + 1, bodies.size()));
  }
  const auto rows = tables.Scan({.table = archive.options().table});
  CHECK(rows.has_value());
  for (const item::Item& row : rows->items) CheckRow(row);
}

}  // namespace
}  // namespace tidemark::archive

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tidemark::archive::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
