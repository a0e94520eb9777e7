#include "base/json.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/core.h>
#include <simdjson.h>

#include "base/check.h"
#include "base/limits.h"

namespace tidemark {

namespace {

using simdjson::error_code;
namespace dom = simdjson::dom;
namespace ondemand = simdjson::ondemand;

// Json and its iterators keep simdjson's own views as plain words, so that json.h does not include
// simdjson. A view is two words that may be copied like any others.
template <typename View>
JsonWords WordsOf(const View& view) {
  return std::bit_cast<JsonWords>(view);
}
template <typename View>
View ViewOf(const JsonWords& words) {
  return std::bit_cast<View>(words);
}

template <typename T>
std::optional<T> ValueOf(simdjson::simdjson_result<T> found) {
  if (found.error()) return std::nullopt;
  return found.value_unsafe();
}

std::string Describe(error_code error) {
  switch (error) {
    case simdjson::EMPTY:
      return "it is empty";
    case simdjson::UTF8_ERROR:
      return "it is not valid UTF-8";
    case simdjson::DEPTH_ERROR:
      return fmt::format("it nests deeper than {}", kMaxJsonDepth);
    case simdjson::UNCLOSED_STRING:
      return "a string is not closed";
    case simdjson::UNESCAPED_CHARS:
      return "a string has a control character that is not escaped";
    case simdjson::STRING_ERROR:
      return "a string has a wrong escape";
    case simdjson::NUMBER_ERROR:
      return "a number is malformed or too large";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
      return "a word is not true, false or null";
    case simdjson::TAPE_ERROR:
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT:
      return "a bracket, comma, colon or value is missing or out of place";
    default:
      return simdjson::error_message(error);
  }
}

error_code VisitAll(ondemand::value value, size_t depth);

error_code VisitAll(simdjson::simdjson_result<ondemand::object> found, size_t depth) {
  if (auto error = found.error()) return error;
  ondemand::object object = found.value_unsafe();
  for (auto member : object) {
    if (auto error = member.error()) return error;
    ondemand::field field = member.value_unsafe();
    if (auto error = field.unescaped_key().error()) return error;
    if (auto error = VisitAll(field.value(), depth)) return error;
  }
  return simdjson::SUCCESS;
}

error_code VisitAll(simdjson::simdjson_result<ondemand::array> found, size_t depth) {
  if (auto error = found.error()) return error;
  ondemand::array array = found.value_unsafe();
  for (auto element : array) {
    if (auto error = element.error()) return error;
    if (auto error = VisitAll(element.value_unsafe(), depth)) return error;
  }
  return simdjson::SUCCESS;
}

error_code VisitAll(ondemand::value value, size_t depth) {
  // This parser does not limit the depth by itself.
  if (depth > kMaxJsonDepth) return simdjson::DEPTH_ERROR;
  ondemand::json_type type;
  if (auto error = value.type().get(type)) return error;
  switch (type) {
    case ondemand::json_type::object:
      return VisitAll(value.get_object(), depth + 1);
    case ondemand::json_type::array:
      return VisitAll(value.get_array(), depth + 1);
    case ondemand::json_type::string:
      return value.get_string().error();
    case ondemand::json_type::number:
      return value.get_number().error();
    case ondemand::json_type::boolean:
      return value.get_bool().error();
    case ondemand::json_type::null:
      return value.is_null().error();
  }
  return simdjson::SUCCESS;
}

// The parser that we use does not report the position of an error. simdjson's on-demand parser
// does, so a text that failed is parsed again with it.
std::optional<size_t> FaultOffset(std::string_view text) {
  const simdjson::padded_string padded(text);
  ondemand::parser parser;
  ondemand::document document;
  ondemand::value root;
  if (parser.allocate(text.size(), kMaxJsonDepth + 2) || parser.iterate(padded).get(document) ||
      document.get_value().get(root) || !VisitAll(root, 0)) {
    return std::nullopt;
  }
  const char* where = nullptr;
  if (document.current_location().get(where)) return std::nullopt;
  return where - padded.data();
}

Error NotJson(std::string_view text, error_code error) {
  std::string message = "not JSON: " + Describe(error);
  if (auto offset = FaultOffset(text)) message += fmt::format(", near byte {}", *offset);
  return Invalid(std::move(message));
}

// The working memory of a parser is expensive to allocate and needed only while parsing, so each
// thread keeps one parser.
class ThreadParser {
 public:
  error_code Parse(std::string_view text, simdjson::dom::document* document) {
    if (parser_.capacity() == 0) {
      if (auto error = parser_.allocate(4096, kMaxJsonDepth)) return error;
    }
    const auto error = parser_.parse_into_document(*document, text.data(), text.size()).error();
    // A thread that once parsed a large text must not hold its memory for ever.
    if (text.size() > kMaxKeptJsonBufferBytes) parser_ = simdjson::dom::parser();
    return error;
  }

 private:
  simdjson::dom::parser parser_;
};

// How a byte of a string is written: 0 means unchanged, 'u' means \u00XX, and any other value is
// the letter after a backslash.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> escapes{};
  for (int byte = 0; byte < 0x20; ++byte) escapes[byte] = 'u';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  escapes['\b'] = 'b';
  escapes['\f'] = 'f';
  escapes['\n'] = 'n';
  escapes['\r'] = 'r';
  escapes['\t'] = 't';
  return escapes;
}();

void AppendEscape(char byte, std::string* out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const char escape = kEscapes[static_cast<uint8_t>(byte)];
  *out += '\\';
  *out += escape;
  if (escape != 'u') return;
  *out += "00";
  *out += kDigits[byte >> 4];
  *out += kDigits[byte & 15];
}

void AppendQuoted(std::string_view text, std::string* out) {
  *out += '"';
  size_t written = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (kEscapes[static_cast<uint8_t>(text[i])] == 0) [[likely]]
      continue;
    out->append(text, written, i - written);
    AppendEscape(text[i], out);
    written = i + 1;
  }
  out->append(text, written);
  *out += '"';
}

}  // namespace

std::string_view ToString(JsonKind kind) {
  switch (kind) {
    case JsonKind::kObject:
      return "an object";
    case JsonKind::kArray:
      return "an array";
    case JsonKind::kString:
      return "a string";
    case JsonKind::kNumber:
      return "a number";
    case JsonKind::kBool:
      return "true or false";
    case JsonKind::kNull:
      return "null";
  }
  return "null";
}

JsonKind Json::kind() const {
  switch (ViewOf<dom::element>(words_).type()) {
    case dom::element_type::OBJECT:
      return JsonKind::kObject;
    case dom::element_type::ARRAY:
      return JsonKind::kArray;
    case dom::element_type::STRING:
      return JsonKind::kString;
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
    case dom::element_type::DOUBLE:
      return JsonKind::kNumber;
    case dom::element_type::BOOL:
      return JsonKind::kBool;
    case dom::element_type::NULL_VALUE:
      return JsonKind::kNull;
  }
  return JsonKind::kNull;
}

std::optional<std::string_view> Json::AsString() const {
  return ValueOf(ViewOf<dom::element>(words_).get_string());
}

std::optional<bool> Json::AsBool() const {
  return ValueOf(ViewOf<dom::element>(words_).get_bool());
}

std::optional<int64_t> Json::AsInt() const {
  return ValueOf(ViewOf<dom::element>(words_).get_int64());
}

std::optional<double> Json::AsDouble() const {
  return ValueOf(ViewOf<dom::element>(words_).get_double());
}

std::optional<Json> Json::Find(std::string_view name) const {
  // simdjson has no index of the members. Objects are small, so a search is cheaper than building
  // one.
  for (const JsonMember& member : Members()) {
    if (member.name == name) return member.value;
  }
  return std::nullopt;
}

JsonMembers Json::Members() const {
  const auto object = ValueOf(ViewOf<dom::element>(words_).get_object());
  if (!object) return {{}, {}};
  return {WordsOf(object->begin()), WordsOf(object->end())};
}

JsonElements Json::Elements() const {
  const auto array = ValueOf(ViewOf<dom::element>(words_).get_array());
  if (!array) return {{}, {}};
  return {WordsOf(array->begin()), WordsOf(array->end())};
}

size_t Json::Size() const {
  const dom::element element = ViewOf<dom::element>(words_);
  if (const auto object = ValueOf(element.get_object())) return object->size();
  if (const auto array = ValueOf(element.get_array())) return array->size();
  return 0;
}

JsonMember JsonMembers::Iterator::operator*() const {
  const auto at = ViewOf<dom::object::iterator>(words_);
  return {.name = at.key(), .value = Json(WordsOf(at.value()))};
}

JsonMembers::Iterator& JsonMembers::Iterator::operator++() {
  auto at = ViewOf<dom::object::iterator>(words_);
  words_ = WordsOf(++at);
  return *this;
}

Json JsonElements::Iterator::operator*() const {
  return Json(WordsOf(*ViewOf<dom::array::iterator>(words_)));
}

JsonElements::Iterator& JsonElements::Iterator::operator++() {
  auto at = ViewOf<dom::array::iterator>(words_);
  words_ = WordsOf(++at);
  return *this;
}

Result<JsonDocument> JsonDocument::Parse(std::string_view text) {
  thread_local ThreadParser parser;
  auto document = std::make_unique<simdjson::dom::document>();
  if (auto error = parser.Parse(text, document.get())) return NotJson(text, error);
  return JsonDocument(std::move(document));
}

JsonDocument::JsonDocument(std::unique_ptr<simdjson::dom::document> document)
    : document_(std::move(document)) {}
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;
JsonDocument::~JsonDocument() = default;

Json JsonDocument::root() const { return Json(WordsOf(document_->root())); }

std::string TextIn(const Json& object, std::string_view name) {
  const auto value = object.Find(name);
  return std::string(value ? value->AsString().value_or("") : "");
}

int64_t IntegerIn(const Json& object, std::string_view name) {
  const auto value = object.Find(name);
  return value ? value->AsInt().value_or(0) : 0;
}

bool IsTrueIn(const Json& object, std::string_view name) {
  const auto value = object.Find(name);
  return value && value->AsBool().value_or(false);
}

namespace {

std::optional<std::string_view> RepeatedAmong(const JsonMembers& members) {
  // Most objects have one member, such as {"S":"a"}, and need no memory.
  auto at = members.begin();
  if (at == members.end() || ++at == members.end()) return std::nullopt;
  std::vector<std::string_view> names;
  for (const JsonMember& member : members) names.push_back(member.name);
  std::ranges::sort(names);
  const auto repeated = std::ranges::adjacent_find(names);
  if (repeated == names.end()) return std::nullopt;
  return *repeated;
}

// How many bytes more than itself the byte takes in a JSON text, at most.
uint8_t EscapeBytes(char c) {
  const auto byte = static_cast<uint8_t>(c);
  const bool is_escaped = byte == '"' || byte == '\\';
  return static_cast<uint8_t>((byte < 0x20 ? 5 : 0) + (is_escaped ? 1 : 0));
}

}  // namespace

// The depth of a document is limited, and so is that of this recursion.
std::optional<std::string_view> RepeatedName(const Json& json) {
  if (const auto repeated = RepeatedAmong(json.Members())) return repeated;
  for (const JsonMember& member : json.Members()) {
    if (const auto repeated = RepeatedName(member.value)) return repeated;
  }
  for (const Json& element : json.Elements()) {
    if (const auto repeated = RepeatedName(element)) return repeated;
  }
  return std::nullopt;
}

size_t JsonTextBytes(std::string_view text) {
  size_t bytes = 2 + text.size();
  // Every page of a query is measured with this. A block of a fixed length, without branches and
  // counted in one byte, becomes a few vector instructions: 0.6 us in place of 8 for 10 KB.
  constexpr size_t kBlock = 32;
  static_assert(kBlock * 5 <= UINT8_MAX);
  for (; text.size() >= kBlock; text.remove_prefix(kBlock)) {
    uint8_t escapes = 0;
    for (size_t i = 0; i < kBlock; ++i) {
      escapes = static_cast<uint8_t>(escapes + EscapeBytes(text[i]));
    }
    bytes += escapes;
  }
  for (const char c : text) bytes += EscapeBytes(c);
  return bytes;
}

void JsonWriter::Separate() {
  if (needs_comma_) *out_ += ',';
  needs_comma_ = true;
}

void JsonWriter::Open(char bracket) {
  Separate();
  *out_ += bracket;
  needs_comma_ = false;
}

void JsonWriter::Close(char bracket) {
  *out_ += bracket;
  needs_comma_ = true;
}

void JsonWriter::Key(std::string_view name) {
  Separate();
  AppendQuoted(name, out_);
  *out_ += ':';
  needs_comma_ = false;
}

void JsonWriter::String(std::string_view text) {
  Separate();
  AppendQuoted(text, out_);
}

void JsonWriter::Int(int64_t value) {
  char digits[24];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  Raw({digits, end});
}

void JsonWriter::Double(double value) {
  // JSON has no infinity and no NaN.
  if (!std::isfinite(value)) return Null();
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  const std::string_view text(digits, end);
  Raw(text);
  // The point says that the number is a double, so that a reader does not take 3.0 for an integer.
  if (text.find_first_of(".e") == std::string_view::npos) *out_ += ".0";
}

void JsonWriter::Raw(std::string_view json) {
  Separate();
  *out_ += json;
}

namespace {

void Write(const Json& json, JsonWriter* writer) {
  switch (json.kind()) {
    case JsonKind::kObject:
      writer->BeginObject();
      for (const auto& [name, value] : json.Members()) {
        writer->Key(name);
        Write(value, writer);
      }
      return writer->EndObject();
    case JsonKind::kArray:
      writer->BeginArray();
      for (const Json& element : json.Elements()) Write(element, writer);
      return writer->EndArray();
    case JsonKind::kString:
      return writer->String(*json.AsString());
    case JsonKind::kNumber:
      if (const auto whole = json.AsInt()) return writer->Int(*whole);
      return writer->Double(*json.AsDouble());
    case JsonKind::kBool:
      return writer->Bool(*json.AsBool());
    case JsonKind::kNull:
      return writer->Null();
  }
}

}  // namespace

std::string ToText(const Json& json) {
  std::string text;
  JsonWriter writer(&text);
  Write(json, &writer);
  return text;
}

}  // namespace tidemark
