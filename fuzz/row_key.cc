// Stored keys and stream records: bytes that decode are encoded to the same bytes, so two different
// rows never mean the same thing. The first byte chooses what is decoded and the types of its keys.
#include "tables/embedded/row_key.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"
#include "item/order.h"
#include "tables/embedded/stream_record.h"
#include "tests/support/stream_bytes.h"

namespace embedded = tidemark::embedded;
namespace item = tidemark::item;

namespace {

constexpr std::array kTypes = {item::Type::kString, item::Type::kNumber, item::Type::kBinary};

// Two digits in base four: the type of the partition key, and the type of the sort key or none.
item::KeySchema SchemaOf(unsigned choice) {
  item::KeySchema schema{.partition = {.name = "p", .type = kTypes[choice % 4 % 3]}};
  const unsigned sort = choice / 4 % 4;
  if (sort < 3) schema.sort = item::KeyAttribute{.name = "s", .type = kTypes[sort]};
  return schema;
}

embedded::Keyspace KeyspaceOf(std::string_view row_key) {
  return tidemark::Reader(row_key).Fixed32();
}

std::string WithHash(std::string_view body, item::Type partition_type) {
  tidemark::Reader reader(body);
  const item::Value partition = item::DecodeOrdered(partition_type, &reader);
  if (!reader.ok()) return std::string(body);
  const item::Key key{.partition = partition, .sort = std::nullopt};
  return embedded::ItemRowKey(1, key).substr(0, 8) + std::string(body);
}

void DecodeItem(std::string_view body, unsigned choice) {
  const item::KeySchema schema = SchemaOf(choice);
  const std::string bytes = WithHash(body, schema.partition.type);
  const auto key = embedded::DecodeItemRowKey(bytes, schema);
  if (key) CHECK(embedded::ItemRowKey(KeyspaceOf(bytes), *key) == bytes);
}

void DecodeExpiry(std::string_view bytes) {
  const auto parts = embedded::DecodeExpiryRowKey(bytes);
  if (!parts) return;
  CHECK(embedded::ExpiryRowKey(KeyspaceOf(bytes), parts->ttl, parts->item_row_key) == bytes);
}

void DecodeStream(std::string_view bytes) {
  const std::string row_key = embedded::StreamRowKey(1, 2);
  const auto record = embedded::DecodeStreamRecord(row_key, bytes);
  if (!record) return;
  CHECK(tidemark::testing::BytesOf(*record) == bytes);
  // A key of any bytes is decoded or refused.
  (void)embedded::DecodeStreamRecord(bytes, bytes).has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const unsigned choice = data[0] / 4;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 4) {
    case 0:
    case 1:  // The corpus has cases of both.
      DecodeItem(bytes, choice);
      break;
    case 2:
      DecodeExpiry(bytes);
      break;
    default:
      DecodeStream(bytes);
      break;
  }
  return 0;
}
