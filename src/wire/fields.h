// The members of a structure, described once and used in both directions.
//
//   template <typename F>
//   void Describe(F& fields, Ref<F, tables::GetRequest> request) {
//     fields.Table("TableName", request.table);
//     fields.Required("Key", request.key);
//     fields.Optional("ProjectionExpression", request.projection);
//   }
//
// With a FieldWriter the description writes the structure, and with a FieldReader it reads it.
// Codec<T> has the JSON of a type: of texts, numbers, items, lists, maps, enumerations (NamesOf),
// and of every structure with a description.
//
// A reader keeps the first error and reads nothing after it. A member that is null counts as
// absent. A request has no name twice in one object: calls.cc refuses that before it is read.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "item/json.h"

namespace tidemark::wire {

// What a reader does with a member that the description does not have. Requests are refused: a
// parameter that has no effect here must not be passed over, since it may be a condition. In
// replies such members are ignored.
enum class Unknown { kRefused, kIgnored };

// Where a value stands, for messages and for the structures in it.
struct Place {
  std::string_view member;
  Unknown unknown = Unknown::kRefused;
};

template <typename E>
struct EnumName {
  E value;
  std::string_view name;
};

// The names of an enumeration, as DynamoDB writes them: a specialization has an array kRows.
template <typename E>
struct NamesOf;

// DynamoDB's texts for a member that is missing or has a wrong value.
Error Missing(std::string_view member);
Error NotInEnumeration(std::string_view member, std::string_view value, const std::string& allowed);
Error TooSmall(std::string_view member, int64_t value, int64_t least);
Error TooLarge(std::string_view member, int64_t value, int64_t most);
Error NotOneAction(std::string_view member);
Error TooLong(std::string_view member, size_t most);

// The longest list that is read from a request.
inline constexpr size_t kMaxElements = 1'000;

// The name of the table in an ARN. A text that is no ARN of a table is returned as it is.
std::string TableOfArn(std::string_view text);

template <typename Fields, typename T>
using Ref = typename Fields::template Reference<T>;

template <typename T>
struct Codec;

class FieldWriter {
 public:
  template <typename T>
  using Reference = const T&;

  explicit FieldWriter(JsonWriter* writer) : writer_(writer) {}

  template <typename T>
  void Required(std::string_view name, const T& value) {
    writer_->Key(name);
    Codec<T>::Write(value, writer_);
  }
  template <typename T>
  void Optional(std::string_view name, const std::optional<T>& value) {
    if (value) Required(name, *value);
  }
  template <typename T>
  void Default(std::string_view name, const T& value, const std::type_identity_t<T>& otherwise) {
    if (!(value == otherwise)) Required(name, value);
  }
  template <typename T>
  void UnlessEmpty(std::string_view name, const T& value) {
    if (!value.empty()) Required(name, value);
  }
  template <typename T>
  void Always(std::string_view name, const T& value, const std::type_identity_t<T>& = T()) {
    Required(name, value);
  }
  void Table(std::string_view name, const std::string& table) { Required(name, table); }
  void WithoutEffect(std::string_view /*name*/) {}
  void OnlyAs(std::string_view /*name*/, std::string_view /*value*/, std::string_view /*advice*/) {}
  template <typename Fill>
  void Nested(std::string_view name, const Fill& fill) {
    writer_->Key(name);
    writer_->BeginObject();
    FieldWriter inner(writer_);
    fill(inner);
    writer_->EndObject();
  }

 private:
  JsonWriter* writer_;
};

class FieldReader {
 public:
  template <typename T>
  using Reference = T&;

  FieldReader(const Json& object, Unknown unknown) : object_(object), unknown_(unknown) {}

  template <typename T>
  void Required(std::string_view name, T& value) {
    const std::optional<Json> found = Find(name);
    if (!found) return Fail(Missing(name));
    Note(Codec<T>::Read(*found, {name, unknown_}, &value));
  }
  template <typename T>
  void Optional(std::string_view name, std::optional<T>& value) {
    if (const std::optional<Json> found = Find(name)) {
      Note(Codec<T>::Read(*found, {name, unknown_}, &value.emplace()));
    }
  }
  template <typename T>
  void Default(std::string_view name, T& value, const std::type_identity_t<T>& otherwise) {
    const std::optional<Json> found = Find(name);
    value = otherwise;
    if (found) Note(Codec<T>::Read(*found, {name, unknown_}, &value));
  }
  template <typename T>
  void UnlessEmpty(std::string_view name, T& value) {
    Default(name, value, T());
    const bool is_given = Find(name).has_value();
    if (is_given && value.empty()) Fail(Invalid(std::string(name) + " must not be empty"));
  }
  // A member that is always written. One that is absent reads as `otherwise`.
  template <typename T>
  void Always(std::string_view name, T& value, const std::type_identity_t<T>& otherwise = T()) {
    Default(name, value, otherwise);
  }
  // The name of a table, or its ARN.
  void Table(std::string_view name, std::string& table) {
    Required(name, table);
    table = TableOfArn(table);
  }
  // A parameter that may be given and changes nothing here.
  void WithoutEffect(std::string_view name) { (void)Find(name); }
  // A parameter that may be given with this value, which changes nothing, and with no other. The
  // advice says what to do instead.
  void OnlyAs(std::string_view name, std::string_view value, std::string_view advice);
  template <typename Fill>
  void Nested(std::string_view name, const Fill& fill) {
    const std::optional<Json> found = Find(name);
    if (!found) return Fail(Missing(name));
    if (!found->IsObject()) return Fail(item::NotAStructure(*found));
    FieldReader inner(*found, unknown_);
    fill(inner);
    Note(inner.Finish());
  }

  std::optional<Json> Find(std::string_view name);
  void Fail(Error error) {
    if (status_) status_ = std::move(error);
  }
  void Note(Status status) {
    if (!status) Fail(std::move(status).error());
  }
  // Call it once, after all members were read.
  Status Finish();

 private:
  const Json object_;
  const Unknown unknown_;
  std::vector<std::string_view> known_;
  Status status_ = Done{};
};

// ---- Types ----

// Structures.
template <typename T>
struct Codec {
  static void Write(const T& value, JsonWriter* writer) {
    writer->BeginObject();
    FieldWriter fields(writer);
    Describe(fields, value);
    writer->EndObject();
  }
  static Status Read(const Json& json, const Place& place, T* value) {
    if (!json.IsObject()) return item::NotAStructure(json);
    FieldReader fields(json, place.unknown);
    Describe(fields, *value);
    return fields.Finish();
  }
};

template <>
struct Codec<std::string> {
  static void Write(const std::string& text, JsonWriter* writer) { writer->String(text); }
  static Status Read(const Json& json, const Place& /*place*/, std::string* text) {
    *text = TRY(item::DecodeTextJson(json));
    return Done{};
  }
};

template <>
struct Codec<bool> {
  static void Write(bool value, JsonWriter* writer) { writer->Bool(value); }
  static Status Read(const Json& json, const Place& /*place*/, bool* value) {
    *value = TRY(item::DecodeBoolJson(json));
    return Done{};
  }
};

template <>
struct Codec<double> {
  static void Write(double value, JsonWriter* writer) { writer->Double(value); }
  static Status Read(const Json& json, const Place& /*place*/, double* value) {
    const std::optional<double> number = json.AsDouble();
    if (!number) return item::NotAScalar(json, "java.lang.Double");
    *value = *number;
    return Done{};
  }
};

template <>
struct Codec<item::Item> {
  static void Write(const item::Item& item, JsonWriter* writer) { item::EncodeJson(item, writer); }
  static Status Read(const Json& json, const Place& /*place*/, item::Item* item) {
    *item = TRY(item::DecodeItemJson(json));
    return Done{};
  }
};

template <>
struct Codec<item::Value> {
  static void Write(const item::Value& value, JsonWriter* writer) {
    item::EncodeJson(value, writer);
  }
  static Status Read(const Json& json, const Place& /*place*/, item::Value* value) {
    *value = TRY(item::DecodeValueJson(json));
    return Done{};
  }
};

template <std::integral T>
struct Codec<T> {
  static void Write(T value, JsonWriter* writer) { writer->Int(static_cast<int64_t>(value)); }
  static Status Read(const Json& json, const Place& place, T* value) {
    const std::optional<int64_t> number = json.AsInt();
    if (!number) {
      return item::NotAScalar(json, sizeof(T) > 4 ? "java.lang.Long" : "java.lang.Integer");
    }
    if (!std::in_range<T>(*number)) {
      return *number < 0 ? TooSmall(place.member, *number, 0)
                         : TooLarge(place.member, *number, std::numeric_limits<int32_t>::max());
    }
    *value = static_cast<T>(*number);
    return Done{};
  }
};

template <typename E>
requires std::is_enum_v<E>
struct Codec<E> {
  static void Write(E value, JsonWriter* writer) {
    for (const EnumName<E>& row : NamesOf<E>::kRows) {
      if (row.value == value) return writer->String(row.name);
    }
    writer->String("");  // A value that no message may have; the reader refuses it.
  }
  static Status Read(const Json& json, const Place& place, E* value) {
    const std::string_view text = TRY(item::DecodeTextJson(json));
    std::string allowed;
    for (const EnumName<E>& row : NamesOf<E>::kRows) {
      if (row.name == text) {
        *value = row.value;
        return Done{};
      }
      allowed.append(allowed.empty() ? "" : ", ").append(row.name);
    }
    return NotInEnumeration(place.member, text, allowed);
  }
};

template <typename T>
struct Codec<std::vector<T>> {
  static void Write(const std::vector<T>& values, JsonWriter* writer) {
    writer->BeginArray();
    for (const T& value : values) Codec<T>::Write(value, writer);
    writer->EndArray();
  }
  static Status Read(const Json& json, const Place& place, std::vector<T>* values) {
    if (!json.IsArray()) return item::NotAList(json);
    // No list of a request may be longer; most limits are far below. It bounds the memory.
    const bool is_too_long = place.unknown == Unknown::kRefused && json.Size() > kMaxElements;
    if (is_too_long) return TooLong(place.member, kMaxElements);
    values->clear();
    for (const Json element : json.Elements()) {
      TRY(Codec<T>::Read(element, place, &values->emplace_back()));
    }
    return Done{};
  }
};

template <typename T, typename Less>
struct Codec<std::map<std::string, T, Less>> {
  static void Write(const std::map<std::string, T, Less>& values, JsonWriter* writer) {
    writer->BeginObject();
    for (const auto& [name, value] : values) {
      writer->Key(name);
      Codec<T>::Write(value, writer);
    }
    writer->EndObject();
  }
  static Status Read(const Json& json, const Place& place, std::map<std::string, T, Less>* values) {
    if (!json.IsObject()) return item::NotAStructure(json);
    values->clear();
    for (const auto& [name, value] : json.Members()) {
      T decoded{};
      TRY(Codec<T>::Read(value, place, &decoded));
      values->insert_or_assign(std::string(name), std::move(decoded));
    }
    return Done{};
  }
};

// The reply of GetItem, and one of TransactGetItems' responses: {} when there is no item.
template <>
struct Codec<std::optional<item::Item>> {
  static void Write(const std::optional<item::Item>& item, JsonWriter* writer) {
    writer->BeginObject();
    FieldWriter(writer).Optional("Item", item);
    writer->EndObject();
  }
  static Status Read(const Json& json, const Place& place, std::optional<item::Item>* item) {
    if (!json.IsObject()) return item::NotAStructure(json);
    FieldReader fields(json, place.unknown);
    fields.Optional("Item", *item);
    return fields.Finish();
  }
};

// One of several structures, named by the only member of an object around it, as in
// {"Put": {"TableName": …}}. For each there are kActionName and DescribeAction.
template <typename T>
extern const std::string_view kActionName;

template <typename... T>
struct Codec<std::variant<T...>> {
  static void Write(const std::variant<T...>& value, JsonWriter* writer) {
    writer->BeginObject();
    std::visit(
        [&]<typename U>(const U& action) {
          FieldWriter(writer).Nested(kActionName<U>,
                                     [&](FieldWriter& inner) { DescribeAction(inner, action); });
        },
        value);
    writer->EndObject();
  }
  static Status Read(const Json& json, const Place& place, std::variant<T...>* value) {
    if (!json.IsObject()) return item::NotAStructure(json);
    FieldReader fields(json, place.unknown);
    const size_t given = (size_t{0} + ... + ReadAction<T>(&fields, value));
    if (given != 1) fields.Fail(NotOneAction(place.member));
    return fields.Finish();
  }

 private:
  // How many there are: 0 or 1.
  template <typename U>
  static size_t ReadAction(FieldReader* fields, std::variant<T...>* value) {
    if (!fields->Find(kActionName<U>)) return 0;
    U& action = value->template emplace<U>();
    fields->Nested(kActionName<U>, [&](FieldReader& inner) { DescribeAction(inner, action); });
    return 1;
  }
};

// ---- Whole messages ----

template <typename T>
std::string Encode(const T& value) {
  std::string text;
  JsonWriter writer(&text);
  Codec<T>::Write(value, &writer);
  return text;
}

template <typename T, Unknown kUnknown>
Result<T> Decode(const Json& json) {
  T value{};
  TRY(Codec<T>::Read(json, {"", kUnknown}, &value));
  return value;
}

}  // namespace tidemark::wire
