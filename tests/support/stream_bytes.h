// Returns the bytes of a stream record, as the tables store them.
#pragma once

#include <optional>
#include <string>

#include "item/encoding.h"
#include "tables/embedded/stream_record.h"

namespace tidemark::testing {

inline std::string BytesOf(const std::optional<item::Item>& image) {
  std::string bytes;
  if (image) item::EncodeItem(*image, &bytes);
  return bytes;
}

inline std::string BytesOf(const tables::StreamRecord& record) {
  const std::string old_image = BytesOf(record.old_image);
  const std::string new_image = BytesOf(record.new_image);
  std::string bytes;
  embedded::EncodeStreamRecord({.kind = record.kind,
                                .view = record.view,
                                .created_at = record.created_at,
                                .expired = record.expired,
                                .keys = record.keys,
                                .old_image = old_image,
                                .new_image = new_image},
                               &bytes);
  return bytes;
}

}  // namespace tidemark::testing
