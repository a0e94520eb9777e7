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
// A reader goes on after an error, and collects all problems (problems.h); what it reads is used
// only if there was none. A member that is null counts as absent, and as in DynamoDB a member that
// the description does not have is ignored. A request has no name twice in one object: calls.cc
// refuses that before it is read.
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

#include <fmt/format.h>

#include "base/json.h"
#include "base/result.h"
#include "item/json.h"
#include "wire/problems.h"

namespace tidemark::wire {

// What is read. A request is checked; a reply is of a server that is trusted.
enum class Kind { kRequest, kReply };

// Where a value stands: in which member, in which element of a list, or under which key of a map.
// It is on the stack of its reader, inside of the place around it.
struct Place {
  enum class Step { kMember, kElement, kKey };

  Kind kind = Kind::kRequest;
  Problems* problems = nullptr;
  const Place* around = nullptr;  // nullptr: this is the whole message.
  Step step = Step::kMember;
  std::string_view name = {};  // Of a member or a key.
  size_t element = 0;          // From 1.

  Place Member(std::string_view member) const {
    return {kind, problems, this, Step::kMember, member, 0};
  }
  Place Element(size_t number) const { return {kind, problems, this, Step::kElement, {}, number}; }
  Place Key(std::string_view key) const { return {kind, problems, this, Step::kKey, key, 0}; }

  // Adds a violation at this place. `value` is as in Violation.
  void Violates(std::string value, std::string constraint, std::string newer_text = {}) const;
  void ViolatesNewer(std::string value, std::string constraint) const;
  // The constraints of DynamoDB's model.
  void Missing() const;
  // Of a list or a map, which is shown in the words of the older layer.
  void CheckLength(size_t length, size_t least, size_t most, const std::string& shown) const;
  void CheckLength(const std::string& text, size_t least, size_t most) const;
  void CheckRange(int64_t value, int64_t least, int64_t most) const;
};

template <typename E>
struct EnumName {
  E value;
  std::string_view name;
};

// The names of an enumeration, as DynamoDB writes them: a specialization has an array kRows, and
// kNewerText where the newer layers have their own text for another name.
template <typename E>
struct NamesOf;

// The longest list that is read from a request.
inline constexpr size_t kMaxElements = 1'000;
// What DynamoDB's messages say about a number that is negative where it may not be.
inline constexpr int64_t kLeastGiven = 1;

// What DynamoDB's messages call a structure, such as KeysAndAttributes.
template <typename T>
inline constexpr std::string_view kJavaName = "";

// DynamoDB's errors for a part of a message that is no structure, no map of such values, or no list
// in a map.
Error NotAStructure(const Json& json, const Place& place, std::string_view java_name);
Error NotAMap(const Json& json, std::string_view java_name);
Error NotAListInAMap(const Json& json);
// A part of a request as DynamoDB's older messages show it, not longer than a few kilobytes.
std::string ShownInJava(const Json& json);

// Which messages the values of a request get.
inline item::Dialect DialectOf(const Place& place) {
  return place.problems->layer() == Layer::kOlder ? item::Dialect::kOlder : item::Dialect::kNewer;
}

// The name of the table in an ARN. A text that is no ARN of a table is returned as it is.
std::string TableOfArn(std::string_view text);
// Whether it has 1 to 255 of the characters that names of tables have.
bool IsTableName(std::string_view text);

// The integer below; the smallest or the largest one for what is out of range.
int64_t Floor(double number);

template <typename Fields, typename T>
using Ref = typename Fields::template Reference<T>;

// `Read` returns an error that is no violation; violations go to the place.
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
  void DefinedTable(std::string_view name, const std::string& table) { Required(name, table); }
  void Resource(const std::string& table);
  void NotOffered(std::string_view /*name*/) {}
  void CheckPattern(std::string_view, const std::optional<std::string>&) {}
  void CheckLength(std::string_view, const std::optional<std::string>&, size_t, size_t) {}
  template <typename T>
  void CheckCount(std::string_view, const T&, size_t, size_t) {}
  template <typename T>
  void CheckRange(std::string_view, const std::optional<T>&, int64_t, int64_t) {}
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

  // `place` is where the object stands. Both outlive the reader.
  FieldReader(const Json& object, const Place& place) : object_(object), place_(place) {}

  template <typename T>
  void Required(std::string_view name, T& value) {
    const std::optional<Json> found = Find(name);
    const Place place = place_.Member(name);
    if (!found) return place.Missing();
    Note(Codec<T>::Read(*found, place, &value));
  }
  template <typename T>
  void Optional(std::string_view name, std::optional<T>& value) {
    if (const std::optional<Json> found = Find(name)) {
      Note(Codec<T>::Read(*found, place_.Member(name), &value.emplace()));
    }
  }
  template <typename T>
  void Default(std::string_view name, T& value, const std::type_identity_t<T>& otherwise) {
    const std::optional<Json> found = Find(name);
    value = otherwise;
    if (found) Note(Codec<T>::Read(*found, place_.Member(name), &value));
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
  void Table(std::string_view name, std::string& table);
  // The ARN of a table, in ResourceArn. It stays an ARN.
  void Resource(std::string& table);
  // The name of a table that is to be made.
  void NewTable(std::string_view name, std::string& table);
  // The name of a table, for operations on tables themselves, which have messages of their own.
  void DefinedTable(std::string_view name, std::string& table);
  // A parameter of DynamoDB that must not be passed over in silence.
  void NotOffered(std::string_view name);
  void CheckPattern(std::string_view name, const std::optional<std::string>& text);
  // Checks a member that has been read.
  void CheckLength(std::string_view name, const std::optional<std::string>& text, size_t least,
                   size_t most);
  template <typename T>
  void CheckCount(std::string_view name, const T& values, size_t least, size_t most) {
    // What is shown is made only for an error.
    if (values.size() >= least && values.size() <= most) return;
    if (const auto found = Find(name)) {
      place_.Member(name).CheckLength(values.size(), least, most, ShownInJava(*found));
    }
  }
  template <typename T>
  void CheckRange(std::string_view name, const std::optional<T>& value, int64_t least,
                  int64_t most) {
    if (value) place_.Member(name).CheckRange(static_cast<int64_t>(*value), least, most);
  }
  template <typename Fill>
  void Nested(std::string_view name, const Fill& fill) {
    const std::optional<Json> found = Find(name);
    const Place place = place_.Member(name);
    if (!found) return place.Missing();
    if (!found->IsObject()) return Fail(NotAStructure(*found, place, name));
    FieldReader inner(*found, place);
    fill(inner);
  }

  const Place& place() const { return place_; }
  std::optional<Json> Find(std::string_view name) const;
  void Fail(Error error) { place_.problems->Add(std::move(error)); }
  void FailOfParameters(Error error) { place_.problems->AddOfParameters(std::move(error)); }
  void Note(Status status) {
    if (!status) Fail(std::move(status).error());
  }

 private:
  const Json object_;
  const Place& place_;
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
    if (!json.IsObject()) return NotAStructure(json, place, kJavaName<T>);
    FieldReader fields(json, place);
    Describe(fields, *value);
    return Done{};
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
  static Status Read(const Json& json, const Place& place, item::Item* item) {
    *item = TRY(item::DecodeItemJson(json, DialectOf(place)));
    return Done{};
  }
};

template <>
struct Codec<item::Value> {
  static void Write(const item::Value& value, JsonWriter* writer) {
    item::EncodeJson(value, writer);
  }
  static Status Read(const Json& json, const Place& place, item::Value* value) {
    if (!json.IsObject()) return NotAStructure(json, place, "AttributeValue");
    *value = TRY(item::DecodeValueJson(json, DialectOf(place)));
    return Done{};
  }
};

template <std::integral T>
struct Codec<T> {
  static void Write(T value, JsonWriter* writer) { writer->Int(static_cast<int64_t>(value)); }
  static Status Read(const Json& json, const Place& place, T* value) {
    std::optional<int64_t> number = json.AsInt();
    // As in DynamoDB: 1.5 reads as 1.
    if (const auto decimal = json.AsDouble(); !number && decimal) number = Floor(*decimal);
    if (!number) {
      // Counts are integers in DynamoDB's model, whatever they are here.
      const bool is_long = std::is_signed_v<T> && sizeof(T) > 4;
      return item::NotAScalar(json, is_long ? "java.lang.Long" : "java.lang.Integer");
    }
    if (std::in_range<T>(*number)) {
      *value = static_cast<T>(*number);
    } else {
      const int64_t least = place.name == "Segment" ? 0 : kLeastGiven;
      place.CheckRange(*number, least, std::numeric_limits<int32_t>::max());
    }
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
    std::string newer_text;
    if constexpr (requires { NamesOf<E>::kNewerText; }) newer_text = NamesOf<E>::kNewerText;
    place.Violates(fmt::format("'{}'", text),
                   fmt::format("Member must satisfy enum value set: [{}]", allowed),
                   std::move(newer_text));
    return Done{};
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
    if (!json.IsArray()) {
      const bool is_in_map = place.step == Place::Step::kKey;
      return is_in_map ? NotAListInAMap(json) : item::NotAList(json);
    }
    // No list of a request may be longer; most limits are far below. It bounds the memory.
    const bool is_too_long = place.kind == Kind::kRequest && json.Size() > kMaxElements;
    values->clear();
    if (is_too_long) {
      place.CheckLength(json.Size(), 0, kMaxElements, ShownInJava(json));
      return Done{};
    }
    for (const Json element : json.Elements()) {
      T& value = values->emplace_back();
      TRY(Codec<T>::Read(element, place.Element(values->size()), &value));
    }
    return Done{};
  }
};

// The class of a map's values in DynamoDB's messages.
template <typename T>
std::string JavaNameOf() {
  const std::string prefix = "com.amazonaws.dynamodb.v20120810.";
  if constexpr (std::is_same_v<T, std::string>)
    return "java.lang.String";
  else if constexpr (requires { typename T::value_type; })
    return "java.util.List<" + prefix + std::string(kJavaName<typename T::value_type>) + ">";
  else
    return prefix + std::string(kJavaName<T>);
}

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
    if (!json.IsObject()) return NotAMap(json, JavaNameOf<T>());
    values->clear();
    for (const auto& [name, value] : json.Members()) {
      T decoded{};
      TRY(Codec<T>::Read(value, place.Key(name), &decoded));
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
    FieldReader fields(json, place);
    fields.Optional("Item", *item);
    return Done{};
  }
};

// One of several structures, named by the only member of an object around it, as in
// {"Put": {"TableName": …}}. For each there are kActionName and DescribeAction. For the variant,
// NotOne has DynamoDB's texts when there is none and when there are several.
template <typename T>
extern const std::string_view kActionName;
struct NotOneTexts {
  std::string_view none;
  std::string_view several;
};
template <typename Variant>
extern const NotOneTexts kNotOne;

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
    if (!json.IsObject()) return NotAStructure(json, place, kJavaName<std::variant<T...>>);
    FieldReader fields(json, place);
    const size_t given = (size_t{0} + ... + ReadAction<T>(&fields, value));
    const NotOneTexts& texts = kNotOne<std::variant<T...>>;
    if (given != 1) fields.Fail(Invalid(std::string(given == 0 ? texts.none : texts.several)));
    return Done{};
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

// Reads the members of a message that no structure describes.
template <typename Read>
Status ReadMembers(const Json& json, Kind kind, Layer layer, const Read& read) {
  if (!json.IsObject()) return item::NotAStructure(json);
  Problems problems(layer);
  const Place place{.kind = kind, .problems = &problems};
  FieldReader fields(json, place);
  read(fields);
  return problems.Finish();
}

template <typename T>
Result<T> DecodeWith(const Json& json, Kind kind, Layer layer) {
  T value{};
  Problems problems(layer);
  if (Status read = Codec<T>::Read(json, {.kind = kind, .problems = &problems}, &value); !read) {
    problems.Add(std::move(read).error());
  }
  TRY(problems.Finish());
  return value;
}

template <typename T>
Result<T> DecodeRequest(const Json& json, Layer layer) {
  return DecodeWith<T>(json, Kind::kRequest, layer);
}
template <typename T>
Result<T> DecodeBody(const Json& json) {
  return DecodeWith<T>(json, Kind::kReply, Layer::kOlder);
}

}  // namespace tidemark::wire
