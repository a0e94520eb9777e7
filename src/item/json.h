// DynamoDB JSON, both ways: {"id": {"S": "a"}, "count": {"N": "3"}}.
//
// Decoding checks everything that DynamoDB checks of a value on its own: one type a
// value, canonical base64, numbers in range, no empty or repeating sets, NULL true,
// nesting. As DynamoDB does, it takes a null for a member that is not there, passes over
// members whose name is no type, and takes the last of attributes with one name.
// Encoding gives names in the order of their bytes, so equal items give equal text.
//
// All errors are kInvalid. One whose message begins with kSerializationPrefix is about the
// JSON's shape (a number where a string belongs, bad base64), which DynamoDB answers with a
// SerializationException; all others are about the values, a ValidationException.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "item/value.h"

namespace tidemark::item {

inline constexpr std::string_view kSerializationPrefix = "SerializationException: ";

// From text on its own, for people: errors about a value begin with the path to it, such as
// "orders[3].price: ".
Result<Item> ParseItemJson(std::string_view text);

// From a document already parsed, for protocol messages that contain items. Messages are
// DynamoDB's texts, without a path.
Result<Value> DecodeValueJson(const Json& json);

void EncodeJson(const Item& item, JsonWriter* writer);
void EncodeJson(const Value& value, JsonWriter* writer);
std::string ToJson(const Item& item);
std::string ToJson(const Value& value);

}  // namespace tidemark::item
