// Prints the output of commands: JSON for programs on standard output, one value on each line, and
// sentences for people on standard error. Keys, indexes and views have the same short form as on
// the command line.
#pragma once

#include <string>
#include <string_view>

#include "tables/embedded/embedded_tables.h"
#include "tables/requests.h"
#include "tables/schema.h"

namespace tidemark::programs {

// Texts in the JSON that could change a terminal are printed as escapes.
void PrintLine(std::string_view json);
// Several lines are printed as such. Everything else that could change a terminal becomes a space.
void PrintMessage(std::string_view text);
// Prints a text of several lines to standard output, unchanged.
void PrintText(std::string_view text);

std::string ToJson(const tables::TableDescription& description);
std::string ToJson(const tables::Tags& tags);
// {"applied":true}, with "attributes" or "item" if the reply has them.
std::string ToJson(const tables::WriteReply& reply);
std::string ToJson(const tables::StreamRecord& record);
std::string ToJson(const embedded::VerifyReport& report);

}  // namespace tidemark::programs
