// Statements of PartiQL: they are parsed, and translated for a table with an index.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "partiql/parse.h"
#include "partiql/translate.h"

using namespace tidemark;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<item::Value> parameters;
  for (const char c : text) {
    if (c == '?' && parameters.size() < 10) parameters.emplace_back("a");
  }
  const auto statement = partiql::Parse(text, parameters);
  if (!statement) return 0;
  tables::TableDescription table;
  table.keys = {.partition = {.name = "h"}, .sort = {{"r", item::Type::kNumber}}};
  table.indexes.push_back({.spec = {.name = "i", .keys = {.partition = {.name = "k"}}}});
  std::visit([&](const auto& one) { (void)partiql::Translate(one, table); }, *statement);
  // As a part of a batch or a transaction.
  (void)partiql::KeyOf(*statement, table);
  if (const auto* select = std::get_if<partiql::Select>(&*statement)) {
    (void)partiql::TranslateToGet(*select, table);
  }
  return 0;
}
