// Reads a JSON object, such as the body of an API request, member by member, with errors that name
// the member. Unknown members are refused: a misspelt option must not silently mean its default.
//
//   JsonBody body = TRY(JsonBody::Parse(request.body, {"key", "lease_seconds"}));
//   std::string key = TRY(body.Text("key"));
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace tidemark {

class JsonBody {
 public:
  // kInvalid when the text is not a JSON object, or has a field that is not in `known` or that
  // repeats.
  static Result<JsonBody> Parse(std::string_view text,
                                std::initializer_list<std::string_view> known);

  bool Has(std::string_view field) const { return Find(field).has_value(); }

  // kInvalid when it is missing or of another kind. A null counts as missing.
  Result<std::string> Text(std::string_view field) const;
  Result<int64_t> Integer(std::string_view field) const;
  Result<std::vector<std::string>> Texts(std::string_view field) const;
  // The same, but nulls in the array are skipped. They stand for values the sender does not know.
  Result<std::vector<std::string>> KnownTexts(std::string_view field) const;
  Result<JsonBody> Object(std::string_view field,
                          std::initializer_list<std::string_view> known) const;

  // The same for fields that may be missing.
  Result<std::string> TextOr(std::string_view field, std::string_view fallback) const;
  Result<int64_t> IntegerOr(std::string_view field, int64_t fallback) const;
  Result<bool> BoolOr(std::string_view field, bool fallback) const;
  // An object of texts; empty when it is missing.
  Result<std::map<std::string, std::string>> TextMap(std::string_view field) const;

 private:
  JsonBody(std::shared_ptr<const JsonDocument> document, Json object, std::string name)
      : document_(std::move(document)), object_(object), name_(std::move(name)) {}
  static Status CheckFields(Json object, const std::string& name,
                            std::initializer_list<std::string_view> known);
  enum class Nulls { kRefused, kPassedOver };
  Result<std::vector<std::string>> TextsIn(std::string_view field, Nulls nulls) const;
  std::optional<Json> Find(std::string_view field) const;
  Result<Json> Require(std::string_view field) const;
  Error WrongKind(std::string_view field, std::string_view expected, Json found) const;

  std::shared_ptr<const JsonDocument> document_;
  Json object_;
  std::string name_;  // "" for the body itself, "claim." within it.
};

}  // namespace tidemark
