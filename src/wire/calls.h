// The operations as a server sees them: a table of rows, each with a name and a function that
// decodes the body of a request into a Call.
//
//   const CallRow* row = FindCall("PutItem");
//   Call call = TRY(row->decode(body));
//   if (MayChange(call.changed_tables)) call.make(tables).Then(…);
//
// Any thread may use the table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/later.h"
#include "base/result.h"
#include "tables/tables.h"
#include "wire/message.h"

namespace tidemark::wire {

// A decoded request. It keeps nothing of the body.
struct Call {
  // The tables that the request writes to, defines or deletes. Empty: it only reads.
  std::vector<std::string> changed_tables;
  // Makes the request and encodes the reply, errors included. Writes and reads of items and
  // streams are submitted: the thread does not wait for them, and the tables decide how many of
  // them are made at once. Others block. The tables outlive the answer.
  std::function<Later<Message>(tables::Tables& tables)> make;
};

struct CallRow {
  std::string_view name;
  Service service = Service::kTables;
  Result<Call> (*decode)(const Json& body) = nullptr;
};

// All rows, sorted by name.
std::span<const CallRow> Calls();
// By the name alone: no operation of one service has the name of another's. nullptr: there is none.
const CallRow* FindCall(std::string_view name);

}  // namespace tidemark::wire
