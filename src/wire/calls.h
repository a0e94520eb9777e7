// The operations as a server sees them: a table of rows, each with a name and a function that
// decodes the body of a request into a Call.
//
//   const CallRow* row = FindCall("PutItem");
//   Call call = TRY(row->decode(body, row->layer));
//   if (MayChange(call.changed_tables)) call.make(tables, deadline).Then(…);
//
// Any thread may use the table.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "base/json.h"
#include "base/later.h"
#include "base/result.h"
#include "tables/tables.h"
#include "wire/message.h"
#include "wire/problems.h"

namespace tidemark::wire {

// A decoded request. It keeps nothing of the body.
struct Call {
  // All tables that the request names. Empty: it asks about all tables.
  std::vector<std::string> tables;
  // Those that it writes to, defines or deletes. Empty: it only reads.
  std::vector<std::string> changed_tables;
  // Whether it stores a token, by which it is recognised when it is repeated.
  bool stores_token = false;
  // Makes the request and encodes the reply, errors included. A read that has not begun at the
  // deadline is not made; a write always is. The tables outlive the answer.
  std::function<Later<Message>(tables::Tables& tables, const std::optional<Deadline>& deadline)>
      make;
};

struct CallRow {
  std::string_view name;
  Service service = Service::kTables;
  // Whether the call waits for its answer on the calling thread. Writes and reads of items and
  // streams are submitted: no thread waits for them, and the tables decide how many of them are
  // made at once.
  bool blocks = false;
  // Which of AWS's two programs checks such requests today.
  Layer layer = Layer::kOlder;
  // The layer chooses the words of errors, also of those that the call returns.
  Result<Call> (*decode)(const Json& body, Layer layer) = nullptr;
};

// All rows, sorted by name.
std::span<const CallRow> Calls();
// By the name alone: no operation of one service has the name of another's. nullptr: there is none.
const CallRow* FindCall(std::string_view name);

}  // namespace tidemark::wire
