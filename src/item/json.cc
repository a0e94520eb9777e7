#include "item/json.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/base64.h"
#include "item/validate.h"

namespace tidemark::item {

namespace {

// A short text can claim to have many elements. Their memory comes with the elements.
constexpr size_t kMaxReserved = 1'024;
size_t ReservedFor(const Json& json) { return std::min(json.Size(), kMaxReserved); }

Error SerializationError(std::string_view what) {
  return Invalid(std::string(kSerializationPrefix).append(what));
}

// The names that DynamoDB's messages give to scalars of JSON.
std::string_view TokenName(const Json& json) {
  switch (json.kind()) {
    case JsonKind::kNumber:
      return json.AsInt() ? "NUMBER_VALUE" : "DECIMAL_VALUE";
    case JsonKind::kBool:
      return *json.AsBool() ? "TRUE_VALUE" : "FALSE_VALUE";
    case JsonKind::kString:
      return "STRING_VALUE";
    default:
      return "NULL_VALUE";
  }
}

Error NotAMap(const Json& json) {
  return SerializationError(json.IsArray()
                                ? "Unrecognized collection type java.util.Map<java.lang.String, "
                                  "com.amazonaws.dynamodb.v20120810.AttributeValue>"
                                : "Unexpected field type");
}

Error NotAValue(const Json& json) {
  return SerializationError(json.IsArray() ? "Unrecognized collection type class "
                                             "com.amazonaws.dynamodb.v20120810.AttributeValue"
                                           : "Unexpected value type in payload");
}

Error NoType() {
  return Invalid(
      "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes");
}

Error SeveralTypes() {
  return Invalid(
      "Supplied AttributeValue has more than one datatypes set, must contain exactly one of "
      "the supported datatypes");
}

std::vector<std::string> TextsOf(const Json& json) {
  std::vector<std::string> texts;
  for (const Json member : json.Elements()) texts.emplace_back(member.AsString().value_or(""));
  return texts;
}

// Only sets of numbers have a short text. The older wording shows the members as they were sent.
// The newer one quotes them, and sorts those of a set of strings.
Error Duplicates(Type type, const Json& json, Dialect dialect) {
  constexpr std::string_view kStart =
      "One or more parameter values were invalid: Input collection ";
  const bool is_newer = dialect == Dialect::kNewer;
  if (type == Type::kNumberSet) {
    return Invalid(is_newer ? fmt::format("{}contains duplicates.", kStart)
                            : "Input collection contains duplicates");
  }
  const bool is_binary = type == Type::kBinarySet;
  std::vector<std::string> texts = TextsOf(json);
  if (is_newer && !is_binary) std::ranges::sort(texts);
  if (is_newer) {
    for (std::string& text : texts) text = fmt::format("\"{}\"", text);
  }
  return Invalid(fmt::format("{}[{}]{} contains duplicates.", kStart,
                             fmt::join(texts, is_newer && is_binary ? "," : ", "),
                             is_binary ? "of type BS" : ""));
}

Result<std::string_view> DecodeText(const Json& json) {
  const std::optional<std::string_view> text = json.AsString();
  if (!text) return NotAScalar(json, "java.lang.String");
  return *text;
}

Result<String> DecodeString(const Json& json) { return String(TRY(DecodeText(json))); }

Result<Number> DecodeNumber(const Json& json) { return Number::Parse(TRY(DecodeText(json))); }

// The older wording of the error for an empty text has no colon.
Error InWordsOf(Dialect dialect, Error error) {
  constexpr std::string_view kEmpty = "The parameter cannot be converted to a numeric value: ";
  const bool is_older = dialect == Dialect::kOlder && error.message == kEmpty;
  if (is_older) error.message.resize(kEmpty.size() - 2);
  return error;
}

Result<Binary> DecodeBinary(const Json& json) {
  const std::optional<std::string_view> text = json.AsString();
  if (!text && (json.IsObject() || json.IsArray())) return NotAScalar(json, "java.nio.ByteBuffer");
  if (!text) return SerializationError("only base-64-encoded strings are convertible to bytes");
  if (text->size() % 4 != 0) {
    return SerializationError(
        "Base64 encoded length is expected a multiple of 4 bytes but found: " +
        std::to_string(text->size()));
  }
  std::optional<std::string> bytes = DecodeBase64(*text);
  if (!bytes) return SerializationError("Invalid last non-pad Base64 character dectected");
  return Binary{*std::move(bytes)};
}

bool EqualIgnoringCase(std::string_view text, std::string_view small) {
  return std::ranges::equal(text, small, {}, Lower);
}

// As in DynamoDB, some texts count as booleans.
Result<bool> DecodeBool(const Json& json) {
  const std::optional<bool> value = json.AsBool();
  if (value) return *value;
  if (const std::optional<std::string_view> text = json.AsString()) {
    for (const std::string_view yes : {"true", "1", "yes"}) {
      if (EqualIgnoringCase(*text, yes)) return true;
    }
    for (const std::string_view no : {"false", "0", "no"}) {
      if (EqualIgnoringCase(*text, no)) return false;
    }
    return SerializationError("Unexpected token received from parser");
  }
  return NotAScalar(json, "java.lang.Boolean");
}

Result<Null> DecodeNull(const Json& json) {
  if (TRY(DecodeBool(json))) return Null{};
  return Invalid(
      "One or more parameter values were invalid: Null attribute value types must have the value "
      "of "
      "true");
}

// Decodes one value or item. After a failure, path() is the path to the wrong value.
class Decoder {
 public:
  explicit Decoder(Dialect dialect) : dialect_(dialect) {}

  Result<Map> Attributes(const Json& json, int level) {
    if (!json.IsObject()) return NotAMap(json);
    std::vector<Attribute> attributes;
    attributes.reserve(ReservedFor(json));
    for (const JsonMember member : json.Members()) {
      Status name = ValidateName(member.name);
      if (!name) return Named(member.name, std::move(name).error());
      Result<Value> value = AnyValue(member.value, level);
      if (!value) return Named(member.name, std::move(value).error());
      attributes.push_back({std::string(member.name), *std::move(value)});
    }
    return Map::FromAttributes(std::move(attributes));
  }

  // The level is checked before the content, so it also limits the recursion.
  Result<Value> AnyValue(const Json& json, int level) {
    TRY(ValidateLevel(level));
    if (json.IsNull()) return NoType();
    if (!json.IsObject()) return NotAValue(json);
    std::optional<Type> type;
    std::optional<Json> content;
    for (const JsonMember member : json.Members()) {
      // The SDKs of some languages send a null for each type that is not set, so a null is no
      // second type.
      const std::optional<Type> member_type = ParseType(member.name);
      if (!member_type || member.value.IsNull()) continue;
      if (type) return SeveralTypes();
      type = member_type;
      content = member.value;
    }
    if (!type) return NoType();
    return ValueOfType(*type, *content, level);
  }

  // Empty when the outermost value itself is wrong.
  const std::string& path() const { return path_; }

 private:
  Result<Value> ValueOfType(Type type, const Json& json, int level) {
    switch (type) {
      case Type::kString:
        return TRY(DecodeString(json));
      case Type::kNumber:
        return TRY(DecodeNumber(json));
      case Type::kBinary:
        return TRY(DecodeBinary(json));
      case Type::kBool:
        return TRY(DecodeBool(json));
      case Type::kNull:
        return TRY(DecodeNull(json));
      case Type::kStringSet:
        return Set(type, json, DecodeString);
      case Type::kNumberSet:
        return Set(type, json, DecodeNumber);
      case Type::kBinarySet:
        return Set(type, json, DecodeBinary);
      case Type::kList:
        return Elements(json, level + 1);
      case Type::kMap:
        return TRY(Attributes(json, level + 1));
    }
    return NoType();
  }

  template <typename Member>
  Result<Value> Set(Type type, const Json& json, Result<Member> (*decode)(const Json&)) {
    if (!json.IsArray()) return NotAList(json);
    std::vector<Member> members;
    members.reserve(ReservedFor(json));
    for (const Json element : json.Elements()) {
      Result<Member> member = decode(element);
      if (!member) return Indexed(members.size(), std::move(member).error());
      members.push_back(*std::move(member));
    }
    if (members.empty()) return EmptySet(type);
    // Duplicates are found by value, not by text: "1" and "1.0" are the same number.
    const size_t given = members.size();
    SetOf<Member> set(std::move(members));
    if (set.size() != given) return Duplicates(type, json, dialect_);
    return Value(std::move(set));
  }

  Result<Value> Elements(const Json& json, int level) {
    if (!json.IsArray()) return NotAList(json);
    List list;
    list.reserve(ReservedFor(json));
    for (const Json element : json.Elements()) {
      Result<Value> value = AnyValue(element, level);
      if (!value) return Indexed(list.size(), std::move(value).error());
      list.push_back(*std::move(value));
    }
    return Value(std::move(list));
  }

  // The innermost function that fails writes the last step of the path, and each of its callers
  // adds a step at the front. So a decoding that succeeds pays nothing for the path.
  Error Named(std::string_view name, Error error) {
    const bool last = path_.empty() || path_.front() == '[';
    path_.insert(0, std::string(name) + (last ? "" : "."));
    return error;
  }
  Error Indexed(size_t index, Error error) {
    const bool last = path_.empty() || path_.front() == '[';
    path_.insert(0, "[" + std::to_string(index) + "]" + (last ? "" : "."));
    return error;
  }

  const Dialect dialect_;
  std::string path_;
};

class Encoder {
 public:
  explicit Encoder(JsonWriter* writer) : writer_(writer) {}

  void operator()(const String& text) const { writer_->String(text); }
  void operator()(const Number& number) const { writer_->String(number.ToString()); }
  void operator()(const Binary& binary) const { writer_->String(EncodeBase64(binary.bytes)); }
  void operator()(bool value) const { writer_->Bool(value); }
  void operator()(const Null&) const { writer_->Bool(true); }
  template <typename Member>
  void operator()(const SetOf<Member>& set) const {
    writer_->BeginArray();
    for (const Member& member : set.members()) (*this)(member);
    writer_->EndArray();
  }
  void operator()(const List& list) const {
    writer_->BeginArray();
    for (const Value& element : list) EncodeJson(element, writer_);
    writer_->EndArray();
  }
  void operator()(const Map& map) const { EncodeJson(map, writer_); }

 private:
  JsonWriter* writer_;
};

template <typename T>
std::string TextOf(const T& value) {
  std::string text;
  JsonWriter writer(&text);
  EncodeJson(value, &writer);
  return text;
}

}  // namespace

Result<Item> ParseItemJson(std::string_view text) {
  const JsonDocument document = TRY(JsonDocument::Parse(text));
  Decoder decoder(Dialect::kNewer);
  Result<Item> item = decoder.Attributes(document.root(), 1);
  if (item || decoder.path().empty()) return item;
  return std::move(item).WithContext(decoder.path());
}

Result<Value> DecodeValueJson(const Json& json, Dialect dialect) {
  auto value = Decoder(dialect).AnyValue(json, 1);
  if (!value) return InWordsOf(dialect, std::move(value).error());
  return value;
}

Result<Item> DecodeItemJson(const Json& json, Dialect dialect) {
  auto item = Decoder(dialect).Attributes(json, 1);
  if (!item) return InWordsOf(dialect, std::move(item).error());
  return item;
}

Result<std::string_view> DecodeTextJson(const Json& json) { return DecodeText(json); }

Result<bool> DecodeBoolJson(const Json& json) { return DecodeBool(json); }

Error NotAScalar(const Json& json, std::string_view java_class) {
  if (json.IsObject())
    return SerializationError("Start of structure or map found where not expected");
  if (json.IsArray()) {
    return SerializationError("Unrecognized collection type class " + std::string(java_class));
  }
  const std::string_view short_name = java_class.substr(java_class.rfind('.') + 1);
  return SerializationError(std::string(TokenName(json)) + " cannot be converted to " +
                            std::string(short_name));
}

Error NotAList(const Json& json) {
  return SerializationError(json.IsObject() ? "Start of structure or map found where not expected"
                                            : "Unexpected field type");
}

Error NotAStructure(const Json& json) {
  return SerializationError(json.IsArray() ? "Unrecognized collection type"
                                           : "Unexpected field type");
}

void EncodeJson(const Item& item, JsonWriter* writer) {
  writer->BeginObject();
  for (const Attribute& attribute : item) {
    writer->Key(attribute.name);
    EncodeJson(attribute.value, writer);
  }
  writer->EndObject();
}

void EncodeJson(const Value& value, JsonWriter* writer) {
  writer->BeginObject();
  writer->Key(ToString(value.type()));
  std::visit(Encoder(writer), value.data());
  writer->EndObject();
}

std::string ToJson(const Item& item) { return TextOf(item); }
std::string ToJson(const Value& value) { return TextOf(value); }

}  // namespace tidemark::item
