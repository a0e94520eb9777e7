#include "apps/archive/row_update.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "apps/archive/attributes.h"
#include "apps/archive/keys.h"

namespace tidemark::archive {

namespace {

constexpr std::string_view kRevision = "revision";

// Attributes that an update may remove. All others are only added or replaced; in particular the
// file processor's attributes, which `next` does not have, are never removed.
constexpr std::array<std::string_view, 14> kRemovable = {
    "archived", "attachments", "blocks",           "edited_by", "event_ts",
    "imported", "inferred",    "raw_event",        "stub",      "raw_event_dropped",
    "text",     "updated_ts",  "raw_event_object", "was_public"};

bool IsRemoved(const item::Attribute& attribute, const item::Item& next) {
  return !next.Contains(attribute.name) &&
         std::find(kRemovable.begin(), kRemovable.end(), attribute.name) != kRemovable.end();
}

bool IsSet(const item::Attribute& attribute, const item::Item& row) {
  const item::Value* const known = row.Find(attribute.name);
  return attribute.name != kRevision && (!known || *known != attribute.value);
}

// Every name gets an alias, because several of them (timestamp, text, user) are reserved words.
std::string AddName(std::string_view name, tables::Names* names) {
  std::string alias = fmt::format("#n{}", names->size());
  names->emplace(alias, name);
  return alias;
}

void AddChange(std::string_view name, item::Value value, tables::UpdateRequest* request) {
  std::string placeholder = fmt::format(":v{}", request->values.size());
  *request->update += request->values.empty() ? "SET " : ", ";
  *request->update += fmt::format("{} = {}", AddName(name, &request->names), placeholder);
  request->values.emplace(std::move(placeholder), std::move(value));
}

void AddRemovals(const item::Item& row, const item::Item& next, tables::UpdateRequest* request) {
  std::string_view separator = " REMOVE ";
  for (const item::Attribute& attribute : row) {
    if (!IsRemoved(attribute, next)) continue;
    *request->update += separator;
    *request->update += AddName(attribute.name, &request->names);
    separator = ", ";
  }
}

void AddCondition(const item::Item& row, tables::UpdateRequest* request) {
  request->names.emplace("#id", "itemId");
  request->names.emplace("#revision", kRevision);
  // A new row has no revision attribute: it counts as 1.
  if (const item::Value* const revision = row.Find(kRevision)) {
    request->condition = "attribute_exists(#id) AND #revision = :revision";
    request->values.emplace(":revision", *revision);
  } else {
    request->condition = "attribute_exists(#id) AND attribute_not_exists(#revision)";
  }
}

}  // namespace

bool Differs(const item::Item& row, const item::Item& next) {
  return std::any_of(next.begin(), next.end(),
                     [&](const item::Attribute& attribute) { return IsSet(attribute, row); }) ||
         std::any_of(row.begin(), row.end(),
                     [&](const item::Attribute& attribute) { return IsRemoved(attribute, next); });
}

// One SET for the revision and every changed attribute, and one REMOVE for those that are gone.
tables::UpdateRequest UpdateRow(const std::string& table, const item::Item& row,
                                const item::Item& next) {
  tables::UpdateRequest request{
      .table = table,
      .key = KeyOf(TextIn(row, "itemId"), TextIn(row, "timestamp")),
      .update = "",
  };
  const int64_t revision = IntIn(row, kRevision).value_or(1);
  AddChange(kRevision, item::Number::FromInt(revision + 1), &request);
  for (const item::Attribute& attribute : next) {
    if (IsSet(attribute, row)) AddChange(attribute.name, attribute.value, &request);
  }
  AddRemovals(row, next, &request);
  AddCondition(row, &request);
  return request;
}

}  // namespace tidemark::archive
