// What commands print: one JSON value a line on standard output, for programs; sentences
// on standard error, for people. Keys, indexes and views are in the shorthand in which the command
// line takes them.
#pragma once

#include <string>
#include <string_view>

#include "tables/embedded/embedded_tables.h"
#include "tables/requests.h"
#include "tables/schema.h"

namespace tidemark::programs {

void PrintLine(std::string_view json);
void PrintMessage(std::string_view text);
// Text of several lines for standard output, as it is.
void PrintText(std::string_view text);

std::string ToJson(const tables::TableDescription& description);
std::string ToJson(const tables::Tags& tags);
// {"applied":true}, with "attributes" or "item" when the reply has them.
std::string ToJson(const tables::WriteReply& reply);
std::string ToJson(const tables::StreamRecord& record);
std::string ToJson(const embedded::VerifyReport& report);

}  // namespace tidemark::programs
