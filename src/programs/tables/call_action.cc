#include "programs/tables/call_action.h"

#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "programs/output.h"
#include "programs/tables/source.h"
#include "wire/calls.h"
#include "wire/exception.h"

namespace tidemark::programs {

namespace {

Error NoSuchOperation(const std::string& name) {
  std::vector<std::string_view> known;
  for (const wire::CallRow& row : wire::Calls()) known.push_back(row.name);
  return Invalid(
      fmt::format("there is no operation '{}'; there are {}", name, fmt::join(known, ", ")));
}

std::string ReadInput() {
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

// Which actions cancelled the transaction, and why. A transaction that reads has no conditions: its
// reasons are wrong keys, or too much to read.
std::string DescribeCancellation(const wire::CallRow& row, const Json& refusal) {
  std::vector<std::string> causes;
  size_t action = 0;
  if (const auto reasons = refusal.Find("CancellationReasons")) {
    for (const Json reason : reasons->Elements()) {
      ++action;
      const std::string code = TextIn(reason, "Code");
      if (code == "None") continue;
      causes.push_back(fmt::format("action {}: {}: {}", action, code, TextIn(reason, "Message")));
    }
  }
  return fmt::format("tidemark: the transaction was cancelled; nothing was {}: {}",
                     row.name == "TransactGetItems" ? "read" : "written", fmt::join(causes, "; "));
}

}  // namespace

Result<ExitCode> CallOperation(const CallOptions& options) {
  const wire::CallRow* row = wire::FindCall(options.operation);
  if (row == nullptr) return NoSuchOperation(options.operation);
  const std::string text = options.request == "-" ? ReadInput() : options.request;
  const JsonDocument request = TRY(JsonDocument::Parse(text).WithContext("--request"));
  const wire::Call call =
      TRY(row->decode(request.root(), wire::Layer::kOlder).WithContext("--request"));
  const Use use = call.changed_tables.empty() ? Use::kRead : Use::kWrite;
  const TablesSource tables = TRY(OpenTables(options.source, use));
  const wire::Message reply = TRY(call.make(*tables, std::nullopt).Wait());
  if (reply.status == 200) {
    PrintLine(reply.body.empty() ? "{}" : reply.body);
    return ExitCode::kOk;
  }
  const JsonDocument refusal = TRY(JsonDocument::Parse(reply.body));
  const std::string_view exception = wire::ExceptionIn(refusal.root());
  const bool is_cancelled = exception == wire::kTransactionCancelled;
  if (!is_cancelled && exception != wire::kConditionFailed) {
    return wire::DecodeError(reply.status, refusal.root());
  }
  PrintLine(reply.body);
  PrintMessage(is_cancelled ? DescribeCancellation(*row, refusal.root())
                            : "tidemark: the condition does not hold; nothing was written");
  return ExitCode::kNotMet;
}

}  // namespace tidemark::programs
