// DynamoDB JSON, both ways: {"id": {"S": "a"}, "count": {"N": "3"}}.
//
// Decoding checks everything that DynamoDB checks of a value on its own: one type a
// value, canonical base64, numbers in range, no empty or repeating sets, NULL true,
// nesting. Encoding gives names in the order of their bytes, so equal items give
// equal text.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "item/value.h"

namespace tidemark::item {

// From text on its own. Errors say where in the text, as a path of names.
Result<Item> ParseItemJson(std::string_view text);

// From a document already parsed, for protocol messages that contain items.
Result<Item> DecodeItemJson(const Json& json);
Result<Value> DecodeValueJson(const Json& json);

void EncodeJson(const Item& item, JsonWriter* writer);
void EncodeJson(const Value& value, JsonWriter* writer);
std::string ToJson(const Item& item);
std::string ToJson(const Value& value);

}  // namespace tidemark::item
