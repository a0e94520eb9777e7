// DynamoDB JSON, both ways: {"id": {"S": "a"}, "count": {"N": "3"}}.
//
// Decoding checks a single value as DynamoDB does. A value has exactly one type. Base64 is
// canonical, numbers are in range, a set has no duplicates and is not empty, NULL is true, and the
// nesting is limited. As in DynamoDB, a member that is null counts as absent, a member whose name
// is not a type is ignored, and of several attributes with one name the last is used.
//
// Encoding writes names in the order of their bytes, so equal items have equal text.
//
// All errors are kInvalid. If the message begins with kSerializationPrefix, the JSON has the wrong
// shape (a number in place of a string, bad base64); DynamoDB answers with SerializationException.
// All other errors are about the values; DynamoDB answers with ValidationException.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "item/value.h"

namespace tidemark::item {

inline constexpr std::string_view kSerializationPrefix = "SerializationException: ";

// Parses a text that a person wrote. An error about a value begins with the path to that value,
// such as "orders[3].price: ".
Result<Item> ParseItemJson(std::string_view text);

// DynamoDB has two wordings for a few errors of values, for different operations.
enum class Dialect { kOlder, kNewer };

// Decode a part of a protocol message. The error messages are DynamoDB's, without a path.
Result<Value> DecodeValueJson(const Json& json, Dialect dialect = Dialect::kOlder);
Result<Item> DecodeItemJson(const Json& json, Dialect dialect = Dialect::kOlder);
Result<std::string_view> DecodeTextJson(const Json& json);
Result<bool> DecodeBoolJson(const Json& json);

// DynamoDB's errors for a part of a message that is of another kind: not a scalar of this Java
// class, not a list, and not a map or a structure.
Error NotAScalar(const Json& json, std::string_view java_class);
Error NotAList(const Json& json);
Error NotAStructure(const Json& json);

void EncodeJson(const Item& item, JsonWriter* writer);
void EncodeJson(const Value& value, JsonWriter* writer);
std::string ToJson(const Item& item);
std::string ToJson(const Value& value);

}  // namespace tidemark::item
