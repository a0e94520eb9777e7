// The commands of `tidemark tables` for tables: create, list, describe, alter, drop, tag.
//
// Each function runs one command: it opens the tables, does the work, and prints JSON lines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

struct CreateOptions {
  SourceOptions source;
  std::string table;
  std::string key;
  std::optional<std::string> sort;
  std::vector<std::string> indexes;
  std::vector<std::string> local_indexes;
  std::optional<std::string> stream;
  std::optional<std::string> ttl;
  std::vector<std::string> tags;
  bool is_protected = false;
};
Result<ExitCode> CreateTable(const CreateOptions& options);

struct ListOptions {
  SourceOptions source;
};
Result<ExitCode> ListTables(const ListOptions& options);

struct TableOptions {
  SourceOptions source;
  std::string table;
};
Result<ExitCode> DescribeTable(const TableOptions& options);
Result<ExitCode> DropTable(const TableOptions& options);

struct AlterOptions {
  SourceOptions source;
  std::string table;
  std::optional<std::string> add_index;
  std::optional<std::string> drop_index;
  std::optional<std::string> stream;
  bool no_stream = false;
  std::optional<std::string> ttl;
  bool no_ttl = false;
  bool protect = false;
  bool no_protect = false;
};
Result<ExitCode> AlterTable(const AlterOptions& options);

struct TagOptions {
  SourceOptions source;
  std::string table;
  std::vector<std::string> set;
  std::vector<std::string> remove;
};
Result<ExitCode> TagTable(const TagOptions& options);

}  // namespace tidemark::programs
