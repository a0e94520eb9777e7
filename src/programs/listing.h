// Prints lists: as a table for people, or as JSON lines for programs. If standard output is a
// terminal, the default is a table.
#pragma once

#include <cstdint>
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

// The text on one line. Characters that could change the terminal become spaces.
std::string Printable(std::string_view text);

struct Column {
  std::string title;
  size_t max_width = 40;  // In characters; a longer text is cut.
};
using Cells = std::vector<std::string>;
// A line with the titles and a line for each row. A column is as wide as its widest cell.
std::string FormatTable(const std::vector<Column>& columns, const std::vector<Cells>& rows);

// Prints JSON lines at once. Prints a table in the destructor, when the widths are known.
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

// "1 file" or "3 files".
std::string Counted(uint64_t count, std::string_view one, std::string_view many);

// "2024-05-01 10:00:00", in UTC.
std::string FormatTime(EpochSeconds at);
// The same for a Slack ts. If the text is not a ts, returns the text.
std::string FormatTime(std::string_view ts);

// A member as text. If it is not a string, its JSON. Empty if it is missing.
std::string CellOf(const Json& object, std::string_view member);

}  // namespace tidemark::programs
