#include "programs/listing.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <unistd.h>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/shown_text.h"
#include "programs/output.h"
#include "slack/timestamp.h"

namespace tidemark::programs {

namespace {

// Columns are measured in characters, not bytes: names of people and channels are UTF-8. Wide
// characters and emoji count as one, so such a line may be off by a column.
bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !IsContinuation(byte); }));
}

// The text with exactly `width` characters: filled with spaces, or cut.
std::string Fit(std::string_view text, size_t width) {
  const size_t length = CountCharacters(text);
  if (length <= width) return std::string(text) + std::string(width - length, ' ');
  size_t end = 0;
  for (size_t count = 0; end < text.size(); ++end) {
    if (!IsContinuation(text[end]) && ++count == width) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace

// A terminal gets a table, and anything else gets JSON. A flag forces one of them: somebody who
// writes a script on a terminal would otherwise see a table.
bool IsTable(const OutputOptions& options) {
  if (options.json || options.table) return options.table;
  return isatty(STDOUT_FILENO) != 0;
}

std::string Printable(std::string_view text) { return WithoutDisplayChanges(text); }

std::string FormatTable(const std::vector<Column>& columns, const std::vector<Cells>& rows) {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns.size(); ++i) {
    size_t width = columns[i].title.size();
    for (const Cells& row : rows) width = std::max(width, CountCharacters(row[i]));
    widths.push_back(std::min(width, std::max(columns[i].max_width, columns[i].title.size())));
  }
  std::string text;
  const auto add = [&](const auto& cell_of) {
    std::string line;
    for (size_t i = 0; i < columns.size(); ++i) line += Fit(cell_of(i), widths[i]) + "  ";
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add([&](size_t i) -> const std::string& { return columns[i].title; });
  for (const Cells& row : rows) add([&](size_t i) -> const std::string& { return row[i]; });
  return text;
}

Printer::Printer(const OutputOptions& options, std::vector<Column> columns, ToCells to_cells)
    : is_table_(IsTable(options)), columns_(std::move(columns)), to_cells_(std::move(to_cells)) {}

// A table is printed at the end, because the widths of its columns depend on all rows.
Printer::~Printer() {
  if (is_table_) PrintText(FormatTable(columns_, rows_));
}

void Printer::Print(const Json& value) {
  if (is_table_) {
    rows_.push_back(to_cells_(value));
  } else {
    PrintLine(ToText(value));
  }
}

std::string Counted(uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string FormatTime(EpochSeconds at) {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<time_t>(at)));
}

std::string FormatTime(std::string_view ts) {
  const auto parsed = slack::Timestamp::Parse(ts);
  return parsed ? FormatTime(parsed->seconds()) : Printable(ts);
}

// What people wrote goes to a terminal here, so it must not contain commands for it (Printable).
std::string CellOf(const Json& object, std::string_view member) {
  const auto value = object.Find(member);
  if (!value || value->IsNull()) return "";
  const auto text = value->AsString();
  return Printable(text ? std::string(*text) : ToText(*value));
}

}  // namespace tidemark::programs
