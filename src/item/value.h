// Value is one DynamoDB value, of any of its ten types; Map is a set of named values;
// an Item is the Map that a table stores.
//
//   Item item{{"id", String("a")}, {"count", Number::FromInt(3)}};
//   if (const Value* count = item.Find("count")) ...
//
// Maps keep their names sorted by bytes, and sets keep their members sorted and
// distinct, so that equality is a plain comparison. Values are plain data: copying
// copies, and nothing here locks.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "item/number.h"

namespace tidemark::item {

struct Null {
  friend auto operator<=>(const Null&, const Null&) = default;
};
using String = std::string;  // UTF-8.
struct Binary {
  std::string bytes;
  friend auto operator<=>(const Binary&, const Binary&) = default;
};

// A set of values of one type: never empty when it comes from a request.
template <typename Member>
class SetOf {
 public:
  SetOf() = default;
  // Sorts the members and removes duplicates.
  explicit SetOf(std::vector<Member> members) : members_(std::move(members)) {
    std::sort(members_.begin(), members_.end());
    members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
  }
  const std::vector<Member>& members() const { return members_; }
  size_t size() const { return members_.size(); }
  bool empty() const { return members_.empty(); }
  bool Contains(const Member& member) const {
    return std::binary_search(members_.begin(), members_.end(), member);
  }
  // Adds a member that sorts after the last one. Otherwise adds nothing and returns false. Decoders
  // of sorted input use this: it is fast, and they must refuse input in any other order.
  bool Append(Member member) {
    if (!members_.empty() && !(members_.back() < member)) return false;
    members_.push_back(std::move(member));
    return true;
  }
  void Reserve(size_t count) { members_.reserve(count); }
  friend bool operator==(const SetOf&, const SetOf&) = default;

 private:
  std::vector<Member> members_;
};
using StringSet = SetOf<String>;
using NumberSet = SetOf<Number>;
using BinarySet = SetOf<Binary>;

class Value;
struct Attribute;
using List = std::vector<Value>;

class Map {
 public:
  // Defined below Attribute, because a vector needs the complete type.
  Map();
  Map(std::initializer_list<Attribute> attributes);
  // The attributes may be in any order. Of several with one name, the last is kept. This sorts
  // once; calling Set for each attribute would take quadratic time.
  static Map FromAttributes(std::vector<Attribute> attributes);
  Map(const Map&);
  Map(Map&&) noexcept;
  Map& operator=(const Map&);
  Map& operator=(Map&&) noexcept;
  ~Map();

  // The value under the name, or nullptr.
  const Value* Find(std::string_view name) const;
  Value* Find(std::string_view name);
  bool Contains(std::string_view name) const { return Find(name) != nullptr; }
  // Adds or replaces.
  void Set(std::string_view name, Value value);
  // False when there was none.
  bool Erase(std::string_view name);
  // Adds an attribute whose name sorts after the last one. Otherwise adds nothing and returns
  // false. For decoders of sorted input.
  bool Append(std::string name, Value value);
  // The same for decoding in place: returns the new value, a NULL, or nullptr if none was added.
  Value* Append(std::string_view name);

  // In the order of their names.
  std::vector<Attribute>::const_iterator begin() const;
  std::vector<Attribute>::const_iterator end() const;
  size_t size() const;
  bool empty() const;
  void Reserve(size_t count);

  friend bool operator==(const Map& left, const Map& right);

 private:
  std::vector<Attribute> attributes_;
};
using Item = Map;

// In DynamoDB's letters: S, N, B, BOOL, NULL, SS, NS, BS, L, M. The order is that of
// Value::Data's alternatives.
enum class Type {
  kString,
  kNumber,
  kBinary,
  kBool,
  kNull,
  kStringSet,
  kNumberSet,
  kBinarySet,
  kList,
  kMap
};
std::string_view ToString(Type type);                  // "S", "NS", …
std::optional<Type> ParseType(std::string_view text);  // nullopt when there is no such type.

// What a value may hold.
template <typename T>
concept ValueData = std::is_same_v<T, String> || std::is_same_v<T, Number> ||
    std::is_same_v<T, Binary> || std::is_same_v<T, bool> || std::is_same_v<T, Null> ||
    std::is_same_v<T, StringSet> || std::is_same_v<T, NumberSet> || std::is_same_v<T, BinarySet> ||
    std::is_same_v<T, List> || std::is_same_v<T, Map>;

class Value {
 public:
  using Data =
      std::variant<String, Number, Binary, bool, Null, StringSet, NumberSet, BinarySet, List, Map>;

  Value() : data_(Null{}) {}
  template <ValueData T>
  Value(T data) : data_(std::move(data)) {}         // NOLINT: implicit, for literals of items
  Value(const char* text) : data_(String(text)) {}  // NOLINT: implicit, as above

  Type type() const { return static_cast<Type>(data_.index()); }
  const Data& data() const { return data_; }
  Data& data() { return data_; }

  // The alternative, or nullptr when the value is of another type.
  template <typename T>
  const T* As() const {
    return std::get_if<T>(&data_);
  }
  template <typename T>
  T* As() {
    return std::get_if<T>(&data_);
  }

  friend bool operator==(const Value&, const Value&) = default;

 private:
  Data data_;
};

struct Attribute {
  std::string name;
  Value value;
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

inline Map::Map() = default;
inline Map::Map(const Map&) = default;
inline Map::Map(Map&&) noexcept = default;
inline Map& Map::operator=(const Map&) = default;
inline Map& Map::operator=(Map&&) noexcept = default;
inline Map::~Map() = default;
inline std::vector<Attribute>::const_iterator Map::begin() const { return attributes_.begin(); }
inline std::vector<Attribute>::const_iterator Map::end() const { return attributes_.end(); }
inline size_t Map::size() const { return attributes_.size(); }
inline bool Map::empty() const { return attributes_.empty(); }

}  // namespace tidemark::item
