// JSON in and out. A JsonDocument is a text parsed once; a Json is a cheap view of one
// value in it; a JsonWriter appends text to a string.
//
//   JsonDocument document = TRY(JsonDocument::Parse(body));
//   for (const auto& [name, value] : document.root().Members()) ...
//
//   JsonWriter writer(&text);
//   writer.BeginObject();
//   writer.Key("id");
//   writer.String("a");
//   writer.EndObject();
//
// Views, and every string_view taken from them, live as long as their document, wherever
// it is moved. Documents may be read from several threads at once; a writer is for one thread.
// Parsing takes linear time, limits the depth (kMaxJsonDepth), and refuses invalid UTF-8. It does
// not keep the text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace simdjson::dom {
class document;
}

namespace tidemark {

enum class JsonKind { kObject, kArray, kString, kNumber, kBool, kNull };

// "an object", "a string": for messages.
std::string_view ToString(JsonKind kind);

class JsonMembers;
class JsonElements;

// The content of the parser's own views.
using JsonWords = std::array<uint64_t, 2>;

// One value of a document. Two words; copy it freely.
class Json {
 public:
  JsonKind kind() const;
  bool IsObject() const { return kind() == JsonKind::kObject; }
  bool IsArray() const { return kind() == JsonKind::kArray; }
  bool IsNull() const { return kind() == JsonKind::kNull; }

  // Each is nullopt when the value is of another kind.
  std::optional<std::string_view> AsString() const;
  std::optional<bool> AsBool() const;
  // Also nullopt when the number has a fraction or exponent, or does not fit.
  std::optional<int64_t> AsInt() const;
  // The nearest double to any number.
  std::optional<double> AsDouble() const;

  // The first member with this name; nullopt when there is none or this is not an object. Linear in
  // the number of members.
  std::optional<Json> Find(std::string_view name) const;

  // In the order of the text; empty when this is not an object or not an array. A repeated name
  // appears each time.
  JsonMembers Members() const;
  JsonElements Elements() const;
  // The number of members or elements, which stops counting at 2^24 − 1; 0 for other kinds.
  size_t Size() const;

 private:
  friend class JsonDocument;
  friend class JsonMembers;
  friend class JsonElements;

  explicit Json(const JsonWords& words) : words_(words) {}

  JsonWords words_;
};

struct JsonMember {
  std::string_view name;
  Json value;
};

// The members of an object, for a range-based for.
class JsonMembers {
 public:
  class Iterator {
   public:
    JsonMember operator*() const;
    Iterator& operator++();
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    friend class JsonMembers;
    explicit Iterator(const JsonWords& words) : words_(words) {}
    JsonWords words_;
  };

  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  friend class Json;
  JsonMembers(const JsonWords& begin, const JsonWords& end) : begin_(begin), end_(end) {}
  JsonWords begin_;
  JsonWords end_;
};

// The elements of an array, for a range-based for.
class JsonElements {
 public:
  class Iterator {
   public:
    Json operator*() const;
    Iterator& operator++();
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    friend class JsonElements;
    explicit Iterator(const JsonWords& words) : words_(words) {}
    JsonWords words_;
  };

  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  friend class Json;
  JsonElements(const JsonWords& begin, const JsonWords& end) : begin_(begin), end_(end) {}
  JsonWords begin_;
  JsonWords end_;
};

// A parsed text: one value, with only white space around it.
class JsonDocument {
 public:
  // kInvalid when the text is not JSON; the message says what is wrong, and at which byte if that
  // is known.
  static Result<JsonDocument> Parse(std::string_view text);

  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();

  Json root() const;

 private:
  explicit JsonDocument(std::unique_ptr<simdjson::dom::document> document);

  std::unique_ptr<simdjson::dom::document> document_;
};

// Members of an object that is not validated. A member that is missing, null or of another kind
// reads as empty, zero or false. To report such mistakes to the sender, use json_body.h.
std::string TextIn(const Json& object, std::string_view name);
int64_t IntegerIn(const Json& object, std::string_view name);
bool IsTrueIn(const Json& object, std::string_view name);

// A name that some object in the value has twice; nullopt when there is none. Two readers may take
// different ones of such members, so a strict reader refuses them.
std::optional<std::string_view> RepeatedName(const Json& json);

// The value as compact JSON, with its members in the order of the text.
std::string ToText(const Json& json);

// How many bytes JsonWriter::String writes for the text, or a few more: every control character
// counts as six bytes, although some are written as two.
size_t JsonTextBytes(std::string_view text);

// Appends compact JSON to a string, and writes the commas. The caller must keep the right order:
// every Begin has its End, and every value in an object has its Key before it.
class JsonWriter {
 public:
  explicit JsonWriter(std::string* out) : out_(out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  void Key(std::string_view name);

  // The text must be UTF-8. It is escaped but not checked.
  void String(std::string_view text);
  void Int(int64_t value);
  // The shortest text that parses to the same double, always with a point or exponent.
  // JSON has no infinities and no NaN: they are written as null.
  void Double(double value);
  void Bool(bool value) { Raw(value ? "true" : "false"); }
  void Null() { Raw("null"); }
  // One value that is JSON already.
  void Raw(std::string_view json);

 private:
  void Separate();
  void Open(char bracket);
  void Close(char bracket);

  std::string* out_;
  bool needs_comma_ = false;
};

}  // namespace tidemark
