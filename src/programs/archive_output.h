// What the archive's commands print: tables for people, JSON lines for programs. Standard output
// that is a terminal gets a table, unless a flag says otherwise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tidemark::programs {

struct OutputOptions {
  bool json = false;   // --json
  bool table = false;  // --table
};
bool IsTable(const OutputOptions& options);

// The text on one line and without control characters, which could steer a terminal.
std::string Printable(std::string_view text);

struct Column {
  std::string title;
  size_t max_width = 40;  // In characters; what is longer is cut.
};
using Cells = std::vector<std::string>;
// A line of titles and one a row, each column as wide as its widest cell.
std::string FormatTable(const std::vector<Column>& columns, const std::vector<Cells>& rows);

// "2024-05-01 10:00:00", of UTC; the text itself when it is no ts.
std::string FormatTime(std::string_view ts);

// A member as text: what is no text as JSON; empty when it is missing.
std::string CellOf(const Json& object, std::string_view member);

}  // namespace tidemark::programs
