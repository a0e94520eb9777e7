// What commands that list things print: tables for people, JSON lines for programs. Standard output
// that is a terminal gets a table, unless a flag says otherwise.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
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

// Prints values as they come: JSON lines at once, a table at the end, when its widths are known.
class Printer {
 public:
  using ToCells = std::function<Cells(const Json&)>;
  Printer(const OutputOptions& options, std::vector<Column> columns, ToCells to_cells);
  ~Printer();
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;

  void Print(const Json& value);

 private:
  const bool is_table_;
  const std::vector<Column> columns_;
  const ToCells to_cells_;
  std::vector<Cells> rows_;
};

// "2024-05-01 10:00:00", of UTC.
std::string FormatTime(EpochSeconds at);
// The same of a ts; the text itself when it is none.
std::string FormatTime(std::string_view ts);

// A member as text: what is no text as JSON; empty when it is missing.
std::string CellOf(const Json& object, std::string_view member);
// The text of a member, as it is; empty when it is missing or no text.
std::string TextIn(const Json& object, std::string_view member);
// Whether a member is there, and true.
bool IsTrueIn(const Json& object, std::string_view member);

}  // namespace tidemark::programs
