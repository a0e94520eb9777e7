// The commands of `tidemark tables` for items: put, get, update, delete, query, scan.
//
// Each function runs one command: it opens the tables, does the work, and prints JSON lines.
// If a condition does not hold, or an item does not exist, it prints a sentence to standard error
// and returns ExitCode::kNotMet. Everything else that fails is an Error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/api_source.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

// The names and values of an expression, as JSON; empty if there are none.
struct Bindings {
  std::string names;
  std::string values;
};

struct PutOptions {
  SourceOptions source;
  std::string table;
  std::string item;  // "-": read items from standard input, one on each line.
  std::optional<std::string> condition;
  Bindings bindings;
  bool return_old = false;
};
Result<ExitCode> PutItems(const PutOptions& options);

struct GetOptions {
  SourceOptions source;
  std::string table;
  std::string key;
  std::optional<std::string> projection;
  std::string names;  // As in Bindings.
};
Result<ExitCode> GetItem(const GetOptions& options);

struct UpdateOptions {
  SourceOptions source;
  std::string table;
  std::string key;
  std::string update;
  std::optional<std::string> condition;
  Bindings bindings;
  std::string returned;  // "", old, new, updated-old or updated-new.
};
Result<ExitCode> UpdateItem(const UpdateOptions& options);

struct DeleteOptions {
  SourceOptions source;
  std::string table;
  std::string key;
  std::optional<std::string> condition;
  Bindings bindings;
  bool return_old = false;
};
Result<ExitCode> DeleteItem(const DeleteOptions& options);

// The options that query and scan share.
struct ReadOptions {
  SourceOptions source;
  std::string table;
  std::optional<std::string> index;
  std::optional<std::string> filter;
  std::optional<std::string> projection;
  Bindings bindings;
  std::optional<std::string> start_after;
  std::optional<uint64_t> limit;  // The number of items to print.
  bool count = false;
};

struct QueryOptions {
  ReadOptions read;
  std::string key_condition;
  bool descending = false;
};
Result<ExitCode> QueryItems(const QueryOptions& options);

struct ScanOptions {
  ReadOptions read;
  std::optional<uint32_t> segment;
  std::optional<uint32_t> total_segments;
};
Result<ExitCode> ScanItems(const ScanOptions& options);

}  // namespace tidemark::programs
