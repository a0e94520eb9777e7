// What a caller of the DynamoDB port may do. Pure functions.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "aws/keys_table.h"
#include "wire/calls.h"

namespace tidemark::dynamodb {

using aws::kKeysTable;

struct Rights {
  bool read_only = false;
  std::set<std::string> tables = {};  // Empty: all.
  // Tidemark's own tables whose items the caller may change. Other callers may only read them,
  // because somebody who deletes an attempt or writes a claim breaks what the apps promise. Nobody
  // may define or delete them here.
  std::set<std::string> own_writes = {};
  friend bool operator==(const Rights&, const Rights&) = default;
};

// Tidemark's own tables: these, and all whose names begin with "tidemark-".
using OwnTables = std::set<std::string>;

// Whether a call of this operation creates, changes or deletes tables themselves.
bool DefinesTables(std::string_view operation, const wire::Call& call);

// Why a caller may not make a call, as the end of a sentence; nullopt: it may.
struct Denial {
  std::string table;  // "*" when the call names none.
  std::string reason;
};
std::optional<Denial> FindDenial(const Rights& rights, const OwnTables& own,
                                 std::string_view operation, const wire::Call& call);

}  // namespace tidemark::dynamodb
