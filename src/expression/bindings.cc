#include "expression/bindings.h"

#include <algorithm>

#include <fmt/format.h>

#include "expression/limits.h"
#include "expression/token.h"

namespace tidemark::expression {

namespace {

bool IsReference(std::string_view key, char mark) {
  return key.size() > 1 && key.front() == mark && std::all_of(key.begin() + 1, key.end(), IsWord);
}

template <typename Supplied>
Status VerifyKeys(const Supplied& supplied, char mark, std::string_view parameter) {
  for (const auto& [key, ignored] : supplied) {
    if (key.size() > kMaxReferenceBytes) {
      return Invalid(fmt::format(
          "{} contains invalid key: The expression attribute map contains a key that is "
          "too long; size of key: {}",
          parameter, key.size()));
    }
    if (!IsReference(key, mark)) {
      return Invalid(
          fmt::format(R"({} contains invalid key: Syntax error; key: "{}")", parameter, key));
    }
  }
  return Done{};
}

template <typename Supplied>
const typename Supplied::mapped_type* FindIn(const Supplied& supplied, std::string_view reference) {
  const auto found = supplied.find(reference);
  return found == supplied.end() ? nullptr : &found->second;
}

// `used` is sorted.
template <typename Supplied>
Status VerifyUsed(const Supplied& supplied, const std::vector<const void*>& used,
                  std::string_view parameter) {
  std::string unused;
  for (const auto& [key, value] : supplied) {
    if (std::binary_search(used.begin(), used.end(), static_cast<const void*>(&value))) continue;
    unused += (unused.empty() ? "" : ", ") + key;
  }
  if (unused.empty()) return Done{};
  return Invalid(
      fmt::format("Value provided in {} unused in expressions: keys: {{{}}}", parameter, unused));
}

}  // namespace

Result<Bindings> Bindings::Make(const Names& names, const Values& values, bool has_expression) {
  if (!has_expression && !names.empty()) {
    return Invalid("ExpressionAttributeNames can only be specified when using expressions");
  }
  if (!has_expression && !values.empty()) {
    return Invalid("ExpressionAttributeValues can only be specified when using expressions");
  }
  // The order of these checks decides which of several errors the caller gets.
  TRY(VerifyKeys(names, '#', "ExpressionAttributeNames"));
  for (const auto& [key, name] : names) {
    if (!name.empty()) continue;
    return Invalid(fmt::format(
        "ExpressionAttributeNames contains invalid value: Empty attribute name for key {}", key));
  }
  TRY(VerifyKeys(values, ':', "ExpressionAttributeValues"));
  return Bindings(&names, &values);
}

const std::string* Bindings::UseName(std::string_view reference) {
  const std::string* name = FindIn(*names_, reference);
  if (name != nullptr) used_.push_back(name);
  return name;
}

const item::Value* Bindings::UseValue(std::string_view reference) {
  const item::Value* value = FindIn(*values_, reference);
  if (value != nullptr) used_.push_back(value);
  return value;
}

Status Bindings::AllUsed() const {
  std::vector<const void*> used = used_;
  std::sort(used.begin(), used.end());
  TRY(VerifyUsed(*names_, used, "ExpressionAttributeNames"));
  return VerifyUsed(*values_, used, "ExpressionAttributeValues");
}

}  // namespace tidemark::expression
