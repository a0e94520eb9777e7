#include "base/json.h"

#include <array>
#include <charconv>
#include <cmath>

#include <fmt/core.h>
// Takes away the conversions that throw, so that no error can be overlooked.
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include "base/check.h"
#include "base/limits.h"

namespace tidemark {

namespace {

using simdjson::error_code;
using simdjson::internal::tape_ref;
using simdjson::internal::tape_type;
namespace ondemand = simdjson::ondemand;

// simdjson keeps a parsed text as a tape: one word for each value, two for a number, the
// words of a container between those of its brackets. In an object names and values
// alternate.

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
      return "a word is none of true, false, null";
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
  // This parser does not bound the depth by itself.
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

// The parser we use does not say where it stopped. simdjson's other one, which reads a text
// step by step, does; only a text that failed is read with it.
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

// A parser's scratch memory is dear to allocate and needed only while parsing, so a thread
// keeps one.
class ThreadParser {
 public:
  error_code Parse(std::string_view text, simdjson::dom::document* document) {
    if (parser_.capacity() == 0) {
      if (auto error = parser_.allocate(4096, kMaxJsonDepth)) return error;
    }
    const auto error = parser_.parse_into_document(*document, text.data(), text.size()).error();
    if (text.size() > kMaxKeptJsonBufferBytes) parser_ = simdjson::dom::parser();
    return error;
  }

 private:
  simdjson::dom::parser parser_;
};

// What a byte of a string becomes: 0 for itself, 'u' for \u00XX, else the letter after the
// backslash.
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
  switch (tape_ref(document_, position_).tape_ref_type()) {
    case tape_type::START_OBJECT:
      return JsonKind::kObject;
    case tape_type::START_ARRAY:
      return JsonKind::kArray;
    case tape_type::STRING:
      return JsonKind::kString;
    case tape_type::INT64:
    case tape_type::UINT64:
    case tape_type::DOUBLE:
      return JsonKind::kNumber;
    case tape_type::TRUE_VALUE:
    case tape_type::FALSE_VALUE:
      return JsonKind::kBool;
    default:
      return JsonKind::kNull;
  }
}

std::optional<std::string_view> Json::AsString() const {
  const tape_ref tape(document_, position_);
  if (tape.tape_ref_type() != tape_type::STRING) return std::nullopt;
  return tape.get_string_view();
}

std::optional<bool> Json::AsBool() const {
  const tape_ref tape(document_, position_);
  if (tape.is_true()) return true;
  if (tape.is_false()) return false;
  return std::nullopt;
}

std::optional<int64_t> Json::AsInt() const {
  // simdjson takes a number for unsigned only when it is too large for a signed one.
  const tape_ref tape(document_, position_);
  if (!tape.is_int64()) return std::nullopt;
  return tape.next_tape_value<int64_t>();
}

std::optional<double> Json::AsDouble() const {
  const tape_ref tape(document_, position_);
  if (tape.is_double()) return tape.next_tape_value<double>();
  if (tape.is_int64()) return static_cast<double>(tape.next_tape_value<int64_t>());
  if (tape.is_uint64()) return static_cast<double>(tape.next_tape_value<uint64_t>());
  return std::nullopt;
}

std::optional<Json> Json::Find(std::string_view name) const {
  for (const JsonMember& member : Members()) {
    if (member.name == name) return member.value;
  }
  return std::nullopt;
}

size_t Json::End() const { return tape_ref(document_, position_).after_element(); }

JsonMembers Json::Members() const {
  if (!IsObject()) return {*this, *this};
  return {Json(document_, position_ + 1), Json(document_, End() - 1)};
}

JsonElements Json::Elements() const {
  if (!IsArray()) return {*this, *this};
  return {Json(document_, position_ + 1), Json(document_, End() - 1)};
}

size_t Json::Size() const {
  if (!IsObject() && !IsArray()) return 0;
  return tape_ref(document_, position_).scope_count();
}

JsonMember JsonMembers::Iterator::operator*() const {
  return {.name = tape_ref(name_.document_, name_.position_).get_string_view(),
          .value = Json(name_.document_, name_.position_ + 1)};
}

JsonMembers::Iterator& JsonMembers::Iterator::operator++() {
  name_.position_ = (**this).value.End();
  return *this;
}

JsonElements::Iterator& JsonElements::Iterator::operator++() {
  element_.position_ = element_.End();
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

Json JsonDocument::root() const {
  // The tape's first word is not a value: it tells where the tape ends.
  return Json(document_.get(), 1);
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
  if (!std::isfinite(value)) return Null();
  char digits[32];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  const std::string_view text(digits, end);
  Raw(text);
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
