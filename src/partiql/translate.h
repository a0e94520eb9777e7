// Translates PartiQL statements into requests of Tables. Pure functions.
//
// A SELECT becomes a query if its condition names the partition key, and otherwise a scan. INSERT,
// UPDATE and DELETE become writes of one item, whose key the condition must name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "item/key.h"
#include "partiql/statement.h"
#include "tables/requests.h"
#include "tables/schema.h"

namespace tidemark::partiql {

// The text for a write whose condition does not name a whole key.
inline constexpr std::string_view kNoWholeKey =
    "Where clause does not contain a mandatory equality on all key attributes";

using Reading = std::variant<tables::QueryRequest, tables::ScanRequest>;

// All are kInvalid with DynamoDB's text if the statement does not fit the table.
Result<Reading> Translate(const Select& select, const tables::TableDescription& table);
// Its condition is that there is no such item.
tables::PutRequest Translate(const Insert& insert, const tables::TableDescription& table);
// Its condition is that there is such an item.
Result<tables::UpdateRequest> Translate(const Update& update,
                                        const tables::TableDescription& table);
// Its condition holds too if there is no such item.
Result<tables::DeleteRequest> Translate(const Delete& gone, const tables::TableDescription& table);

// An EXISTS must name a whole key, and a condition besides.
Result<tables::ConditionCheck> Translate(const Exists& exists,
                                         const tables::TableDescription& table);
// For a SELECT whose condition is a whole key of the table, and nothing else. nullopt: it is not.
std::optional<tables::GetRequest> TranslateToGet(const Select& select,
                                                 const tables::TableDescription& table);
// The key of the only item that a statement is about; nullopt: it may be about others.
std::optional<item::Item> KeyOf(const Statement& statement, const tables::TableDescription& table);

// What a SELECT returns of an item: each path under its last name, without the maps around it.
item::Item Projected(const Select& select, item::Item item);

}  // namespace tidemark::partiql
