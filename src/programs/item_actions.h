// What `tidemark tables` does to items: put, get, update, delete, query, scan.
//
// Each function runs one command: it opens the data folder, does the work, and prints JSON
// lines. An Error says why it could not; a condition that did not hold and an item that is
// not there are ExitCode::kNotMet, with a sentence on standard error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "programs/data_folder.h"
#include "programs/exit_code.h"

namespace tidemark::programs {

// An expression's names and values, as JSON; empty when there are none.
struct Bindings {
  std::string names;
  std::string values;
};

struct PutOptions {
  FolderOptions folder;
  std::string table;
  std::string item;  // "-": an item a line on standard input.
  std::optional<std::string> condition;
  Bindings bindings;
  bool return_old = false;
};
Result<ExitCode> PutItems(const PutOptions& options);

struct GetOptions {
  FolderOptions folder;
  std::string table;
  std::string key;
  std::optional<std::string> projection;
  std::string names;  // As in Bindings.
};
Result<ExitCode> GetItem(const GetOptions& options);

struct UpdateOptions {
  FolderOptions folder;
  std::string table;
  std::string key;
  std::string update;
  std::optional<std::string> condition;
  Bindings bindings;
  std::string returned;  // "", old, new, updated-old or updated-new.
};
Result<ExitCode> UpdateItem(const UpdateOptions& options);

struct DeleteOptions {
  FolderOptions folder;
  std::string table;
  std::string key;
  std::optional<std::string> condition;
  Bindings bindings;
  bool return_old = false;
};
Result<ExitCode> DeleteItem(const DeleteOptions& options);

// What query and scan have in common.
struct ReadOptions {
  FolderOptions folder;
  std::string table;
  std::optional<std::string> index;
  std::optional<std::string> filter;
  std::optional<std::string> projection;
  Bindings bindings;
  std::optional<std::string> start_after;
  std::optional<uint64_t> limit;  // Of items printed.
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
