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
// it is moved. Documents may be read from several threads at once; a writer has one owner.
// Parsing is linear in time, bounded in depth (kMaxJsonDepth), and refuses what is not
// valid UTF-8. It never keeps the text.
#pragma once

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

  // The first member of this name; nullopt when there is none or this is no object.
  // Linear in the number of members.
  std::optional<Json> Find(std::string_view name) const;

  // In the order of the text; empty when this is no object or no array. A name that
  // repeats is given each time.
  JsonMembers Members() const;
  JsonElements Elements() const;
  // The number of members or elements; 0 for other kinds.
  size_t Size() const;

 private:
  friend class JsonDocument;
  friend class JsonMembers;
  friend class JsonElements;

  Json(const simdjson::dom::document* document, size_t position)
      : document_(document), position_(position) {}
  // Where the value after this one begins.
  size_t End() const;

  const simdjson::dom::document* document_;
  size_t position_;
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
    bool operator==(const Iterator& other) const {
      return name_.position_ == other.name_.position_;
    }

   private:
    friend class JsonMembers;
    explicit Iterator(Json name) : name_(name) {}
    Json name_;
  };

  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  friend class Json;
  JsonMembers(Json begin, Json end) : begin_(begin), end_(end) {}
  Json begin_;
  Json end_;
};

// The elements of an array, for a range-based for.
class JsonElements {
 public:
  class Iterator {
   public:
    Json operator*() const { return element_; }
    Iterator& operator++();
    bool operator==(const Iterator& other) const {
      return element_.position_ == other.element_.position_;
    }

   private:
    friend class JsonElements;
    explicit Iterator(Json element) : element_(element) {}
    Json element_;
  };

  Iterator begin() const { return Iterator(begin_); }
  Iterator end() const { return Iterator(end_); }

 private:
  friend class Json;
  JsonElements(Json begin, Json end) : begin_(begin), end_(end) {}
  Json begin_;
  Json end_;
};

// A parsed text: one value and nothing but white space around it.
class JsonDocument {
 public:
  // kInvalid when the text is not JSON; the message says what is wrong, and at which byte
  // when that can be told.
  static Result<JsonDocument> Parse(std::string_view text);

  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();

  Json root() const;

 private:
  explicit JsonDocument(std::unique_ptr<simdjson::dom::document> document);

  std::unique_ptr<simdjson::dom::document> document_;
};

// The value as compact JSON, with its members in the order of the text.
std::string ToText(const Json& json);

// Appends compact JSON to a string, and sets the commas. The caller keeps the calls in
// order: every Begin has its End, and every value in an object has its Key before it.
class JsonWriter {
 public:
  explicit JsonWriter(std::string* out) : out_(out) {}

  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }
  void Key(std::string_view name);

  // The text is UTF-8; it is escaped, not checked.
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
